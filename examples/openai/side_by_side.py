"""Several questions at once: the server answers them side by side.

    pip install openai
    python examples/openai/side_by_side.py
"""
import asyncio
import os

from openai import AsyncOpenAI

QUESTIONS = ["讲个笑话", "解释相对论", "写一首五言诗", "推荐一本好书"]


async def main():
    client = AsyncOpenAI(base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"), api_key="EMPTY")

    async def ask(question: str) -> str:
        completion = await client.chat.completions.create(
            model="Qwen-0.6B", messages=[{"role": "user", "content": question}], max_completion_tokens=64,
            extra_body={"enable_thinking": False})
        return completion.choices[0].message.content

    for question, answer in zip(QUESTIONS, await asyncio.gather(*map(ask, QUESTIONS))):
        print(f"{question}\n  {answer}")


asyncio.run(main())
