"""One ChatOpenAI for the whole process: its connections to the server stay open between calls.

    pip install langchain-openai
    python examples/langchain/one_client.py
"""
import functools
import os
import time

from langchain_openai import ChatOpenAI


@functools.cache
def chat_model() -> ChatOpenAI:
    """Made at the first call, the same at all others."""
    return ChatOpenAI(
        model="Qwen-0.6B",
        temperature=0.5,
        base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
        api_key="EMPTY",
        max_tokens=64,
        timeout=30,
        extra_body={"use_cache": True, "enable_thinking": False},
    )


chat_model().invoke("你好")  # a warm-up: opens the connection
for prompt in ("你好", "What is 12 + 30?", "推荐一本好书"):
    began = time.perf_counter()
    answer = chat_model().invoke(prompt)
    print(f"> {prompt}  ({(time.perf_counter() - began) * 1000:.0f} ms)\n{answer.content}")
