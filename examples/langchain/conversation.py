"""A conversation of several turns with LangChain: the client keeps the history and sends it along.

    pip install langchain-openai
    python examples/langchain/conversation.py
"""
import os

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

chat_model = ChatOpenAI(
    model="Qwen-0.6B",
    temperature=0,
    base_url=os.environ.get("QWICK_URL", "http://127.0.0.1:8000/v1"),
    api_key="EMPTY",
    max_tokens=64,
    extra_body={"use_cache": True, "enable_thinking": False},
)
history = []
for text in ("My name is Bob.", "What is my name?"):
    history.append(HumanMessage(content=text))
    history.append(chat_model.invoke(history))
    print(f"> {text}\n{history[-1].content}")
