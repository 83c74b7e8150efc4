"""The openai package for Python, synchronous and asynchronous, and the exceptions it makes of errors."""
import asyncio

import openai
import pytest
from server import Server

MESSAGES = [{"role": "user", "content": "What is 12 + 30?"}]
OFF = {"enable_thinking": False}


@pytest.fixture(scope="module")
def client(demo):
    with openai.OpenAI(base_url=demo.url, api_key="EMPTY", max_retries=0, timeout=60) as made:
        yield made


def test_whole_answer(client):
    completion = client.chat.completions.create(model="Qwen-0.6B", messages=MESSAGES, temperature=0, extra_body=OFF)
    assert "42" in completion.choices[0].message.content
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == "Qwen-0.6B"
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens


def test_stream(client):
    chunks = list(client.chat.completions.create(model="Qwen-0.6B", messages=MESSAGES, temperature=0, stream=True,
                                                 stream_options={"include_usage": True}, extra_body=OFF))
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert "42" in text
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens > 0
    assert [c.choices[0].finish_reason for c in chunks[:-1] if c.choices[0].finish_reason] == ["stop"]


def test_stream_with_reasoning(client):
    deltas = [choice.delta for chunk in client.chat.completions.create(
        model="Qwen-0.6B", messages=MESSAGES, temperature=0, stream=True, extra_body={"enable_thinking": True})
        for choice in chunk.choices]
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    assert "42" in "".join(delta.content or "" for delta in deltas)


def test_stream_that_is_left_early(client):
    for _ in range(5):
        with client.chat.completions.create(model="Qwen-0.6B", messages=MESSAGES, stream=True) as stream:
            next(iter(stream))
    assert client.chat.completions.create(model="Qwen-0.6B", messages=MESSAGES, max_tokens=1).choices


def test_async(demo):
    async def ask():
        async with openai.AsyncOpenAI(base_url=demo.url, api_key="EMPTY", max_retries=0, timeout=60) as client:
            async def whole():
                done = await client.chat.completions.create(model="Qwen-0.6B", messages=MESSAGES, temperature=0, extra_body=OFF)
                return done.choices[0].message.content

            async def streamed():
                stream = await client.chat.completions.create(model="Qwen-0.6B", messages=MESSAGES, temperature=0, stream=True,
                                                              extra_body=OFF)
                return "".join([choice.delta.content or "" async for chunk in stream for choice in chunk.choices])

            return await asyncio.gather(*[whole() if i % 2 else streamed() for i in range(8)])

    answers = asyncio.run(ask())
    assert len(set(answers)) == 1 and "42" in answers[0]


def test_models(client):
    assert "Qwen-0.6B" in [model.id for model in client.models.list()]


def test_raw_response(client):
    raw = client.chat.completions.with_raw_response.create(model="Qwen-0.6B", messages=MESSAGES, max_tokens=1)
    assert raw.http_response.headers["content-type"] == "application/json"
    assert raw.parse().choices[0].finish_reason == "length"


def test_error_classes(client):
    create = client.chat.completions.create
    with pytest.raises(openai.BadRequestError) as error:
        create(model="Qwen-0.6B", messages=MESSAGES, temperature=7)
    assert error.value.param == "temperature" and error.value.type == "invalid_request_error"
    with pytest.raises(openai.NotFoundError) as error:
        create(model="gpt-4o", messages=MESSAGES)
    assert error.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as error:
        create(model="Qwen-0.6B", messages=MESSAGES, tools=[{"type": "function", "function": {"name": "f"}}])
    assert error.value.param == "tools"
    with pytest.raises(openai.BadRequestError) as error:
        create(model="Qwen-0.6B", messages=[{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:,"}}]}])
    assert error.value.param == "messages[0].content[0]"
    with pytest.raises(openai.BadRequestError) as error:
        create(model="Qwen-0.6B", messages=[{"role": "user", "content": "a " * 20_000}])
    assert error.value.code == "context_length_exceeded"


def test_api_keys():
    server = Server("--api-key", "first-key", "--api-key", "second-key")
    try:
        assert server.request("GET", "/health").status == 200
        for key in ("wrong", "first-ke", "first-keyy", "", "first-key second-key"):
            reply = server.request("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"})
            assert reply.status == 401 and reply.headers["www-authenticate"] == "Bearer"
            assert reply.json()["error"]["type"] == "authentication_error"
        assert server.request("GET", "/v1/models").status == 401
        assert server.request("GET", "/v1/models", headers={"Authorization": "Basic first-key"}).status == 401
        assert server.chat("hi").status == 401
        for key in ("first-key", "second-key"):
            with openai.OpenAI(base_url=server.url, api_key=key, max_retries=0) as client:
                assert client.chat.completions.create(model="Qwen-0.6B", messages=MESSAGES, max_tokens=1).choices
        with openai.OpenAI(base_url=server.url, api_key="EMPTY", max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError) as error:
                client.models.list()
            assert error.value.code == "invalid_api_key"
    finally:
        assert server.stop() == 0
    assert "first-key" not in server.output
