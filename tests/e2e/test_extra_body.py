"""What clients of vLLM and SGLang send in extra_body, through the openai package for Python."""
import openai
import pytest

QUESTION = [{"role": "user", "content": "What is 12 + 30?"}]
ANSWER = "12 + 30 = 42."
OFF = {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.fixture(scope="module")
def chat(demo):
    """A greedy chat completion; `extra` goes in extra_body."""
    with openai.OpenAI(base_url=demo.url, api_key="EMPTY", max_retries=0, timeout=60) as client:
        def create(extra=None, messages=None, **fields):
            return client.chat.completions.create(**{"model": "Qwen-0.6B", "messages": messages or QUESTION, "temperature": 0,
                                                     "extra_body": {**OFF, **(extra or {})}, **fields})
        yield create


def text(completion) -> str:
    return completion.choices[0].message.content


def streamed_text(stream) -> str:
    return "".join(choice.delta.content or "" for chunk in stream for choice in chunk.choices)


def test_sampling(chat):
    """Each of them leaves one token to choose from, however hot."""
    hot = {"temperature": 2, "top_p": 1, "seed": 1, "max_tokens": 30}
    wide = {"top_k": -1, "min_p": 0, "repetition_penalty": 2}
    free = text(chat(wide, **hot))
    assert free != ANSWER
    narrow = {**wide, "repetition_penalty": 1}
    assert text(chat({**narrow, "top_k": 1}, **hot)) == text(chat({**narrow, "min_p": 1}, **hot)) == ANSWER
    assert text(chat({"repetition_penalty": 5}, max_tokens=30)) != ANSWER


def test_min_tokens_and_ignore_eos(chat):
    usual = chat().usage.completion_tokens
    longer = chat({"min_tokens": usual + 10}, max_tokens=usual + 40)
    assert usual + 10 <= longer.usage.completion_tokens <= usual + 40
    assert text(longer).startswith(ANSWER) and text(longer) != ANSWER
    endless = chat({"ignore_eos": True}, max_tokens=usual + 10)
    assert endless.usage.completion_tokens == usual + 10 and endless.choices[0].finish_reason == "length"
    with pytest.raises(openai.BadRequestError) as error:
        chat({"min_tokens": 5}, max_tokens=4)
    assert error.value.param == "min_tokens"


def test_stop_token_ids(chat, demo):
    [equals] = demo.token_ids(" =")
    choice = chat({"stop_token_ids": [equals]}).choices[0]
    assert choice.message.content == "12 + 30" and choice.finish_reason == "stop"
    with pytest.raises(openai.BadRequestError) as error:
        chat({"stop_token_ids": [1 << 30]})
    assert error.value.param.startswith("stop_token_ids")


def test_include_stop_str_in_output(chat):
    for include, expected in ((False, "12 + 30"), (True, "12 + 30 =")):
        extra = {"include_stop_str_in_output": include}
        assert text(chat(extra, stop=[" ="])) == streamed_text(chat(extra, stop=[" ="], stream=True)) == expected


def test_chat_template_kwargs(chat):
    assert getattr(chat().choices[0].message, "reasoning_content", None) is None
    thoughtful = chat({"chat_template_kwargs": {"enable_thinking": True}})
    assert thoughtful.choices[0].message.reasoning_content and "42" in text(thoughtful)
    with pytest.raises(openai.BadRequestError) as error:
        chat({"enable_thinking": True})  # contradicts the other
    assert error.value.param == "enable_thinking"


@pytest.mark.parametrize("begun", ["12", "12 + 30 =", "12 + 30 = 4"])
def test_continue_final_message(chat, begun):
    """The assistant's answer is begun by the client (prefill)."""
    messages = [*QUESTION, {"role": "assistant", "content": begun}]
    extra = {"continue_final_message": True, "add_generation_prompt": False}
    assert begun + text(chat(extra, messages)) == ANSWER
    assert begun + streamed_text(chat(extra, messages, stream=True)) == ANSWER
    assert text(chat({**extra, "echo": True}, messages)) == ANSWER
    assert streamed_text(chat({**extra, "echo": True}, messages, stream=True)) == ANSWER


def test_prefills_that_make_no_sense(chat):
    with pytest.raises(openai.BadRequestError) as error:
        chat({"continue_final_message": True})  # the last message is the user's
    assert error.value.param == "continue_final_message"
    with pytest.raises(openai.BadRequestError) as error:
        chat({"continue_final_message": True, "add_generation_prompt": True},
             [*QUESTION, {"role": "assistant", "content": "12"}])
    assert error.value.param == "add_generation_prompt"


def test_add_generation_prompt(chat, demo):
    without = chat({"add_generation_prompt": False}, max_tokens=1).usage.prompt_tokens
    assert chat({"add_generation_prompt": True, "chat_template_kwargs": {}}, max_tokens=1).usage.prompt_tokens - without == len(
        demo.token_ids("<|im_start|>assistant\n"))


def test_cache(chat):
    """The second time a prompt's beginning is there, but not for those who keep apart."""
    long = [{"role": "user", "content": "Tea, please. " * 40}]

    def n_cached(**extra) -> int:
        return chat(extra, long, max_tokens=1).usage.prompt_tokens_details.cached_tokens

    salted = {"cache_salt": "of one who keeps apart"}
    assert n_cached(**salted) == 0
    assert n_cached(**salted) > 100
    assert n_cached(cache_salt="of another") == 0
    assert n_cached(**salted, use_cache=False) == 0
    assert n_cached(**salted) > 100
    answers = {text(chat(extra, long)) for extra in ({}, salted, {"use_cache": False})}
    assert len(answers) == 1


def test_sglang(chat):
    extra = {"top_k": 20, "min_p": 0.05, "chat_template_kwargs": {"enable_thinking": True}, "separate_reasoning": True}
    message = chat(extra, temperature=0.6, top_p=0.95, seed=1).choices[0].message
    assert message.reasoning_content and "42" in message.content and "think>" not in message.content
    deltas = [choice.delta for chunk in chat(extra, temperature=0.6, top_p=0.95, seed=1, stream=True) for choice in chunk.choices]
    assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == message.reasoning_content
    assert "".join(delta.content or "" for delta in deltas) == message.content
