"""LangChain's ChatOpenAI, used as the published guide uses it."""
import asyncio

import openai
import pytest
from langchain_core.callbacks import BaseCallbackHandler, StreamingStdOutCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.exceptions import ContextOverflowError, ModelInvalidRequestError, ModelNotFoundError, ModelTimeoutError
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI, OpenAI


def chat_model(server, **settings) -> ChatOpenAI:
    return ChatOpenAI(**{"model": "Qwen-0.6B", "temperature": 0.5, "base_url": server.url, "api_key": "EMPTY", "timeout": 30,
                         "max_retries": 0, **settings})


@pytest.fixture(scope="module")
def run():
    """One event loop for all: ChatOpenAI's clients for one address share their connections."""
    with asyncio.Runner() as runner:
        yield runner.run


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


def test_async(demo, run):
    model = chat_model(demo, temperature=0, extra_body={"enable_thinking": False})

    async def ask():
        batch = await model.abatch(["你好", "Hello!"])
        streamed = "".join([chunk.content async for chunk in model.astream("你好")])
        return [message.content for message in batch], streamed

    batch, streamed = run(ask())
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


def test_batch_as_completed(demo):
    model = chat_model(demo, temperature=0, extra_body={"enable_thinking": False})
    questions = [f"What is {n} + 1?" for n in range(10, 18)]
    for concurrency in (2, 8):
        answers = dict(model.batch_as_completed(questions, config={"max_concurrency": concurrency}))
        assert [str(n + 1) in answers[i].content for i, n in enumerate(range(10, 18))] == [True] * 8


def test_callbacks(demo):
    """What they are told is what was said, streaming or not."""
    class Notes(BaseCallbackHandler):
        def __init__(self):
            self.tokens, self.ends = [], []

        def on_llm_new_token(self, token, **kwargs):
            self.tokens.append(token)

        def on_llm_end(self, response, **kwargs):
            self.ends.append(response.generations[0][0].text)

    for streaming in (False, True):
        notes, usage = Notes(), UsageMetadataCallbackHandler()
        model = chat_model(demo, temperature=0, streaming=streaming, stream_usage=True, extra_body={"enable_thinking": False})
        messages = [model.invoke(text, config={"callbacks": [notes, usage]}) for text in ("你好", "Hello!")]
        assert notes.ends == [message.content for message in messages]
        assert "".join(notes.tokens) == ("".join(notes.ends) if streaming else "")
        assert usage.usage_metadata["Qwen-0.6B"]["output_tokens"] == sum(m.usage_metadata["output_tokens"] for m in messages)


def test_async_stream_and_usage(demo, run):
    model = chat_model(demo, temperature=0, stream_usage=True, extra_body={"enable_thinking": True})

    async def ask():
        whole = None
        async for chunk in model.astream("What is 12 + 30?"):
            whole = chunk if whole is None else whole + chunk
        events = [event async for event in model.astream_events("What is 12 + 30?")]
        return whole, events, await model.ainvoke("What is 12 + 30?")

    streamed, events, invoked = run(ask())
    assert streamed.content == invoked.content and "42" in invoked.content
    assert streamed.usage_metadata == invoked.usage_metadata
    usage = invoked.usage_metadata
    assert 0 < usage["output_token_details"]["reasoning"] < usage["output_tokens"]
    pieces = [event["data"]["chunk"].content for event in events if event["event"] == "on_chat_model_stream"]
    assert "".join(pieces) == invoked.content


def test_conversation_is_read_from_the_cache(demo):
    """What the guide's use_cache brings: a turn costs what is new in it."""
    for use_cache in (True, False):
        model = chat_model(demo, temperature=0, max_tokens=20, extra_body={"use_cache": use_cache, "enable_thinking": False})
        history, cached, sent = [SystemMessage("You are a kind assistant. " * 10)], [], []
        for text in ("My name is Bob.", "What is 12 + 30?", "What is my name?"):
            history.append(HumanMessage(text))
            history.append(model.invoke(history))
            cached.append(history[-1].usage_metadata["input_token_details"]["cache_read"])
            sent.append(history[-1].usage_metadata["input_tokens"])
        if use_cache:
            # All but the last, incomplete block of what was there before.
            assert all(read > before - 64 for read, before in zip(cached[1:], sent)), (cached, sent)
        else:
            assert cached == [0, 0, 0]


def test_several_answers(demo):
    settings = {"temperature": 2, "top_p": 1, "seed": 7, "max_tokens": 40,
                "extra_body": {"top_k": 0, "repetition_penalty": 1.5, "enable_thinking": False}}
    question = [HumanMessage("Hello!")]
    result = chat_model(demo, n=2, **settings).generate([question])
    first, second = (answer.text for answer in result.generations[0])
    assert first != second and first == chat_model(demo, **settings).invoke(question).content
    spent = result.llm_output["token_usage"]
    assert spent["total_tokens"] == spent["prompt_tokens"] + spent["completion_tokens"]


@pytest.mark.parametrize("streaming", [False, True])
def test_logprobs(demo, streaming):
    model = chat_model(demo, temperature=0, logprobs=True, top_logprobs=2, streaming=streaming, extra_body={"enable_thinking": False})
    message = model.invoke("What is 12 + 30?")
    tokens = message.response_metadata["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens) == message.content
    for token in tokens:
        assert token["logprob"] <= 0 and len(token["top_logprobs"]) == 2
        assert token["top_logprobs"][0]["token"] == token["token"]  # greedy
        assert token["top_logprobs"][0]["logprob"] > token["top_logprobs"][1]["logprob"]


def test_prefill(demo):
    model = chat_model(demo, temperature=0, extra_body={
        "enable_thinking": False, "continue_final_message": True, "add_generation_prompt": False})
    begun = [HumanMessage("What is 12 + 30?"), AIMessage("12 + 30 =")]
    assert model.invoke(begun).content == " 42."
    assert "".join(chunk.content for chunk in model.stream(begun)) == " 42."


def test_text_completions(demo):
    model = OpenAI(model="Qwen-0.6B", temperature=0, max_tokens=8, base_url=demo.url, api_key="EMPTY", max_retries=0, timeout=30)
    text = model.invoke("Hello")
    assert text and text == "".join(model.stream("Hello"))
    assert model.batch(["Hello", "你好"]) == [text, model.invoke("你好")]


def test_errors(demo):
    """LangChain's own kinds, which are the openai package's as well."""
    with pytest.raises(openai.BadRequestError) as error:
        chat_model(demo, temperature=7).invoke("Hello!")
    assert isinstance(error.value, ModelInvalidRequestError) and error.value.param == "temperature"
    with pytest.raises(ModelInvalidRequestError):
        list(chat_model(demo, temperature=7).stream("Hello!"))
    with pytest.raises(ModelNotFoundError):
        chat_model(demo, model="gpt-4o").invoke("Hello!")
    with pytest.raises(ContextOverflowError) as error:
        chat_model(demo).invoke("a " * 20_000)
    assert error.value.code == "context_length_exceeded"
    with pytest.raises(ModelTimeoutError):
        chat_model(demo, n=8, max_tokens=3900, timeout=0.05, extra_body={"ignore_eos": True}).invoke("Hello!")
    answers = chat_model(demo, max_tokens=4).batch(["Hello!", "a " * 20_000], return_exceptions=True)
    assert answers[0].usage_metadata["output_tokens"] == 4 and isinstance(answers[1], ContextOverflowError)


@pytest.mark.parametrize("name", ["smollm", "coder"])
def test_the_guides_client_with_real_models(name, request, capsys):
    check_guide(request.getfixturevalue(name), capsys)
