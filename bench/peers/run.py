#!/usr/bin/env python3
"""Measures qwick and its peers with one client on the same weights; sets up what is not there yet.

    bench/peers/run.py [--engines qwick,llama.cpp:Q4_0,...] [--rounds N] [--out results.json]

Each engine's server is first tried: does it come up, does it give exactly the tokens that are asked? Then the rounds:
every engine in turn, then every engine again, so that a machine that changes its speed changes it for all. One that
fails is reported with its reason. Results are written after every engine.
"""
import argparse
import contextlib
import datetime
import json
import pathlib
import platform
import signal
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request

from engines import Engine, choose, output
from workshop import PeerError, Workshop, last_line

ROOT = pathlib.Path(__file__).resolve().parents[2]
READY_SECONDS = 300

# Workloads, clients at once, requests of each (0: as `qwick bench serve` chooses).
SWEEP = [("128/128,512/64,2048/128", 1, 1), ("128/128", 8, 8), ("chat", 1, 1)]
LONG_SWEEP = [("128/128,512/64,2048/128", 1, 2), ("128/128,512/64,2048/128", 8, 8), ("chat", 1, 0), ("chat", 8, 0)]
SLOW_SWEEP = [("128/128,512/64", 1, 1), ("chat", 1, 1)]


class Server:
    """An engine's server, from its start until it answers, and until it is stopped."""

    def __init__(self, engine: Engine, workshop: Workshop, threads: int):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = workshop.log(f"serve-{engine.id}")
        self.command = [str(word) for word in engine.server(workshop, self.port, threads)]
        self.url = f"http://127.0.0.1:{self.port}"
        start = time.monotonic()
        with self.log.open("w") as file:
            self.process = subprocess.Popen(self.command, stdout=file, stderr=file, env=workshop.environment)
        while not self.answers(engine.ready):
            if self.process.poll() is not None:
                raise PeerError(f"the server stopped: {last_line(self.log)}")
            if time.monotonic() - start > READY_SECONDS:
                self.stop()
                raise PeerError(f"not ready within {READY_SECONDS} s: {last_line(self.log)}")
            time.sleep(0.005)
        self.ready_ms = 1e3 * (time.monotonic() - start)

    def answers(self, path: str) -> bool:
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as reply:
                return reply.status == 200
        except OSError:
            return False

    def check(self, n_tokens: int = 24) -> None:
        """An answer has the length that was asked, in events of a token each."""
        body = {"model": "Qwen-0.6B", "prompt": [9707, 11, 1879, 0], "max_tokens": n_tokens, "min_tokens": n_tokens,
                "ignore_eos": True, "temperature": 0, "stream": True, "stream_options": {"include_usage": True}}
        request = urllib.request.Request(self.url + "/v1/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=READY_SECONDS) as reply:
                events = [line[6:] for line in reply.read().decode().splitlines() if line.startswith("data: {")]
        except urllib.error.HTTPError as error:
            raise PeerError(f"status {error.code}: {error.read().decode()[:200]}") from error
        except OSError as error:
            raise PeerError(f"no answer: {error}; {last_line(self.log)}") from error
        usages = [event["usage"] for event in map(json.loads, events) if event.get("usage")]
        if not usages or usages[-1]["completion_tokens"] != n_tokens or len(events) < n_tokens // 2:
            raise PeerError(f"asked for {n_tokens} tokens, got {usages[-1:]} in {len(events)} events")

    def memory_mib(self) -> dict[str, float]:
        process = pathlib.Path(f"/proc/{self.process.pid}")
        lines = (process / "status").read_text() + (process / "smaps_rollup").read_text()
        fields = dict(line.split(":", 1) for line in lines.splitlines() if ":" in line)
        return {name: int(fields[field].split()[0]) / 1024
                for name, field in (("resident_mib", "VmRSS"), ("resident_peak_mib", "VmHWM"), ("pss_mib", "Pss"))}

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def serving(engine: Engine, workshop: Workshop, threads: int):
    server = Server(engine, workshop, threads)
    try:
        yield server
    finally:
        server.stop()


def measure_server(engine: Engine, workshop: Workshop, threads: int, seed: int, is_long: bool) -> dict:
    with serving(engine, workshop, threads) as server:
        ready = server.memory_mib()["resident_mib"]

        def client(*options) -> dict:
            return json.loads(output([workshop.qwick, "bench", "serve", "--url", server.url, "--rounds", "1",
                                      "--seed", seed, "--json", *options], workshop))

        guide = client("--mode", "guide")["guide"]
        sweep = []
        for workloads, n_clients, n_requests in SLOW_SWEEP if engine.is_slow else LONG_SWEEP if is_long else SWEEP:
            sweep += client("--mode", "sweep", "--workloads", workloads, "--concurrency", n_clients,
                            "--requests", n_requests)["sweep"]
        return {"ready_ms": figure([server.ready_ms]), "resident_ready_mib": figure([ready]),
                **{name: figure([value]) for name, value in server.memory_mib().items()},
                "guide": guide, "sweep": sweep}


def figure(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def with_figures(value):
    """What `qwick bench engine` prints, each measured number a figure of one round."""
    if isinstance(value, dict):
        return {name: with_figures(part) for name, part in value.items()}
    if isinstance(value, list):
        return [with_figures(part) for part in value]
    return figure([value]) if isinstance(value, float) else value


def over_rounds(rounds: list):
    """The same results of several rounds as one: a figure of each round's median."""
    first = rounds[0]
    if isinstance(first, dict) and set(first) == {"median", "min", "max"}:
        values = [each["median"] for each in rounds if each["median"] is not None]
        return figure(values) if values else first
    if isinstance(first, dict):
        return {name: over_rounds([each[name] for each in rounds if name in each]) for name in first}
    if isinstance(first, list):
        return [over_rounds(list(parts)) for parts in zip(*rounds)]
    return max(rounds) if isinstance(first, int | float) else first


class Results:
    """One row an engine, kept as a file that is whole at any time."""

    def __init__(self, engines: list[Engine], workshop: Workshop, out: pathlib.Path, machine: dict):
        self.out = out
        self.workshop = workshop
        self.rounds: dict[str, list[dict]] = {engine.id: [] for engine in engines}
        self.rows = {engine.id: {"name": engine.name, "weights": engine.weights} for engine in engines}
        self.head = {"format": 1, "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                     "machine": machine}

    def add(self, engine: Engine, results: dict) -> None:
        self.rounds[engine.id].append(results)
        self.write()

    def fail(self, engine: Engine, error: Exception) -> None:
        self.rows[engine.id]["failed"] = str(error)
        print(f"{engine.id}: {error}", flush=True)
        self.write()

    def write(self) -> None:
        rows = [{**row, "rounds": len(self.rounds[name]), **(over_rounds(self.rounds[name]) if self.rounds[name] else {})}
                for name, row in self.rows.items()]
        unfinished = self.out.with_name(f".{self.out.name}")
        unfinished.write_text(json.dumps({**self.head, "setup_seconds": self.workshop.seconds, "engines": rows},
                                         indent=1, ensure_ascii=False) + "\n")
        unfinished.replace(self.out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="all", help="names, or names:weights, with commas; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="0: set up and try only")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--measure", default="serve,engine", help="serve: over HTTP; engine: without")
    parser.add_argument("--long", action="store_true", help="every workload by one and by eight clients: hours")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results.json"))
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("~/.cache/qwick/peers"))
    parser.add_argument("--qwick", type=pathlib.Path, default=ROOT / "build" / "release" / "qwick")
    parser.add_argument("--tokenizer", type=pathlib.Path, default=pathlib.Path("~/.cache/qwick/test-models/qwen3-tokenizer"),
                        help="directory of Qwen3's tokenizer.json and tokenizer_config.json (`make test-models`)")
    arguments = parser.parse_args()
    engines = choose(arguments.engines)
    workshop = Workshop(arguments.cache, arguments.qwick, arguments.tokenizer)
    if not workshop.qwick.exists():
        raise SystemExit(f"{workshop.qwick} is not there: run `make build`")
    if not (workshop.tokenizer / "tokenizer.json").exists():
        raise SystemExit(f"{workshop.tokenizer} has no tokenizer.json: run `make test-models`")
    machine = {"system": platform.platform(), **json.loads(output([workshop.qwick, "bench", "limits", "--json"]))}
    results = Results(engines, workshop, arguments.out, machine)

    for engine in engines:
        try:
            with serving(engine, workshop, arguments.threads) as server:
                server.check()
                results.rows[engine.id] |= {"version": engine.version(workshop), "config": " ".join(server.command)}
            print(f"{engine.id}: works", flush=True)
        except PeerError as error:
            results.fail(engine, error)

    for i in range(arguments.rounds):
        for engine in engines:
            if "failed" in results.rows[engine.id]:
                continue
            print(f"round {i + 1} of {arguments.rounds}: {engine.id}", flush=True)
            try:
                measured = {}
                if "serve" in arguments.measure:
                    measured |= measure_server(engine, workshop, arguments.threads, i, arguments.long)
                if "engine" in arguments.measure and engine.direct:
                    measured["engine"] = with_figures(engine.direct(workshop, arguments.threads))
                results.add(engine, measured)
            except PeerError as error:
                results.fail(engine, error)
    results.write()
    n_failed = sum("failed" in row for row in results.rows.values())
    print(f"{len(engines) - n_failed} of {len(engines)} engines work; {arguments.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
