"""ChatOpenAI of LangChain, printing the answer as it comes.

    pip install langchain-openai
    python examples/langchain/streaming.py
"""
import os

from langchain_core.callbacks import StreamingStdOutCallbackHandler
from langchain_openai import ChatOpenAI

chat_model = ChatOpenAI(
    model="Qwen-0.6B",
    temperature=0.5,
    base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
    api_key="EMPTY",
    streaming=True,
    callbacks=[StreamingStdOutCallbackHandler()],
    timeout=30,
    extra_body={"use_cache": True, "enable_thinking": False, "max_new_tokens": 128, "repetition_penalty": 1.1, "top_k": 50},
)
chat_model.invoke("请描述春天的景象")
print()
