"""Thousands of hostile requests (hostile.py) over many connections: each is answered as it deserves, and nothing
stays behind. QWICK_HOSTILE_REQUESTS: how many, for builds that are slow."""
import concurrent.futures
import io
import json
import os
import pathlib
import re
import socket
import struct

from hostile import Attack, attack
from server import Reply, Server, read_reply, wait_until

N_REQUESTS = int(os.environ.get("QWICK_HOSTILE_REQUESTS", "10000"))
N_THREADS = 4
PER_CONNECTION = 50  # whole requests
MAX_GROWTH_KIB = 8 << 10
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with a reset


class Attacker:
    """One thread's share of the attacks."""

    def __init__(self, server: Server, numbers: range):
        self.server, self.numbers = server, numbers
        self.connection = self.stream = None
        self.n_left = 0
        self.statuses: dict[int, int] = {}

    def run(self) -> dict[int, int]:
        for number in self.numbers:
            one = attack(number)
            try:
                replies = {"whole": self.whole, "raw": self.raw, "leave": self.leave}[one.kind](one)
                self.check(one, replies)
            except Exception as error:
                raise AssertionError(f"attack {number}: {one.payload[:2000]!r}") from error
        self.disconnect()
        return self.statuses

    def check(self, one: Attack, replies: list[Reply]):
        for reply in replies:
            self.statuses[reply.status] = self.statuses.get(reply.status, 0) + 1
            assert reply.status in one.allowed, reply
            if reply.status >= 400 and reply.body:
                error = reply.json()["error"]
                assert set(error) == {"message", "type", "param", "code"} and "\n" not in error["message"]
                assert error["message"] and len(error["message"]) < 1000

    def disconnect(self):
        if self.connection:
            self.connection.close()
            self.stream.close()
        self.connection = None

    def whole(self, one: Attack) -> list[Reply]:
        if self.connection is None or self.n_left == 0:
            self.disconnect()
            self.connection = self.server.connect(30)
            self.stream = self.connection.makefile("rb")
            self.n_left = PER_CONNECTION
        self.n_left -= 1
        self.connection.sendall(one.payload)
        reply = read_reply(self.stream)
        if reply.headers["connection"] == "close":
            self.disconnect()
        return [reply]

    def raw(self, one: Attack) -> list[Reply]:
        said = b""
        with self.server.connect(30) as connection:
            try:
                connection.sendall(one.payload)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # refused before the end
            try:
                while part := connection.recv(65536):
                    said += part
            except ConnectionResetError:
                pass
        stream, replies = io.BytesIO(said), []
        while stream.tell() < len(said):
            method = one.methods[min(len(replies), len(one.methods) - 1)]
            replies.append(read_reply(stream, method))
            # Where it is not valid, it is no HEAD for the server.
            if method == "HEAD" and replies[-1].headers["connection"] == "close":
                stream.read(int(replies[-1].headers["content-length"]))
        assert len(replies) == len(one.methods) or len(one.methods) == 1
        return replies

    def leave(self, one: Attack) -> list[Reply]:
        with self.server.connect(30) as connection:
            connection.sendall(one.payload)
            if len(one.payload) % 2:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        return []


def n_descriptors(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def resident_kib(server: Server) -> int:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def run(server: Server, begin: int, end: int) -> dict[int, int]:
    shares = [Attacker(server, range(begin + i, end, N_THREADS)) for i in range(N_THREADS)]
    total: dict[int, int] = {}
    with concurrent.futures.ThreadPoolExecutor(N_THREADS) as pool:
        for statuses in pool.map(Attacker.run, shares):
            for status, n in statuses.items():
                total[status] = total.get(status, 0) + n
    return total


def is_idle(server: Server) -> bool:
    stats = server.request("GET", "/stats").json()
    return all(stats[name] == 0 for name in ("vllm:num_requests_running", "vllm:num_requests_waiting",
                                             "vllm:kv_cache_usage_perc"))


def test_thousands_of_hostile_requests():
    server = Server("--kv-cache-mib", "16")
    try:
        check(server)
    finally:
        server.kill()


def check(server: Server):
    ask = dict(temperature=0, max_tokens=40, logprobs=True, top_logprobs=2)
    said = server.chat("What is 17 + 25?", **ask).json()["choices"]
    descriptors = n_descriptors(server)

    n_first = N_REQUESTS // 5  # fills what is kept for reuse
    statuses = run(server, 0, n_first)
    wait_until(lambda: is_idle(server))
    resident = resident_kib(server)
    for status, n in run(server, n_first, N_REQUESTS).items():
        statuses[status] = statuses.get(status, 0) + n
    wait_until(lambda: is_idle(server))

    print(f"{N_REQUESTS} hostile requests, answers by status: {json.dumps(dict(sorted(statuses.items())))}")
    assert {200, 400, 404, 405, 413, 431} <= set(statuses)
    wait_until(lambda: n_descriptors(server) <= descriptors)
    if N_REQUESTS >= 10_000:  # sanitizers keep freed memory for a while
        assert resident_kib(server) - resident < MAX_GROWTH_KIB
    assert server.chat("What is 17 + 25?", **ask).json()["choices"] == said
    counted = server.request("GET", "/stats").json()["qwick_http_requests_total"]
    assert not [one for one in counted if one["labels"]["status"] >= "500"]
    assert server.stop() == 0 and " error " not in server.output, server.output
