"""What the openai package for Python makes of errors: its exceptions, its retries, its time-outs."""
import socket
import time

import openai
import pytest
from server import Server, wait_until

MODEL = {"model": "Qwen-0.6B"}
MESSAGES = [{"role": "user", "content": "Hello!"}]
# The demo is brief by nature; so hot and so averse to repetition, it goes on until max_tokens.
LONG = {**MODEL, "messages": MESSAGES, "max_tokens": 3900, "temperature": 2, "top_p": 1, "seed": 5,
        "extra_body": {"top_k": 0, "repetition_penalty": 100, "enable_thinking": False}}


class Client(openai.OpenAI):
    """Notes the answers to its requests: time, status, Retry-After."""

    def __init__(self, server: Server, **settings):
        self.replies = []
        http = openai.DefaultHttpxClient(event_hooks={"response": [self._note]})
        super().__init__(**{"base_url": server.url, "api_key": "EMPTY", "timeout": 60, "http_client": http, **settings})

    def _note(self, response):
        self.replies.append((time.monotonic(), response.status_code, response.headers.get("retry-after")))
        self.on_reply(response.status_code)

    def on_reply(self, status: int):
        pass

    def say_hello(self, **settings):
        return self.chat.completions.create(**MODEL, messages=MESSAGES, max_tokens=1, **settings)


def at_work(server: Server) -> tuple[int, int]:
    """How many requests run, how many wait."""
    figures = server.request("GET", "/stats").json()
    return figures["vllm:num_requests_running"], figures["vllm:num_requests_waiting"]


@pytest.fixture(scope="module")
def narrow():
    """One request runs, one waits, no more."""
    server = Server("--max-batch", "1", "--max-queue", "1", "--max-body", "1")
    yield server
    assert server.stop() == 0, server.output


@pytest.fixture
def full(narrow):
    """Its place and its queue are taken by these two streams."""
    streams = []
    with openai.OpenAI(base_url=narrow.url, api_key="EMPTY", max_retries=0) as client:
        for expected in ((1, 0), (1, 1)):
            streams.append(client.chat.completions.create(**LONG, stream=True))
            wait_until(lambda expected=expected: at_work(narrow) == expected)
        yield streams
        for stream in streams:
            stream.close()
    wait_until(lambda: at_work(narrow) == (0, 0))


def test_rate_limit_error(narrow, full):
    with Client(narrow, max_retries=0) as client, pytest.raises(openai.RateLimitError) as error:
        client.say_hello()
    assert error.value.status_code == 429 and error.value.code == "queue_full"
    assert int(error.value.response.headers["retry-after"]) >= 1


def test_retries_after_the_time_that_it_was_told(narrow, full):
    with Client(narrow, max_retries=5) as client:
        client.on_reply = lambda status: [stream.close() for stream in full]
        raw = client.chat.completions.with_raw_response.create(**MODEL, messages=MESSAGES, max_tokens=1)
        assert raw.retries_taken == len(client.replies) - 1 >= 1
        assert raw.parse().usage.completion_tokens == 1
    assert [status for _, status, _ in client.replies] == [429] * raw.retries_taken + [200]
    for (refused, _, wait), (again, _, _) in zip(client.replies, client.replies[1:]):
        assert again - refused >= int(wait)


def test_timeout(narrow):
    with Client(narrow, timeout=0.05, max_retries=1) as client:
        began = time.monotonic()
        with pytest.raises(openai.APITimeoutError):
            client.chat.completions.create(**LONG)
        assert time.monotonic() - began >= 2 * 0.05  # tried twice
        wait_until(lambda: at_work(narrow) == (0, 0))  # the server has noticed
        assert client.say_hello(timeout=60).usage.completion_tokens == 1


def test_no_connection():
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    with openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="EMPTY", max_retries=1) as client:
        with pytest.raises(openai.APIConnectionError):
            client.models.list()


def test_bad_requests_are_not_tried_again(demo):
    with Client(demo, max_retries=3) as client:
        with pytest.raises(openai.BadRequestError) as error:
            client.say_hello(temperature=7)
        assert error.value.status_code == 400 and error.value.body["message"] in str(error.value)
        with pytest.raises(openai.BadRequestError):  # no stream begins
            client.say_hello(temperature=7, stream=True)
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-4o")
        with pytest.raises(openai.NotFoundError) as error:
            client.embeddings.create(model="Qwen-0.6B", input="Hello!")
        assert error.value.code == "unknown_url"
    assert [status for _, status, _ in client.replies] == [400, 400, 404, 404]


def test_too_large(narrow):
    with Client(narrow, max_retries=0) as client, pytest.raises(openai.APIStatusError) as error:
        client.chat.completions.create(**MODEL, messages=[{"role": "user", "content": "x" * (1 << 20)}])
    assert error.value.status_code == 413


def test_what_takes_too_long_for_the_server():
    server = Server("--request-timeout", "1", "--dtype", "f32", "--threads", "1", "--max-batch", "1")
    try:
        with Client(server, max_retries=3) as client:
            with pytest.raises(openai.InternalServerError) as error:
                client.chat.completions.create(**LONG, n=16)
            assert error.value.status_code == 504 and error.value.code == "request_timeout"
            assert len(client.replies) == 1  # it would take as long again
            with pytest.raises(openai.APIError) as error:
                list(client.chat.completions.create(**LONG, n=16, stream=True))
            assert error.value.code == "request_timeout" and client.replies[-1][1] == 200
    finally:
        assert server.stop() == 0


def test_server_that_shuts_down():
    server = Server()
    try:
        with Client(server, max_retries=0) as client, client.chat.completions.create(**LONG, stream=True) as stream:
            next(stream)
            client.models.list()  # on a connection that stays open
            server.process.terminate()
            wait_until(lambda: "stopping" in server.output)
            with pytest.raises(openai.InternalServerError) as error:
                client.say_hello()
            assert error.value.status_code == 503 and int(error.value.response.headers["retry-after"]) >= 1
    finally:
        server.kill()
