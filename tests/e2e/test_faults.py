"""Bad days: clients that leave, stall, reset and send rubbish beside good ones; a server that is killed or told to stop
under load. Every answer that ends is the one that the same request gets alone."""
import io
import json
import os
import pathlib
import random
import signal
import socket
import struct
import threading
import time

from server import Server, chat_body, events, http_request, read_reply, wait_until

N_CONNECTIONS = 64
N_REQUESTS = int(os.environ.get("QWICK_FAULT_REQUESTS", "2000"))
QUESTIONS = ["What is 12 + 30?", "Hello!", "你好", "My name is Ann.", "Who are you?", "Tell me a joke", "What is 7 + 7?", "谢谢"]


def all_requests() -> list[dict]:
    made = []
    for i, question in enumerate(QUESTIONS * 6):
        made.append(chat_body(question * (1 + i % 5), max_tokens=4 + i % 60, seed=i, temperature=(0, 0.7, 1.5)[i % 3],
                              enable_thinking=i % 2 == 0, use_cache=i % 4 != 0, ignore_eos=i % 7 == 0,
                              **({"frequency_penalty": 0.5} if i % 5 == 0 else {}), **({"stop": ["o", "好"]} if i % 6 == 0 else {}),
                              **({"n": 3} if i % 11 == 0 else {})))
    return made


def said(answer: dict) -> list[tuple]:
    """What an answer says, without its id and time."""
    return [(choice["message"]["content"], choice["message"].get("reasoning_content", ""), choice["finish_reason"])
            for choice in answer["choices"]]


def said_in_stream(chunks: list) -> list[tuple]:
    assert chunks[-1] == "[DONE]"
    said_by = {}
    for chunk in chunks[:-1]:
        for choice in chunk["choices"]:
            one = said_by.setdefault(choice["index"], ["", "", None])
            one[0] += choice["delta"].get("content", "")
            one[1] += choice["delta"].get("reasoning_content", "")
            one[2] = choice["finish_reason"] or one[2]
    return [tuple(said_by[index]) for index in sorted(said_by)]


def alone(server, bodies: list[dict]) -> list[list[tuple]]:
    return [said(server.request("POST", "/v1/chat/completions", json.dumps(body)).json()) for body in bodies]


def chat_bytes(body: dict) -> bytes:
    return http_request("POST", "/v1/chat/completions", json.dumps(body))


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Client:
    """A client with one connection at a time and a habit for each request."""

    def __init__(self, server: Server, bodies: list[dict], wanted: list, seed: int):
        self.server, self.bodies, self.wanted = server, bodies, wanted
        self.random = random.Random(seed)
        self.connection = None
        self.n_compared = 0

    def connected(self) -> socket.socket:
        if self.connection is None:
            self.connection = self.server.connect()
        return self.connection

    def left(self, how=socket.socket.close):
        how(self.connection)
        self.connection = None

    def one(self):
        which = self.random.randrange(len(self.bodies))
        habit = self.random.choices(("whole", "stream", "leave", "reset", "slow", "bad", "half"), (8, 6, 2, 2, 1, 2, 1))[0]
        getattr(self, habit)(self.bodies[which], self.wanted[which])

    def check(self, answer, wanted):
        assert answer == wanted
        self.n_compared += 1

    def whole(self, body, wanted):
        self.connected().sendall(chat_bytes(body))
        reply = read_reply(self.connection.makefile("rb"))
        assert reply.status == 200, reply
        self.check(said(reply.json()), wanted)

    def stream(self, body, wanted):
        self.connected().sendall(chat_bytes({**body, "stream": True}))
        self.check(said_in_stream(events(read_reply(self.connection.makefile("rb")).body)), wanted)

    def slow(self, body, wanted):
        self.connected().sendall(chat_bytes({**body, "stream": True}))
        received = b""
        while not received.endswith(b"0\r\n\r\n"):
            received += self.connection.recv(200)
            time.sleep(0.002)
        self.check(said_in_stream(events(read_reply(io.BytesIO(received)).body)), wanted)

    def leave(self, body, _wanted, how=socket.socket.close):
        self.connected().sendall(chat_bytes({**body, "stream": self.random.random() < 0.5, "max_tokens": 200, "ignore_eos": True}))
        if self.random.random() < 0.5:
            time.sleep(self.random.random() * 0.02)
        self.left(how)

    def reset(self, body, wanted):
        self.leave(body, wanted, reset)

    def bad(self, body, _wanted):
        broken = self.random.choice((b"{", b'{"messages": 5}', json.dumps({**body, "top_p": 7}).encode(), b"\xff" * 40))
        self.connected().sendall(http_request("POST", "/v1/chat/completions", b"")[:-2] +
                                 f"Content-Length: {len(broken)}\r\n\r\n".encode() + broken)
        assert read_reply(self.connection.makefile("rb")).status == 400

    def half(self, body, _wanted):
        whole = chat_bytes(body)
        self.connected().sendall(whole[:self.random.randrange(1, len(whole))])
        self.left()


def run_clients(clients: list[Client], n_requests: int) -> None:
    failures = []
    left = iter(range(n_requests))
    lock = threading.Lock()

    def work(client: Client):
        try:
            while True:
                with lock:
                    if next(left, None) is None or failures:
                        return
                client.one()
        except BaseException as error:  # noqa: BLE001 (told by the main thread)
            failures.append(error)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        if client.connection is not None:
            client.left()
    if failures:
        raise failures[0]


def n_descriptors(server) -> int:
    return len(list(pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()))


def resident_kib(server) -> int:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def stats(server) -> dict:
    return server.request("GET", "/stats").json()


def nothing_is_left(server) -> bool:
    now = stats(server)
    return now["vllm:num_requests_running"] == now["vllm:num_requests_waiting"] == now["vllm:kv_cache_usage_perc"] == 0


def test_good_clients_among_bad_ones():
    server = Server("--kv-cache-mib", "4", "--max-queue", "1000")  # little enough to preempt
    try:
        bodies = all_requests()
        wanted = alone(server, bodies)
        n_before = n_descriptors(server)
        clients = [Client(server, bodies, wanted, seed) for seed in range(N_CONNECTIONS)]
        run_clients(clients, N_REQUESTS // 2)
        wait_until(lambda: nothing_is_left(server))
        first_half = resident_kib(server)
        run_clients(clients, N_REQUESTS // 2)
        wait_until(lambda: nothing_is_left(server))
        wait_until(lambda: n_descriptors(server) <= n_before)
        assert resident_kib(server) - first_half < 8 << 10
        assert alone(server, bodies[:8]) == wanted[:8]
        n_compared = sum(client.n_compared for client in clients)
        assert n_compared > N_REQUESTS / 3
        print(f"{n_compared} answers, all equal to those of the same requests alone")
    finally:
        assert server.stop() == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_killed_and_started_again_behind_clients_that_retry():
    port = str(free_port())
    bodies = all_requests()[:16]
    server = Server("--port", port)
    wanted = alone(server, bodies)
    servers = [server]
    done, failures = [], []

    def work(seed: int):
        rng = random.Random(seed)
        for _ in range(12):
            which = rng.randrange(len(bodies))
            for _ in range(400):
                try:
                    reply = servers[-1].request("POST", "/v1/chat/completions", json.dumps(bodies[which]))
                except (OSError, EOFError, ValueError):  # no server, or the end of one in mid-answer
                    time.sleep(0.05)
                    continue
                if reply.status == 200:
                    done.append(said(reply.json()) == wanted[which])
                    break
                if reply.status != 503:  # loading
                    failures.append(reply)
                time.sleep(0.05)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for n_wanted in (20, 60, 100):
        wait_until(lambda n=n_wanted: len(done) >= n)
        servers[-1].process.send_signal(signal.SIGKILL)
        servers[-1].wait()
        servers.append(Server("--port", port))
    for thread in threads:
        thread.join()
    assert not failures
    assert len(done) == 16 * 12 and all(done)
    assert servers[-1].stop() == 0


def test_term_during_streams_loses_none():
    server = Server("--max-batch", "4")  # so that most still wait for their turn
    bodies = [{**body, "stream": True, "max_tokens": 150, "ignore_eos": True, "n": 1} for body in all_requests()[:16]]
    wanted = alone(server, [{**body, "stream": False} for body in bodies])
    connections = [server.connect() for _ in bodies]
    for connection, body in zip(connections, bodies):
        connection.sendall(chat_bytes(body))
    files = [connection.makefile("rb") for connection in connections]
    heads = [file.peek(1) for file in files]  # each has begun
    assert all(heads)
    server.process.send_signal(signal.SIGTERM)
    for file, answer in zip(files, wanted):
        assert said_in_stream(events(read_reply(file).body)) == answer
    assert server.wait() == 0
