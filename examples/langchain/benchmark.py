"""Twenty times 你好, one after another: how long an answer takes.

    pip install langchain-openai
    python examples/langchain/benchmark.py
"""
import os
import statistics
import time

from langchain_openai import ChatOpenAI

N_CALLS = 20

chat_model = ChatOpenAI(
    model="Qwen-0.6B",
    temperature=0.5,
    base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
    api_key="EMPTY",
    streaming=True,
    timeout=30,
    extra_body={"use_cache": True, "enable_thinking": False, "max_new_tokens": 64},
)
chat_model.invoke("你好")  # a warm-up: opens the connection
times = []
for _ in range(N_CALLS):
    began = time.perf_counter()
    chat_model.invoke("你好")
    times.append(time.perf_counter() - began)

p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
print(f"p50: {statistics.median(times) * 1000:.1f} ms")
print(f"p95: {p95 * 1000:.1f} ms")
print(f"avg: {statistics.mean(times) * 1000:.1f} ms")
print(f"min: {min(times) * 1000:.1f} ms")
print(f"max: {max(times) * 1000:.1f} ms")
print(f"qps: {N_CALLS / sum(times):.2f}")
