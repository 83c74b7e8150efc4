"""Answers of bounded length: max_new_tokens of 64 for short ones, 128 for medium, 256 for detailed ones.

    pip install langchain-openai
    python examples/langchain/answer_length.py
"""
import os
import time

from langchain_openai import ChatOpenAI

chat_model = ChatOpenAI(
    model="Qwen-0.6B",
    temperature=0.5,
    base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
    api_key="EMPTY",
    timeout=30,
)
for limit in (64, 128, 256):
    began = time.perf_counter()
    answer = chat_model.invoke(
        "解释相对论",
        extra_body={"max_new_tokens": limit, "enable_thinking": False, "repetition_penalty": 1.1, "top_k": 50},
    )
    seconds = time.perf_counter() - began
    why = "cut" if answer.response_metadata["finish_reason"] == "length" else "complete"
    print(f"up to {limit}: {answer.usage_metadata['output_tokens']} tokens, {why}, {seconds * 1000:.0f} ms")
    print(f"  {answer.content}")
