"""LangChain's ChatOpenAI, used as the published guide uses it."""
import asyncio

import pytest
from langchain_core.callbacks import StreamingStdOutCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI


def chat_model(server, **settings) -> ChatOpenAI:
    return ChatOpenAI(**{"model": "Qwen-0.6B", "temperature": 0.5, "base_url": server.url, "api_key": "EMPTY", "timeout": 30,
                         "max_retries": 0, **settings})


def check_guide(server, capsys):
    """The guide's client with all its settings."""
    model = chat_model(
        server, streaming=True, callbacks=[StreamingStdOutCallbackHandler()],
        extra_body={"use_cache": True, "enable_thinking": False, "max_new_tokens": 64, "repetition_penalty": 1.1, "top_k": 50})
    message = model.invoke("你好")
    assert isinstance(message, AIMessage) and message.content
    assert capsys.readouterr().out == message.content  # streamed as it came


@pytest.mark.parametrize("extra_body", [{"use_cache": True}, {"enable_thinking": False}, {"max_new_tokens": 64},
                                        {"repetition_penalty": 1.1}, {"top_k": 50}])
@pytest.mark.parametrize("streaming", [False, True])
def test_each_extra_field(demo, extra_body, streaming):
    assert chat_model(demo, streaming=streaming, extra_body=extra_body).invoke("你好").content


def test_the_guides_client(demo, capsys):
    check_guide(demo, capsys)


def test_batch(demo):
    model = chat_model(demo, temperature=0, extra_body={"enable_thinking": False})
    prompts = ["讲个笑话", "解释相对论", "写一首五言诗", "推荐一本好书"]
    answers = model.batch([[HumanMessage(content=prompt)] for prompt in prompts])
    assert [answer.content for answer in answers] == [model.invoke(prompt).content for prompt in prompts]
    assert all(answer.content for answer in answers)


def test_stream_and_usage(demo):
    model = chat_model(demo, temperature=0, stream_usage=True, extra_body={"enable_thinking": False})
    chunks = list(model.stream("What is 12 + 30?"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert "42" in whole.content
    assert whole.usage_metadata["total_tokens"] == whole.usage_metadata["input_tokens"] + whole.usage_metadata["output_tokens"]
    assert whole.response_metadata["finish_reason"] == "stop"
    invoked = model.invoke("What is 12 + 30?")
    assert invoked.content == whole.content and invoked.usage_metadata == whole.usage_metadata


def test_async(demo):
    model = chat_model(demo, temperature=0, extra_body={"enable_thinking": False})

    async def ask():
        batch = await model.abatch(["你好", "Hello!"])
        streamed = "".join([chunk.content async for chunk in model.astream("你好")])
        return [message.content for message in batch], streamed

    batch, streamed = asyncio.run(ask())
    assert all(batch) and streamed == batch[0]


def test_chain_and_conversation(demo):
    model = chat_model(demo, temperature=0, extra_body={"enable_thinking": False})
    chain = ChatPromptTemplate.from_messages([("user", "What is {a} + {b}?")]) | model
    assert "42" in chain.invoke({"a": 12, "b": 30}).content
    history = [HumanMessage("My name is Bob.")]
    history += [model.invoke(history), HumanMessage("What is my name?")]
    assert "Bob" in model.invoke(history).content
    assert model.invoke([SystemMessage("You are kind."), HumanMessage("Hello!")]).content


def test_max_tokens(demo):
    message = chat_model(demo, max_tokens=2, extra_body={"enable_thinking": False}).invoke("Hello!")
    assert message.response_metadata["finish_reason"] == "length"
    assert message.usage_metadata["output_tokens"] == 2


def test_stop(demo):
    model = chat_model(demo, temperature=0, extra_body={"enable_thinking": False})
    assert "42" not in model.invoke("What is 12 + 30?", stop=["="]).content


@pytest.mark.parametrize("name", ["smollm", "coder"])
def test_the_guides_client_with_real_models(name, request, capsys):
    check_guide(request.getfixturevalue(name), capsys)
