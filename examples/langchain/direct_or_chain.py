"""The same question asked directly and through a chain with a prompt template, both timed.

    pip install langchain-openai
    python examples/langchain/direct_or_chain.py
"""
import os
import statistics
import time

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI

N_CALLS = 10

chat_model = ChatOpenAI(
    model="Qwen-0.6B",
    temperature=0,
    base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
    api_key="EMPTY",
    max_tokens=64,
    timeout=30,
    extra_body={"use_cache": True, "enable_thinking": False},
)
chain = ChatPromptTemplate.from_messages([("user", "{question}")]) | chat_model | StrOutputParser()


def median_ms(call) -> float:
    call()  # the first one prepares what the others find ready
    times = []
    for _ in range(N_CALLS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


print(f"direct: {median_ms(lambda: chat_model.invoke('你好')):.1f} ms")
print(f"chain:  {median_ms(lambda: chain.invoke({'question': '你好'})):.1f} ms")
