"""A qwick that a test has started: its address, its process, and plain HTTP to it."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("QWICK_BIN", str(ROOT / "build" / "release" / "qwick"))
START_SECONDS = 120


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    def json(self):
        return json.loads(self.body)


class Server:
    def __init__(self, *arguments: str, environment: dict[str, str] | None = None, until: str = "Listening on"):
        """Waits for a line of its output: ready, by default."""
        self._until = until
        self.arguments = arguments
        self.process = subprocess.Popen(
            [BINARY, "serve", *arguments, *(() if "--port" in arguments else ("--port", "0"))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, **(environment or {})})
        self.output = ""
        self._listening = threading.Event()
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()
        if not self._listening.wait(START_SECONDS) or self.process.poll() is not None:
            self.kill()
            raise RuntimeError(f"qwick serve {' '.join(arguments)} did not start:\n{self.output}")
        self.host, port = re.search(r"http://(\S+):(\d+)/", self.output).groups()
        self.port = int(port)
        self.url = f"http://{self.host}:{self.port}/v1"

    def _read_output(self):
        for line in self.process.stdout:
            self.output += line
            if self._until in line:
                self._listening.set()
        self._listening.set()

    def stop(self, seconds: float = 30) -> int:
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait(seconds)

    def wait(self, seconds: float = 30) -> int:
        status = self.process.wait(seconds)
        self._reader.join(seconds)
        return status

    def kill(self):
        self.process.kill()
        self.wait()

    def connect(self, timeout: float = 60) -> socket.socket:
        return socket.create_connection((self.host.strip("[]"), self.port), timeout)

    def request(self, method: str, path: str, body: bytes | str = b"", headers: dict[str, str] | None = None) -> Reply:
        with self.connect() as connection:
            connection.sendall(http_request(method, path, body, headers))
            return read_reply(connection.makefile("rb"), method)

    def chat(self, content: str, **fields) -> Reply:
        return self.request("POST", "/v1/chat/completions", json.dumps(chat_body(content, **fields)))

    def token_ids(self, text: str) -> list[int]:
        return self.request("POST", "/tokenize", json.dumps({"prompt": text})).json()["tokens"]


def chat_body(content: str, **fields) -> dict:
    return {"messages": [{"role": "user", "content": content}], **fields}


def http_request(method: str, path: str, body: bytes | str = b"", headers: dict[str, str] | None = None) -> bytes:
    body = body.encode() if isinstance(body, str) else body
    lines = [f"{method} {path} HTTP/1.1", "Host: test"]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def read_reply(stream, method: str = "GET") -> Reply:
    """One reply of a connection, chunked ones put together."""
    status_line = stream.readline().decode()
    if not status_line:
        raise EOFError("the server closed the connection")
    status = int(status_line.split()[1])
    headers = {}
    while (line := stream.readline().decode().rstrip("\r\n")):
        name, value = line.split(": ", 1)
        headers[name.lower()] = value
    if method == "HEAD" or status in (100, 204):
        return Reply(status, headers, b"")
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while (size := int(stream.readline(), 16)):
            body += stream.read(size)
            assert stream.readline() == b"\r\n"
        assert stream.readline() == b"\r\n"
        return Reply(status, headers, body)
    return Reply(status, headers, stream.read(int(headers["content-length"])))


def events(body: bytes) -> list:
    """The events of a stream: JSON, and "[DONE]" last."""
    text = body.decode()
    assert text.endswith("\n\n")
    parts = text[:-2].split("\n\n")
    assert all(part.startswith("data: ") for part in parts), parts
    return [part[6:] if part == "data: [DONE]" else json.loads(part[6:]) for part in parts]


def wait_until(condition, seconds: float = 20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
