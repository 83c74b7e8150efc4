"""An answer as it is written, the model's reasoning before it.

    pip install openai
    python examples/openai/streaming.py "What is 12 + 30?"
"""
import os
import sys

from openai import OpenAI

client = OpenAI(base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"), api_key="EMPTY")
stream = client.chat.completions.create(
    model="Qwen-0.6B",
    messages=[{"role": "user", "content": " ".join(sys.argv[1:]) or "What is 12 + 30?"}],
    max_completion_tokens=512,
    stream=True,
    stream_options={"include_usage": True},
    extra_body={"enable_thinking": True},
)
thinking = False
for chunk in stream:
    if chunk.usage:
        details = chunk.usage.completion_tokens_details
        print(f"\n({chunk.usage.completion_tokens} tokens, {details.reasoning_tokens} of them reasoning)")
    for choice in chunk.choices:
        reasoning = getattr(choice.delta, "reasoning_content", None)
        if reasoning:
            print("" if thinking else "thinking: ", reasoning, sep="", end="", flush=True)
            thinking = True
        if choice.delta.content:
            print("\nanswer: " if thinking else "", choice.delta.content, sep="", end="", flush=True)
            thinking = False
