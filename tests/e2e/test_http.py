"""HTTP as such, over plain sockets: what is there, how errors look, and clients that misbehave."""
import json
import socket
import time

import pytest
from server import chat_body, events, http_request, read_reply

CHAT = "/v1/chat/completions"


def error_of(reply, status: int) -> dict:
    assert reply.status == status, reply
    assert reply.headers["content-type"] == "application/json"
    error = reply.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"]
    return error


def test_health_and_models(demo):
    assert demo.request("GET", "/health").json() == {"status": "ok"}
    reply = demo.request("GET", "/v1/models")
    assert reply.status == 200
    models = reply.json()
    assert models["object"] == "list"
    assert {"Qwen3-0.6B", "Qwen-0.6B"} <= {model["id"] for model in models["data"]}
    assert all(model["object"] == "model" and model["owned_by"] and model["created"] for model in models["data"])


def test_trailing_slash_query_and_absolute_target(demo):
    for path in ("/health/", "/health?x=1", "/health/?x=/y", f"http://{demo.host}:{demo.port}/health"):
        assert demo.request("GET", path).status == 200, path


def test_unknown_path(demo):
    for path in ("/", "/v1", "/v1/nothing", "/healthy", "//health", "/v1/chat/completions/x", "/%00"):
        error = error_of(demo.request("GET", path), 404)
        assert error["type"] == "not_found_error"


def test_wrong_method(demo):
    for method, path, allowed in (("GET", CHAT, "POST, OPTIONS"), ("POST", "/health", "GET, HEAD, OPTIONS"),
                                  ("DELETE", "/v1/models", "GET, HEAD, OPTIONS"), ("BREW", CHAT, "POST, OPTIONS"),
                                  ("HEAD", CHAT, "POST, OPTIONS")):
        reply = demo.request(method, path)
        assert reply.status == 405
        assert reply.headers["allow"] == allowed
        if method != "HEAD":
            error_of(reply, 405)


def test_head_and_options(demo):
    head, get = demo.request("HEAD", "/v1/models"), demo.request("GET", "/v1/models")
    assert head.status == 200 and head.headers["content-length"] == get.headers["content-length"]
    for path, allowed in ((CHAT, "POST, OPTIONS"), ("/health", "GET, HEAD, OPTIONS"), ("*", "GET, HEAD, POST, OPTIONS")):
        reply = demo.request("OPTIONS", path)
        assert reply.status == 204 and reply.headers["allow"] == allowed
    assert demo.request("OPTIONS", "/nothing").status == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"{'a': 1}", b'{"messages": NaN}', b"\xff\xfe", b"\x00",
                                  b"[" * 100_000, b'{"a":' * 100_000, b'{"messages": [{"role": "user", "content": "\\ud800"}]}'])
def test_bodies_that_are_no_request(demo, body):
    error = error_of(demo.request("POST", CHAT, body), 400)
    assert error["type"] == "invalid_request_error"


def test_errors_name_the_field(demo):
    for fields, param in (({"temperature": "hot"}, "temperature"), ({"temperature": 3}, "temperature"), ({"top_k": 1.5}, "top_k"),
                          ({"n": 0}, "n"), ({"tools": [{"type": "function"}]}, "tools"), ({"stop": [""]}, "stop[0]"),
                          ({"max_tokens": 0}, "max_tokens"), ({"messages": []}, "messages"),
                          ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
                          ({"enable_thinking": True, "chat_template_kwargs": {"enable_thinking": False}}, "enable_thinking"),
                          ({"response_format": {"type": "json_object"}}, "response_format"), ({"stream": "yes"}, "stream")):
        error = error_of(demo.chat("hi", **fields), 400)
        assert error["type"] == "invalid_request_error"
        assert error["param"] == param and param in error["message"]


def test_unknown_model(demo):
    error = error_of(demo.chat("hi", model="gpt-4"), 404)
    assert error["param"] == "model" and error["code"] == "model_not_found"


def test_context_overflow_names_both_lengths(demo):
    limit = demo.request("GET", "/v1/models").json()["data"][0]["max_model_len"]
    error = error_of(demo.chat("long " * limit), 400)
    assert error["code"] == "context_length_exceeded" and str(limit) in error["message"]
    error = error_of(demo.chat("hi", max_tokens=limit), 400)
    assert error["code"] == "context_length_exceeded" and error["param"] == "max_tokens"
    assert str(limit) in error["message"]


def test_unknown_fields_are_accepted_and_logged_once(demo):
    for _ in range(3):
        assert demo.chat("你好", max_tokens=1, some_new_field={"a": 1}).status == 200
    time.sleep(0.2)
    assert demo.output.count("some_new_field") == 1


def test_body_too_large(demo):
    with demo.connect() as connection:
        connection.sendall(f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 40000000\r\n\r\n".encode())
        error_of(read_reply(connection.makefile("rb")), 413)
    with demo.connect() as connection:  # chunked, so that the length is not known before
        connection.sendall(f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        try:
            for _ in range(40):
                connection.sendall(chunk)
        except OSError:
            pass  # the server has seen enough
        error_of(read_reply(connection.makefile("rb")), 413)


def test_chunked_request(demo):
    body = json.dumps(chat_body("你好", max_tokens=1)).encode()
    with demo.connect() as connection:
        connection.sendall(f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for i in range(0, len(body), 10):
            part = body[i:i + 10]
            connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        connection.sendall(b"0\r\n\r\n")
        assert read_reply(connection.makefile("rb")).status == 200


def test_last_chunk_in_pieces(demo):
    """Boost before 1.86 ends the program where it has to look at part of a last chunk twice."""
    head = b"POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    for body in b"", b'10\r\n{"prompt": "Hi"}\r\n':
        with demo.connect() as connection:
            for part in head + body + b"0\r\n", b"\r", b"\n":
                connection.sendall(part)
                time.sleep(0.05)
            assert read_reply(connection.makefile("rb")).status == (200 if body else 400)
    with demo.connect() as connection:
        connection.sendall(head + b"0\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""


@pytest.mark.parametrize("begin", [b"3;x=", b"0\r\nX: "])
def test_endless_chunk_header_and_trailer(demo, begin):
    with demo.connect(20) as connection:
        connection.sendall(b"POST /tokenize HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + begin + b"a" * 40_000)
        error_of(read_reply(connection.makefile("rb")), 431)


def test_expect_continue(demo):
    body = json.dumps(chat_body("你好", max_tokens=1)).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    with demo.connect() as connection:
        stream = connection.makefile("rb")
        connection.sendall(head.encode())
        assert read_reply(stream).status == 100
        connection.sendall(body)
        assert read_reply(stream).status == 200


def test_header_too_large(demo):
    with demo.connect() as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"y" * 40_000 + b"\r\n\r\n")
        error_of(read_reply(connection.makefile("rb")), 431)


@pytest.mark.parametrize("text", [b"nonsense\r\n\r\n", b"GET /health HTTP/3.0\r\n\r\n", b"GET /health HTTP/1.1\r\n\r\n",
                                  b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET  /health HTTP/1.1\r\nHost: x\r\n\r\n",
                                  b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                                  b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
                                  b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n"])
def test_what_is_no_http(demo, text):
    with demo.connect() as connection:
        connection.sendall(text)
        stream = connection.makefile("rb")
        error_of(read_reply(stream), 400)
        assert stream.read() == b""  # and closed


def test_keep_alive_and_pipelining(demo):
    with demo.connect() as connection:
        stream = connection.makefile("rb")
        for _ in range(3):
            connection.sendall(http_request("GET", "/health"))
            assert read_reply(stream).status == 200
        requests = [("POST", CHAT, json.dumps(chat_body("你好", max_tokens=4, temperature=0))), ("GET", "/health", ""),
                    ("POST", CHAT, json.dumps(chat_body("你好", max_tokens=4, temperature=0, stream=True))), ("GET", "/nothing", "")]
        connection.sendall(b"".join(http_request(*request) for request in requests))
        replies = [read_reply(stream) for _ in requests]
        assert [reply.status for reply in replies] == [200, 200, 200, 404]
        streamed = "".join(event["choices"][0]["delta"].get("content", "") for event in events(replies[2].body)[:-1])
        assert streamed == replies[0].json()["choices"][0]["message"]["content"]


def test_connection_close_and_http_1_0(demo):
    body = json.dumps(chat_body("你好", max_tokens=4, stream=True)).encode()
    for request in (http_request("GET", "/health", headers={"Connection": "close"}), b"GET /health HTTP/1.0\r\n\r\n",
                    b"POST %s HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (CHAT.encode(), len(body), body)):
        with demo.connect() as connection:
            connection.sendall(request)
            text = connection.makefile("rb").read()  # until the server closes
            assert text.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"chunked" not in text
    assert text.endswith(b"data: [DONE]\n\n")


def test_half_requests_do_no_harm(demo):
    whole = http_request("POST", CHAT, json.dumps(chat_body("你好", max_tokens=1)))
    connections = []
    for length in range(1, len(whole), 7):
        connections.append(demo.connect())
        connections[-1].sendall(whole[:length])
    assert demo.request("GET", "/health").status == 200
    connections[-1].sendall(whole[length:])  # the last one goes on
    assert read_reply(connections[-1].makefile("rb")).status == 200
    for connection in connections:
        connection.close()
    assert demo.request("GET", "/health").status == 200


def test_body_in_small_pieces(demo):
    with demo.connect() as connection:
        for byte in http_request("POST", CHAT, json.dumps(chat_body("你好", max_tokens=1))):
            connection.sendall(bytes([byte]))
        assert read_reply(connection.makefile("rb")).status == 200


def test_aborted_connections(demo):
    for stream in (False, True):
        for _ in range(20):
            connection = demo.connect()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # RST on close
            connection.sendall(http_request("POST", CHAT, json.dumps(chat_body("你好", stream=stream))))
            connection.close()
    assert demo.chat("你好", max_tokens=1).status == 200
