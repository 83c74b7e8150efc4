"""A conversation of several turns with LangChain: the client sends the whole history with each turn, and the
server has kept what it has read before (use_cache), so that a turn costs what is new in it.

    pip install langchain-openai
    python examples/langchain/conversation.py
"""
import os
import time

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

TURNS = ["My name is Bob.", "What is 12 + 30?", "你好", "What is my name?"]

chat_model = ChatOpenAI(
    model="Qwen-0.6B",
    temperature=0,
    base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
    api_key="EMPTY",
    max_tokens=64,
    timeout=30,
    extra_body={"use_cache": True, "enable_thinking": False},
)
history = []
for text in TURNS:
    history.append(HumanMessage(content=text))
    began = time.perf_counter()
    answer = chat_model.invoke(history)
    seconds = time.perf_counter() - began
    history.append(answer)
    usage = answer.usage_metadata
    cached = usage["input_token_details"]["cache_read"]
    print(f"> {text}  ({cached} of {usage['input_tokens']} tokens were in the cache, {seconds * 1000:.0f} ms)")
    print(answer.content)
