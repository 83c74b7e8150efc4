"""Several prompts in one call of LangChain: the server answers them side by side, four to eight at once best.

    pip install langchain-openai
    python examples/langchain/batch.py
"""
import os
import time

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

PROMPTS = ["讲个笑话", "解释相对论", "写一首五言诗", "推荐一本好书"]

chat_model = ChatOpenAI(
    model="Qwen-0.6B",
    temperature=0.5,
    base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
    api_key="EMPTY",
    max_tokens=64,
    timeout=30,
    extra_body={"use_cache": True, "enable_thinking": False},
)
began = time.perf_counter()
answers = chat_model.batch([[HumanMessage(content=prompt)] for prompt in PROMPTS], config={"max_concurrency": 8})
seconds = time.perf_counter() - began
for prompt, answer in zip(PROMPTS, answers):
    print(f"{prompt}\n  {answer.content}")
n_tokens = sum(answer.usage_metadata["output_tokens"] for answer in answers)
print(f"{len(PROMPTS)} answers in {seconds:.2f} s, {n_tokens / seconds:.0f} tokens/s")
