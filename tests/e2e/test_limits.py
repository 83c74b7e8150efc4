"""What clients can't do to the server: limits, time-outs, keys, origins, and what the log says of them."""
import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import time

import pytest
from server import BINARY, Server, chat_body, events, http_request, read_reply, wait_until

CHAT = "/v1/chat/completions"
# The demo is brief by nature; so hot and so averse to repetition, it goes on until max_tokens.
LONG = {"max_tokens": 3900, "temperature": 2, "top_k": 0, "top_p": 1, "repetition_penalty": 100, "seed": 5,
        "enable_thinking": False}


def stats(server) -> dict:
    return server.request("GET", "/stats").json()


@pytest.fixture(scope="module")
def impatient():
    """Every time-out is a second."""
    server = Server("--header-timeout", "1", "--body-timeout", "1", "--idle-timeout", "1", "--write-timeout", "1",
                    "--max-body", "1", "--max-prompt-tokens", "50")
    yield server
    assert server.stop() == 0, server.output


def closed_by_server(connection) -> bytes:
    """What the server still says before it closes."""
    connection.settimeout(30)
    said = b""
    try:
        while part := connection.recv(65536):
            said += part
    except ConnectionResetError:
        pass
    return said


@pytest.mark.parametrize("begin", [b"GET /health HTTP/1.1\r\nHost: x\r\nX: ",
                                   b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" % CHAT.encode()],
                         ids=["header", "body"])
def test_slow_requests_are_answered_with_408(impatient, begin):
    """A byte now and then (slowloris) doesn't keep a connection open."""
    with impatient.connect() as connection:
        connection.sendall(begin)
        began = time.monotonic()
        connection.settimeout(0.1)
        said = b""
        while not said:
            assert time.monotonic() - began < 30
            connection.sendall(b"x")
            try:
                said = connection.recv(65536)
            except TimeoutError:
                pass
        assert time.monotonic() - began > 0.9
        said += closed_by_server(connection)
    assert said.startswith(b"HTTP/1.1 408 ") and b"Connection: close" in said


def test_silent_connections_are_closed(impatient):
    used = impatient.connect()
    used.sendall(http_request("GET", "/health"))
    stream = used.makefile("rb")
    assert read_reply(stream).status == 200
    for connection in (impatient.connect(), used):
        assert closed_by_server(connection) == b""


def test_clients_that_read_nothing_are_dropped(impatient):
    def n_sockets() -> int:
        folder = f"/proc/{impatient.process.pid}/fd"
        return sum(os.readlink(f"{folder}/{fd}").startswith("socket:") for fd in os.listdir(folder))

    impatient.request("GET", "/health")
    wait_until(lambda: n_sockets() == 1)  # it listens
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect((impatient.host, impatient.port))
    deaf.settimeout(1)
    try:  # answers of some megabytes
        for _ in range(100):
            deaf.sendall(http_request("GET", "/metrics") * 100)
    except (TimeoutError, OSError):
        pass
    wait_until(lambda: n_sockets() == 1, 60)
    deaf.close()


def test_large_bodies_and_prompts(impatient):
    reply = impatient.chat("x" * (1 << 20))
    assert reply.status == 413
    reply = impatient.chat("long " * 60)
    assert reply.status == 400 and reply.json()["error"]["code"] == "prompt_too_long" and " 50 " in reply.json()["error"]["message"]
    assert impatient.chat("hi", max_tokens=1).status == 200


def test_max_connections():
    server = Server("--max-connections", "2")
    try:
        first, second, third = (server.connect() for _ in range(3))
        third.sendall(http_request("GET", "/health"))
        for connection in (first, second):
            connection.sendall(http_request("GET", "/health"))
            assert read_reply(connection.makefile("rb")).status == 200
        third.settimeout(0.5)
        with pytest.raises(TimeoutError):
            third.recv(1)
        first.close()
        third.settimeout(30)
        assert read_reply(third.makefile("rb")).status == 200
    finally:
        server.kill()


def test_request_timeout_cuts_answers():
    server = Server("--request-timeout", "1", "--dtype", "f32", "--threads", "1", "--max-batch", "1")
    try:
        def ask(i: int):
            return server.chat("Hello!", stream=i % 2 == 1, **LONG)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            replies = list(pool.map(ask, range(16)))
        whole, streams = replies[0::2], replies[1::2]
        cut = [reply for reply in whole if reply.status != 200]
        assert cut  # sixteen of these take far longer than a second
        for reply in cut:
            assert reply.status == 504 and reply.headers["x-should-retry"] == "false"
            assert reply.json()["error"]["type"] == "timeout_error" and reply.json()["error"]["code"] == "request_timeout"
        ends = [events(reply.body) for reply in streams]
        assert all(end[-1] == "[DONE]" for end in ends)
        cut_streams = [end for end in ends if "error" in end[-2]]
        assert cut_streams and all(end[-2]["error"]["code"] == "request_timeout" for end in cut_streams)
        figures = stats(server)
        assert figures["qwick_requests_aborted_total"]["timeout"] == len(cut) + len(cut_streams)
        wait_until(lambda: stats(server)["vllm:num_requests_running"] + stats(server)["vllm:num_requests_waiting"] == 0)
        assert server.chat("hi", max_tokens=1).status == 200
    finally:
        server.kill()


def models(server, key: str | None) -> int:
    return server.request("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"} if key else {}).status


def test_keys_from_flag_file_and_environment(tmp_path):
    file = tmp_path / "keys"
    file.write_text("# ours\nfrom-file\n\nsecond\n")
    server = Server("--api-key-file", str(file), environment={"QWICK_API_KEY": "from-environment"})
    try:
        assert {key: models(server, key) for key in ("from-file", "second", "from-environment", "ours", None)} == {
            "from-file": 200, "second": 200, "from-environment": 200, "ours": 401, None: 401}
        assert server.request("GET", "/health").status == server.request("GET", "/metrics").status == 200  # for all
        file.write_text("third\n")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: models(server, "third") == 200)
        assert models(server, "from-file") == 401 and models(server, "from-environment") == 200
        file.write_text("fourth\nwith blank\n")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "not reloaded" in server.output)
        assert models(server, "third") == 200 and models(server, "fourth") == 401
        assert "fourth" not in server.output and "third" not in server.output
    finally:
        assert server.stop() == 0


def test_cross_origin_requests():
    server = Server("--cors-origin", "https://chat.example", "--api-key", "k")
    try:
        origin = {"Origin": "https://chat.example"}
        preflight = server.request("OPTIONS", CHAT, headers={**origin, "Access-Control-Request-Method": "POST",
                                                             "Access-Control-Request-Headers": "authorization,content-type"})
        assert preflight.status == 204  # with no key: browsers send none here
        assert preflight.headers["access-control-allow-origin"] == "https://chat.example"
        assert "POST" in preflight.headers["access-control-allow-methods"]
        assert preflight.headers["access-control-allow-headers"] == "authorization,content-type"
        assert int(preflight.headers["access-control-max-age"]) > 0 and preflight.headers["vary"] == "Origin"
        key = {"Authorization": "Bearer k"}
        body = json.dumps(chat_body("hi", max_tokens=2, stream=True))
        for reply in (server.request("GET", "/v1/models", headers={**origin, **key}), server.request("GET", "/v1/models", headers=origin),
                      server.request("POST", CHAT, body, headers={**origin, **key}), server.request("GET", "/none", headers=origin)):
            assert reply.headers["access-control-allow-origin"] == "https://chat.example"
        other = server.request("GET", "/v1/models", headers={"Origin": "https://evil.example", **key})
        assert other.status == 200 and "access-control-allow-origin" not in other.headers and other.headers["vary"] == "Origin"
    finally:
        assert server.stop() == 0


def test_no_cross_origin_headers_unasked(demo):
    reply = demo.request("OPTIONS", CHAT, headers={"Origin": "https://a.example", "Access-Control-Request-Method": "POST"})
    assert reply.headers["allow"] == "POST, OPTIONS"
    assert not [name for name in reply.headers if name.startswith("access-control") or name == "vary"]


@pytest.mark.parametrize("flags", [["--access-log"], ["--access-log", "--log-prompts"], []])
def test_log(flags):
    server = Server(*flags)
    try:
        reply = server.chat("my secret", max_tokens=3).json()["usage"]
        server.chat("my secret", temperature="secret-value")
        server.request("GET", "/v1/none\x1b[31m?token=secret")
        with server.connect() as connection:
            connection.sendall(b"secret nonsense\r\n\r\n")
            read_reply(connection.makefile("rb"))
    finally:
        assert server.stop() == 0
    lines = server.output.splitlines()
    assert any(f"POST {CHAT} 200" in line and f"{reply['prompt_tokens']} + 3 tokens" in line for line in lines) == bool(flags)
    assert any(f"POST {CHAT} 400" in line for line in lines) == bool(flags)
    assert "\x1b[31m" not in server.output
    assert ("secret" in server.output) == ("--log-prompts" in flags)


@pytest.mark.parametrize("arguments, words", [
    (["--host", "192.0.2.1"], ["192.0.2.1", "no such address", "--host"]),
    (["--host", "1.2.3.4.5.6"], ["unknown host"]),
    (["--max-body", "0"], ["--max-body", "1 or more"]),
    (["--max-queue", "0"], ["--max-queue", "1 or more"]),
    (["--header-timeout", "0"], ["--header-timeout", "1 or more"]),
    (["--cors-origin", "chat.example"], ["--cors-origin chat.example", "SCHEME://HOST"]),
    (["--api-key", "a b"], ["--api-key", "blank"]),
    (["--api-key-file", "/no/such/file"], ["/no/such/file"]),
    (["--system-prompt-file", "/no/such/file"], ["/no/such/file"]),
])
def test_options_that_make_no_sense(arguments, words):
    done = subprocess.run([BINARY, "serve", "--port", "0", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2)
    line = done.stderr.strip()
    assert "\n" not in line and all(word in line for word in words), line


def test_port_in_use_on_ipv6():
    try:
        taken = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")
    with taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run([BINARY, "serve", "--host", "::1", "--port", port], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and f"[::1]:{port}" in done.stderr and "in use" in done.stderr
