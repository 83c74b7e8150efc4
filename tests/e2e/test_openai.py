"""The openai package for Python, synchronous and asynchronous, and the exceptions it makes of errors."""
import asyncio
import math

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
    models = list(client.models.list())
    assert "Qwen-0.6B" in [model.id for model in models]
    for model in models:
        assert client.models.retrieve(model.id) == model
        assert model.object == "model" and model.max_model_len > 0
    with pytest.raises(openai.NotFoundError) as error:
        client.models.retrieve("gpt-4o")
    assert error.value.code == "model_not_found"


def test_raw_response(client):
    raw = client.chat.completions.with_raw_response.create(model="Qwen-0.6B", messages=MESSAGES, max_tokens=1)
    assert raw.http_response.headers["content-type"] == "application/json"
    assert raw.parse().choices[0].finish_reason == "length"


def test_streaming_response(client):
    """The bytes as they come."""
    with client.chat.completions.with_streaming_response.create(
            model="Qwen-0.6B", messages=MESSAGES, temperature=0, stream=True, extra_body=OFF) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in response.iter_lines() if line]
    assert len(lines) > 3 and all(line.startswith("data: ") for line in lines) and lines[-1] == "data: [DONE]"
    with client.chat.completions.with_streaming_response.create(
            model="Qwen-0.6B", messages=MESSAGES, temperature=0, extra_body=OFF) as response:
        assert "42" in response.parse().choices[0].message.content


def test_stream_helper(client):
    with client.chat.completions.stream(model="Qwen-0.6B", messages=MESSAGES, temperature=0, extra_body=OFF) as stream:
        pieces = [event.delta for event in stream if event.type == "content.delta"]
        completion = stream.get_final_completion()
    assert "".join(pieces) == completion.choices[0].message.content and "42" in "".join(pieces)
    assert completion.choices[0].finish_reason == "stop"


def test_several_answers(client):
    sampled = {"model": "Qwen-0.6B", "messages": MESSAGES, "n": 3, "temperature": 2, "top_p": 1, "seed": 7, "max_tokens": 40}
    more = {"top_k": 0, "repetition_penalty": 1.5, **OFF}
    completion = client.chat.completions.create(**sampled, extra_body=more)
    texts = [choice.message.content for choice in completion.choices]
    assert [choice.index for choice in completion.choices] == [0, 1, 2] and len(set(texts)) > 1
    one = client.chat.completions.create(**{**sampled, "n": 1}, extra_body=more)
    assert completion.usage.prompt_tokens == one.usage.prompt_tokens  # read once
    assert one.choices[0].message.content == texts[0]

    streamed = ["", "", ""]
    for chunk in client.chat.completions.create(**sampled, stream=True, extra_body=more):
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content or ""
    assert streamed == texts


def test_logprobs(client):
    fields = {"model": "Qwen-0.6B", "messages": MESSAGES, "temperature": 0, "logprobs": True, "top_logprobs": 3, "extra_body": OFF}
    choice = client.chat.completions.create(**fields).choices[0]
    tokens = choice.logprobs.content
    assert b"".join(bytes(token.bytes) for token in tokens).decode() == choice.message.content
    for token in tokens:
        tops = [top.logprob for top in token.top_logprobs]
        assert token.logprob <= 0 and len(tops) == 3 and tops == sorted(tops, reverse=True)
        assert (token.top_logprobs[0].token, tops[0]) == (token.token, token.logprob)  # greedy
        assert sum(math.exp(logprob) for logprob in tops) <= 1 + 1e-5

    streamed = [token for chunk in client.chat.completions.create(**fields, stream=True)
                for choice in chunk.choices if choice.logprobs for token in choice.logprobs.content]
    assert streamed == tokens


def test_biases_and_penalties(client, demo):
    fields = {"model": "Qwen-0.6B", "messages": MESSAGES, "temperature": 0, "max_tokens": 12, "extra_body": OFF}

    def answer(**more) -> str:
        return client.chat.completions.create(**fields, **more).choices[0].message.content

    first = answer()[0]
    [id_of_first] = demo.token_ids(first)
    assert answer(logit_bias={str(id_of_first): 100}) == first * 12
    assert not answer(logit_bias={str(id_of_first): -100}).startswith(first)
    # Biased a little, it is repeated until the penalties outweigh that.
    biased = {"logit_bias": {str(id_of_first): 30}}
    assert answer(**biased) == first * 12
    assert answer(**biased, frequency_penalty=2) != first * 12


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
