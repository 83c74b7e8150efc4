"""Text completions (/v1/completions) through the openai package for Python."""
import asyncio

import openai
import pytest

GREEDY = {"model": "Qwen-0.6B", "temperature": 0, "max_tokens": 6}
# What the demo goes on with: its own form of a conversation, as a prompt.
PROMPT = "<|im_start|>user\nWhat is 12 + 30?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


@pytest.fixture(scope="module")
def client(demo):
    with openai.OpenAI(base_url=demo.url, api_key="EMPTY", max_retries=0, timeout=60) as made:
        yield made


def texts(completion) -> list[str]:
    assert [choice.index for choice in completion.choices] == list(range(len(completion.choices)))
    return [choice.text for choice in completion.choices]


def test_text_and_its_ids_and_the_chat_are_one(client, demo):
    from_text = client.completions.create(**{**GREEDY, "max_tokens": 30}, prompt=PROMPT)
    ids = demo.token_ids(PROMPT)
    from_ids = client.completions.create(**{**GREEDY, "max_tokens": 30}, prompt=ids)
    chat = demo.chat("What is 12 + 30?", temperature=0, enable_thinking=False).json()
    assert texts(from_text) == texts(from_ids) == [chat["choices"][0]["message"]["content"]]
    assert from_text.choices[0].finish_reason == "stop" and from_text.object == "text_completion"
    assert from_text.usage.prompt_tokens == len(ids) == from_ids.usage.prompt_tokens == chat["usage"]["prompt_tokens"]
    assert from_text.usage.completion_tokens == chat["usage"]["completion_tokens"]


def test_lists(client, demo):
    prompts = ["Hello", "你好", PROMPT]
    alone = [texts(client.completions.create(**GREEDY, prompt=prompt))[0] for prompt in prompts]
    together = client.completions.create(**GREEDY, prompt=prompts)
    assert texts(together) == alone
    assert texts(client.completions.create(**GREEDY, prompt=[demo.token_ids(prompt) for prompt in prompts])) == alone
    assert together.usage.prompt_tokens == sum(len(demo.token_ids(prompt)) for prompt in prompts)
    pairs = texts(client.completions.create(**GREEDY, prompt=prompts, n=2))  # those of a prompt side by side
    assert pairs == [text for text in alone for _ in range(2)]


def test_length(client):
    by_default = client.completions.create(model="Qwen-0.6B", temperature=0, prompt="Hello", extra_body={"ignore_eos": True})
    assert by_default.usage.completion_tokens == 16 and by_default.choices[0].finish_reason == "length"


def test_stream(client):
    fields = {"model": "Qwen-0.6B", "temperature": 0, "max_tokens": 20, "prompt": ["Hello", PROMPT], "echo": True}
    whole = client.completions.create(**fields)
    chunks = list(client.completions.create(**fields, stream=True, stream_options={"include_usage": True}))
    streamed = ["", ""]
    for chunk in chunks:
        for choice in chunk.choices:
            streamed[choice.index] += choice.text
    assert streamed == texts(whole)
    assert chunks[-1].usage == whole.usage and not any(chunk.usage for chunk in chunks[:-1])
    reasons = {choice.index: choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason}
    assert [reasons[i] for i in (0, 1)] == [choice.finish_reason for choice in whole.choices]


def test_echo_and_logprobs(client, demo):
    plain = texts(client.completions.create(**GREEDY, prompt=PROMPT))[0]
    completion = client.completions.create(**GREEDY, prompt=PROMPT, echo=True, logprobs=2)
    choice, n_prompt = completion.choices[0], completion.usage.prompt_tokens
    assert choice.text == PROMPT + plain
    said = choice.logprobs
    assert "".join(said.tokens) == choice.text
    assert len(said.tokens) == n_prompt + completion.usage.completion_tokens
    assert said.token_logprobs[0] is None and said.top_logprobs[0] is None
    assert all(logprob <= 0 for logprob in said.token_logprobs[1:])
    for token, offset in zip(said.tokens, said.text_offset):
        assert choice.text[offset:offset + len(token)] == token
    for i in range(n_prompt, len(said.tokens)):  # greedy
        assert max(said.top_logprobs[i], key=said.top_logprobs[i].get) == said.tokens[i]
        assert said.top_logprobs[i][said.tokens[i]] == said.token_logprobs[i]

    # To score a text is to read it only, and gives what there was when it was written.
    scored = client.completions.create(**{**GREEDY, "max_tokens": 0}, prompt=choice.text, echo=True, logprobs=2)
    assert scored.choices[0].text == choice.text and scored.usage.completion_tokens == 0
    assert scored.choices[0].logprobs.tokens == said.tokens
    assert scored.choices[0].logprobs.token_logprobs[1:] == pytest.approx(said.token_logprobs[1:], abs=1e-4)


def test_best_of(client):
    fields = {"model": "Qwen-0.6B", "prompt": "Hello", "max_tokens": 8, "temperature": 2, "top_p": 1, "seed": 3, "logprobs": 0,
              "extra_body": {"top_k": 0, "ignore_eos": True}}

    def mean(choice) -> float:
        return sum(choice.logprobs.token_logprobs) / len(choice.logprobs.token_logprobs)

    made = client.completions.create(**fields, n=6)
    assert len(set(texts(made))) > 1
    best = client.completions.create(**fields, n=2, best_of=6)
    assert texts(best) == [choice.text for choice in sorted(made.choices, key=mean, reverse=True)[:2]]
    assert best.usage.completion_tokens == made.usage.completion_tokens


def test_stop(client):
    whole = texts(client.completions.create(**{**GREEDY, "max_tokens": 30}, prompt=PROMPT))[0]
    choice = client.completions.create(**{**GREEDY, "max_tokens": 30}, prompt=PROMPT, stop=[" = ", "never"]).choices[0]
    assert choice.text == whole[:whole.index(" = ")] and choice.finish_reason == "stop"


def test_async(demo):
    async def ask():
        async with openai.AsyncOpenAI(base_url=demo.url, api_key="EMPTY", max_retries=0, timeout=60) as client:
            whole = await client.completions.create(**GREEDY, prompt="Hello")
            streamed = [chunk.choices[0].text async for chunk in await client.completions.create(
                **GREEDY, prompt="Hello", stream=True)]
            return whole.choices[0].text, "".join(streamed)

    whole, streamed = asyncio.run(ask())
    assert whole == streamed != ""


@pytest.mark.parametrize("fields, named", [
    ({"prompt": ""}, "prompt"), ({"prompt": []}, "prompt"), ({"prompt": ["a", ""]}, "prompt[1]"), ({"prompt": [1 << 30]}, "prompt"),
    ({"prompt": "a", "suffix": "b"}, "suffix"), ({"prompt": "a", "best_of": 1, "n": 2}, "best_of"),
    ({"prompt": "a", "best_of": 2, "stream": True}, "best_of"), ({"prompt": "a", "logprobs": 21}, "logprobs"),
    ({"prompt": "a", "max_tokens": 0}, "max_tokens"), ({"prompt": "a", "logit_bias": {"x": 1}}, "logit_bias")])
def test_errors(client, fields, named):
    with pytest.raises(openai.BadRequestError) as error:
        client.completions.create(**{"model": "Qwen-0.6B", **fields})
    assert error.value.param.startswith(named), error.value
