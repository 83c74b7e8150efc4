"""What a request may ask of its answers, over /v1/chat/completions and /v1/completions, and the endpoints about text
and tokens. Oracles: the same request asked another way, and `qwick perplexity` for log-probabilities."""
import json
import math
import subprocess

import pytest
from server import BINARY, Server, chat_body, events

QUESTION = "What is 12 + 30?"
OFF = {"enable_thinking": False}


def ask(server, path: str, **fields):
    reply = server.request("POST", path, json.dumps(fields))
    assert reply.status == 200, reply
    return reply.json()


def chat(server, content: str = QUESTION, **fields):
    return ask(server, "/v1/chat/completions", **chat_body(content, **OFF, **fields))


def complete(server, prompt, **fields):
    return ask(server, "/v1/completions", prompt=prompt, **fields)


def texts(answer) -> list[str]:
    return [choice["message"]["content"] if "message" in choice else choice["text"] for choice in answer["choices"]]


def refused(server, path: str, **fields) -> str:
    reply = server.request("POST", path, json.dumps(fields))
    assert reply.status == 400, reply
    return reply.json()["error"]["param"]


def test_a_completion_continues_the_rendered_chat(demo):
    prompt = ask(demo, "/apply-template", **chat_body(QUESTION, **OFF))["prompt"]
    assert prompt.startswith("<|im_start|>user\n" + QUESTION)
    wanted = texts(chat(demo, temperature=0))
    ids = ask(demo, "/tokenize", prompt=prompt)["tokens"]
    for same in (prompt, [prompt], ids, [ids]):
        answer = complete(demo, same, temperature=0, max_tokens=64)
        assert texts(answer) == wanted
        assert answer["object"] == "text_completion" and answer["id"].startswith("cmpl-")
        assert answer["usage"]["prompt_tokens"] == len(ids)


def test_completions_have_a_default_length(demo):
    answer = complete(demo, "Hello", ignore_eos=True)
    assert answer["usage"]["completion_tokens"] == 16
    assert answer["choices"][0]["finish_reason"] == "length"


def test_several_prompts_are_answered_in_their_order(demo):
    prompts = [ask(demo, "/apply-template", **chat_body(f"What is {a} + 2?", **OFF))["prompt"] for a in range(8)]
    together = complete(demo, prompts, temperature=0, max_tokens=40)
    assert [choice["index"] for choice in together["choices"]] == list(range(8))
    assert texts(together) == [texts(complete(demo, prompt, temperature=0, max_tokens=40))[0] for prompt in prompts]


def test_several_answers_take_the_next_seeds(demo):
    wild = dict(temperature=2, top_k=0, top_p=1, max_tokens=20)
    together = chat(demo, "Tell me a joke", n=4, seed=70, **wild)
    assert texts(together) == [texts(chat(demo, "Tell me a joke", seed=70 + i, **wild))[0] for i in range(4)]
    assert len(set(texts(together))) > 1
    alone = chat(demo, "Tell me a joke", seed=70, max_tokens=20)
    assert together["usage"]["prompt_tokens"] == alone["usage"]["prompt_tokens"]


def test_a_stream_of_several_answers_says_the_same(demo):
    fields = dict(n=3, seed=5, temperature=2, top_k=0, top_p=1, max_tokens=20, logprobs=True, top_logprobs=2)
    whole = chat(demo, **fields)
    stream = events(demo.chat(QUESTION, **OFF, **fields, stream=True, stream_options={"include_usage": True}).body)
    assert stream[-1] == "[DONE]" and stream[-2]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]
    for index, choice in enumerate(whole["choices"]):
        mine = [event["choices"][0] for event in stream[:-2] if event["choices"][0]["index"] == index]
        assert mine[0]["delta"] == {"role": "assistant", "content": ""}
        assert "".join(one["delta"].get("content", "") for one in mine) == choice["message"]["content"]
        assert [one["finish_reason"] for one in mine if one["finish_reason"]] == [choice["finish_reason"]]
        assert [token for one in mine if one["logprobs"] for token in one["logprobs"]["content"]] == choice["logprobs"]["content"]


def test_best_of_gives_the_most_likely(demo):
    fields = dict(seed=3, temperature=1.8, max_tokens=12, ignore_eos=True, logprobs=0)
    all_five = complete(demo, "Hello", n=5, **fields)["choices"]
    by_mean = sorted(all_five, key=lambda choice: -sum(choice["logprobs"]["token_logprobs"]))
    best = complete(demo, "Hello", n=2, best_of=5, **fields)
    assert texts(best) == [choice["text"] for choice in by_mean[:2]]
    assert best["usage"]["completion_tokens"] == 5 * 12


def test_logprobs_of_an_answer(demo):
    content = chat(demo, temperature=0, logprobs=True, top_logprobs=5)["choices"][0]["logprobs"]["content"]
    assert "".join(token["token"] for token in content).strip() == texts(chat(demo, temperature=0))[0].strip()
    for token in content:
        assert bytes(token["bytes"]).decode() == token["token"]
        values = [other["logprob"] for other in token["top_logprobs"]]
        assert len(values) == 5 and values == sorted(values, reverse=True)
        assert token["token"] == token["top_logprobs"][0]["token"]  # greedy
        assert sum(map(math.exp, values)) <= 1.0001


def test_logprobs_are_the_models_own_whatever_the_sampling(demo):
    # Of tokens forced by a bias of 100, and at another temperature.
    forced = ask(demo, "/tokenize", prompt="!")["tokens"][0]
    plain = complete(demo, "Hello", max_tokens=1, temperature=0, logprobs=20)["choices"][0]["logprobs"]
    biased = complete(demo, "Hello", max_tokens=1, temperature=2, logit_bias={forced: 100}, logprobs=20)["choices"][0]
    assert biased["text"] == "!"
    assert biased["logprobs"]["top_logprobs"] == plain["top_logprobs"]


@pytest.mark.parametrize("model", ["demo", "smollm"])
def test_echo_scores_a_text_as_perplexity_does(model, request, tmp_path):
    server = request.getfixturevalue(model)
    text = "The quick brown fox jumps over the lazy dog. 你好，世界！" * 4
    file = tmp_path / "text.txt"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([BINARY, "perplexity", *(server.arguments or ("demo",)), "--file", file, "--logprobs", "--json"],
                          capture_output=True, text=True, check=True)
    wanted = json.loads(done.stdout)["logprobs"]
    for stream in (False, True):
        fields = dict(prompt=text, echo=True, logprobs=1, max_tokens=0, stream=stream)
        if stream:
            reply = events(server.request("POST", "/v1/completions", json.dumps(fields)).body)[:-1]
            choices = [event["choices"][0] for event in reply]
        else:
            answer = ask(server, "/v1/completions", **fields)
            assert answer["usage"]["completion_tokens"] == 0
            choices = answer["choices"]
        assert "".join(choice["text"] for choice in choices) == text
        logprobs = [value for choice in choices for value in choice["logprobs"]["token_logprobs"]]
        assert logprobs[0] is None
        assert logprobs[1:] == pytest.approx(wanted, abs=2e-4)
        assert choices[-1]["finish_reason"] == "length"


def test_echo_comes_before_the_answer(demo):
    plain = texts(complete(demo, "Hello", temperature=0, max_tokens=8))[0]
    assert texts(complete(demo, "Hello", temperature=0, max_tokens=8, echo=True))[0] == "Hello" + plain


def test_lengths_and_stops(demo):
    answer = chat(demo, temperature=0)
    text = texts(answer)[0]
    n_tokens = answer["usage"]["completion_tokens"]
    longer = chat(demo, temperature=0, min_tokens=n_tokens + 5)
    assert longer["usage"]["completion_tokens"] >= n_tokens + 5
    endless = chat(demo, temperature=0, ignore_eos=True, max_tokens=60)
    assert endless["usage"]["completion_tokens"] == 60 and endless["choices"][0]["finish_reason"] == "length"
    assert texts(endless)[0].startswith(text)
    stop = text[2:4]
    assert texts(chat(demo, temperature=0, stop=stop))[0] == text[:text.index(stop)]
    assert texts(chat(demo, temperature=0, stop=stop, include_stop_str_in_output=True))[0] == text[:text.index(stop) + 2]
    ids = ask(demo, "/tokenize", prompt=text)["tokens"]
    by_id = chat(demo, temperature=0, stop_token_ids=[ids[2]])
    assert by_id["choices"][0]["finish_reason"] == "stop" and len(texts(by_id)[0]) < len(text)


def test_penalties_and_biases_change_what_is_said(demo):
    fields = dict(temperature=0, max_tokens=40, ignore_eos=True)
    plain = texts(chat(demo, **fields))[0]
    for penalty in ({"frequency_penalty": 2}, {"presence_penalty": 2}, {"repetition_penalty": 5}):
        assert texts(chat(demo, **fields, **penalty))[0] != plain, penalty
    first = ask(demo, "/tokenize", prompt=plain)["tokens"][0]
    assert not texts(chat(demo, **fields, logit_bias={str(first): -100}))[0].startswith(
        ask(demo, "/detokenize", tokens=[first])["prompt"])


def test_an_answer_goes_on_from_its_beginning(demo):
    text = texts(chat(demo, temperature=0))[0]
    half = len(text) // 2
    messages = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": text[:half]}]
    fields = dict(messages=messages, temperature=0, continue_final_message=True, **OFF)
    prompt = ask(demo, "/apply-template", **fields)["prompt"]
    assert prompt.endswith(text[:half])
    rest = texts(ask(demo, "/v1/chat/completions", **fields, add_generation_prompt=False))[0]
    assert texts(ask(demo, "/v1/chat/completions", **fields, echo=True))[0] == text[:half] + rest
    assert refused(demo, "/v1/chat/completions", **{**fields, "messages": messages[:1]}) == "continue_final_message"


def test_text_to_tokens_and_back(demo):
    text = "Hello, 世界<|im_end|>"
    answer = ask(demo, "/tokenize", prompt=text, return_token_strs=True)
    assert answer["count"] == len(answer["tokens"]) == len(answer["token_strs"])
    assert answer["max_model_len"] == demo.request("GET", "/v1/models").json()["data"][0]["max_model_len"]
    assert ask(demo, "/tokenize", content=text)["tokens"] == answer["tokens"]
    assert len(ask(demo, "/tokenize", prompt=text, parse_special=False)["tokens"]) > answer["count"]
    assert ask(demo, "/detokenize", tokens=answer["tokens"]) == {"prompt": text, "content": text}
    by_messages = ask(demo, "/tokenize", **chat_body(QUESTION, **OFF))["tokens"]
    assert by_messages == ask(demo, "/tokenize", prompt=ask(demo, "/apply-template", **chat_body(QUESTION, **OFF))["prompt"])["tokens"]
    assert refused(demo, "/detokenize", tokens=[10**9]) == "tokens"
    assert refused(demo, "/tokenize") == "prompt"


def test_models_one_by_one(demo):
    for name in ("Qwen-0.6B", "Qwen-0.6B/", "Qwen%2D0.6B"):
        reply = demo.request("GET", f"/v1/models/{name}")
        assert reply.status == 200 and reply.json()["id"] == "Qwen-0.6B"
    assert demo.request("GET", "/v1/models/nobody").json()["error"]["code"] == "model_not_found"
    assert demo.request("POST", "/v1/models/Qwen-0.6B").status == 405


def test_what_is_refused(demo):
    for fields, param in (({"suffix": "x", "prompt": "a"}, "suffix"), ({}, "prompt"), ({"prompt": ""}, "prompt"),
                          ({"prompt": []}, "prompt"), ({"prompt": ["a", 1]}, "prompt[1]"), ({"prompt": [[]]}, "prompt"),
                          ({"prompt": [10**8]}, "prompt"), ({"prompt": {"a": 1}}, "prompt"), ({"prompt": "a", "max_tokens": 0}, "max_tokens"),
                          ({"prompt": "a", "logprobs": 21}, "logprobs"), ({"prompt": "a", "logprobs": True}, "logprobs"),
                          ({"prompt": "a", "max_tokens": 10**6}, "max_tokens"), ({"prompt": "a b " * 5000}, "prompt"),
                          ({"prompt": ["a"] * 20, "n": 32}, "prompt"), ({"prompt": "a", "logit_bias": {"99999999": 1}}, "logit_bias"),
                          ({"prompt": "a", "stop_token_ids": [99999999]}, "stop_token_ids")):
        assert refused(demo, "/v1/completions", **fields) == param, fields


def long_chat(server, key: str = "", **fields) -> int:
    """Prompt tokens that came from the cache."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = json.dumps(chat_body("Please remember these words. " * 20, max_tokens=1, **fields))
    reply = server.request("POST", "/v1/chat/completions", body, headers)
    assert reply.status == 200, reply
    return reply.json()["usage"]["prompt_tokens_details"]["cached_tokens"]


def test_salts_share_no_cached_prefix(demo):
    assert long_chat(demo, cache_salt="a") == 0
    assert long_chat(demo, cache_salt="b") == 0
    assert long_chat(demo, cache_salt="a") > 0
    assert long_chat(demo, cache_salt="c", use_cache=False) == 0
    assert long_chat(demo, cache_salt="c") == 0


def test_keys_share_no_cached_prefix():
    server = Server("--api-key", "ann", "--api-key", "bob")
    try:
        assert [long_chat(server, key) > 0 for key in ("ann", "bob", "ann", "bob")] == [False, False, True, True]
        assert long_chat(server, "ann", cache_salt="x") == 0
    finally:
        assert server.stop() == 0


def test_the_operators_sampling_holds_where_a_request_says_nothing():
    server = Server("--sampling", "temperature=0,top_k=5")
    try:
        assert len({texts(chat(server, "Tell me a joke"))[0] for _ in range(4)}) == 1
        assert len({texts(chat(server, "Tell me a joke", temperature=2, top_k=0, top_p=1))[0] for _ in range(8)}) > 1
    finally:
        assert server.stop() == 0
    for wrong in ("temperature", "heat=1", "top_p=2", "temperature=hot"):
        done = subprocess.run([BINARY, "serve", "--sampling", wrong, "--port", "0"], capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and "--sampling" in done.stderr, wrong
