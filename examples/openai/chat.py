"""One question, one answer.

    pip install openai
    python examples/openai/chat.py "What is 12 + 30?"
"""
import os
import sys

from openai import OpenAI

client = OpenAI(base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"), api_key="EMPTY")
completion = client.chat.completions.create(
    model="Qwen-0.6B",
    messages=[{"role": "user", "content": " ".join(sys.argv[1:]) or "你好"}],
    max_completion_tokens=256,
    extra_body={"enable_thinking": False},
)
print(completion.choices[0].message.content)
print(f"({completion.usage.prompt_tokens} + {completion.usage.completion_tokens} tokens)")
