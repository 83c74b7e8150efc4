"""Starting and stopping: ports, signals, answers in progress, clients that leave or don't read."""
import concurrent.futures
import json
import signal
import socket
import subprocess
import time

import pytest
from server import BINARY, Server, chat_body, events, http_request, read_reply, wait_until

CHAT = "/v1/chat/completions"
# The demo is brief by nature; so hot and so averse to repetition, it goes on until max_tokens.
LONG = {"temperature": 2, "top_k": 0, "top_p": 1, "repetition_penalty": 100, "seed": 5, "enable_thinking": False}


@pytest.fixture
def server():
    started = Server()
    yield started
    if started.process.poll() is None:
        started.kill()


def begin(server, **fields) -> tuple[socket.socket, "BinaryIO"]:
    """A stream whose first bytes have come."""
    connection = server.connect()
    connection.sendall(http_request("POST", CHAT, json.dumps(chat_body("Hello!", stream=True, **fields))))
    stream = connection.makefile("rb")
    assert stream.peek(1)
    return connection, stream


def test_term_lets_streams_end(server):
    alone = events(server.chat("Hello!", stream=True, max_tokens=300, **LONG).body)
    assert alone[-2]["choices"][0]["finish_reason"] == "length"
    connections = [begin(server, max_tokens=300, **LONG) for _ in range(16)]
    server.process.send_signal(signal.SIGTERM)

    def contents(chunks: list) -> str:
        return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks[:-1])

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda pair: read_reply(pair[1]), connections))
    for reply in replies:
        chunks = events(reply.body)
        assert chunks[-1] == "[DONE]" and chunks[-2]["choices"][0]["finish_reason"] == "length"
        assert contents(chunks) == contents(alone)
    assert server.wait() == 0
    with pytest.raises(OSError):
        server.connect()


def test_int_stops_an_idle_server(server):
    idle = server.connect()  # a connection that asks nothing doesn't hold it up
    server.request("GET", "/health")
    began = time.monotonic()
    server.process.send_signal(signal.SIGINT)
    assert server.wait() == 0
    assert time.monotonic() - began < 5
    idle.close()


def test_new_requests_while_stopping_get_503(server):
    kept = server.connect()
    kept_stream = kept.makefile("rb")
    kept.sendall(http_request("GET", "/health"))
    assert read_reply(kept_stream).status == 200
    connection, stream = begin(server, max_tokens=2000, **LONG)
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "stopping" in server.output)
    kept.sendall(http_request("POST", CHAT, json.dumps(chat_body("hi"))))
    reply = read_reply(kept_stream)
    assert reply.status == 503 and reply.json()["error"]["type"] == "unavailable_error"
    assert "retry-after" in reply.headers and reply.headers["connection"] == "close"
    assert events(read_reply(stream).body)[-1] == "[DONE]"
    assert server.wait() == 0


def test_drain_timeout_cuts():
    server = Server("--drain-timeout", "1", "--ctx", "4096")
    connections = [begin(server, max_tokens=4000, **LONG) for _ in range(8)]
    waiting = [begin(server, max_tokens=4000, **LONG) for _ in range(8)]
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 10
    for _, stream in connections + waiting:
        last = events(read_reply(stream).body)
        assert last[-1] == "[DONE]"


def test_second_signal_stops_at_once():
    server = Server("--drain-timeout", "600")
    connections = [begin(server, max_tokens=4000, **LONG) for _ in range(16)]
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "stopping" in server.output)
    server.process.send_signal(signal.SIGTERM)
    assert server.wait(10) == 0
    assert len(connections) == 16


@pytest.mark.parametrize("stream", [False, True])
def test_clients_that_leave_free_their_place(server, stream):
    fields = {"max_tokens": 3500, **LONG}
    connections = []
    for seed in range(24):  # three times what runs at once
        connections.append(server.connect())
        connections[-1].sendall(http_request("POST", CHAT, json.dumps(chat_body("Hello!", stream=stream, **{**fields, "seed": seed}))))
    time.sleep(0.3)
    for connection in connections:
        connection.close()
    began = time.monotonic()
    assert server.chat("Hello!", max_tokens=3).status == 200
    waited = time.monotonic() - began
    began = time.monotonic()
    server.chat("Hello!", **fields)
    one_long = time.monotonic() - began
    assert waited < one_long  # with nobody gone, it would have waited for 24 of these


def test_slow_reader_gets_everything_and_stops_nobody(server):
    expected = server.chat("Hello!", max_tokens=1500, **LONG).json()["choices"][0]["message"]["content"]
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(60)
    slow.connect((server.host, server.port))
    slow.sendall(http_request("POST", CHAT, json.dumps(chat_body("Hello!", stream=True, max_tokens=1500, **LONG))))
    for _ in range(5):
        assert server.chat("Hello!", max_tokens=5).status == 200
    time.sleep(1)
    chunks = events(read_reply(slow.makefile("rb")).body)
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks[:-1])
    assert chunks[-1] == "[DONE]" and text == expected


def test_full_queue_gives_429():
    server = Server("--max-queue", "2")
    try:
        connections = []
        for _ in range(40):
            connections.append(server.connect())
            connections[-1].sendall(http_request("POST", CHAT, json.dumps(chat_body("Hello!", max_tokens=1500, **LONG))))
        replies = []
        with concurrent.futures.ThreadPoolExecutor(40) as pool:
            replies = list(pool.map(lambda c: read_reply(c.makefile("rb")), connections))
        refused = [reply for reply in replies if reply.status == 429]
        assert {reply.status for reply in replies} == {200, 429}
        for reply in refused:
            assert reply.json()["error"]["type"] == "rate_limit_error" and int(reply.headers["retry-after"]) >= 1
    finally:
        server.kill()


def test_port_in_use():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run([BINARY, "serve", "--port", port], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2)
    line = done.stderr.strip()
    assert "\n" not in line and port in line and "in use" in line and "--port" in line


def test_hosts():
    done = subprocess.run([BINARY, "serve", "--host", "no.such.host.invalid", "--port", "0"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode in (1, 2) and "unknown host" in done.stderr
    for host in ("localhost", "0.0.0.0", "::1", "::"):
        if ":" in host and not ipv6_works():
            continue
        server = Server("--host", host)
        try:
            assert server.request("GET", "/health").status == 200
        finally:
            assert server.stop() == 0


def ipv6_works() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def test_served_model_names():
    server = Server("--served-model-name", "one", "--served-model-name", "two")
    try:
        assert [model["id"] for model in server.request("GET", "/v1/models").json()["data"]] == ["one", "two"]
        assert server.chat("hi", max_tokens=1).json()["model"] == "one"
        assert server.chat("hi", max_tokens=1, model="two").json()["model"] == "two"
        assert server.chat("hi", model="Qwen-0.6B").status == 404
    finally:
        assert server.stop() == 0


def test_idle_threads_do_not_spin(server):
    """Waiting costs nothing."""
    server.chat("Hello!", max_tokens=1)

    def cpu_seconds() -> float:
        fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    before = cpu_seconds()
    time.sleep(1)
    assert cpu_seconds() - before < 0.1
