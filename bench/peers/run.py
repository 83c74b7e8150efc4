#!/usr/bin/env python3
"""Sets up the peers and measures them with `qwick bench serve`, on the same weights and the same machine.

    bench/peers/run.py [--only NAME,...] [--rounds 3] [--out results.json] [--setup-only]

Rounds alternate: every engine once, then every engine again. One server runs at a time. What can't be set up or
fails is in the results with its reason. `make bench-peers` builds qwick first.
"""
import argparse
import datetime
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

from engines import ENGINES, Engine, versions
from setup import QWICK, Setup

LONGEST_START = 300  # seconds


class Server:
    """An engine's server, from its start until it answers, and its memory."""

    def __init__(self, command: list, log: pathlib.Path):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        command = [str(part) if part != "PORT" else str(self.port) for part in command]
        self.command = command
        begin = time.monotonic()
        with log.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        self.url = f"http://127.0.0.1:{self.port}"
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > begin + LONGEST_START:
                self.stop()
                raise RuntimeError(f"did not start: {' '.join(log.read_text(errors='replace').split()[-30:])}")
            time.sleep(0.005)
        self.ready_ms = 1e3 * (time.monotonic() - begin)

    def is_ready(self) -> bool:
        for path in ("/health/ready", "/health"):
            try:
                with urllib.request.urlopen(self.url + path, timeout=2) as reply:
                    return reply.status == 200
            except urllib.error.HTTPError as error:
                if error.code != 404:
                    return False
            except OSError:
                return False
        return False

    def resident_mib(self) -> float:
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()


def rows_of(engine: Engine, arguments: argparse.Namespace) -> list[tuple[str, int]]:
    """Workloads by clients at once. Long prompts one at a time only, and of the slow what does not take an hour."""
    workloads = arguments.workloads.split(",")
    rows = [(workload, int(n)) for workload in workloads for n in arguments.concurrency.split(",")
            if int(n) == 1 or not workload.startswith("2048/")]
    return rows[:1] if engine.is_slow else rows


def measure(engine: Engine, setup: Setup, arguments: argparse.Namespace, number: int) -> dict:
    """One round: starts the server, runs the guide and the sweep, stops it."""
    server = Server(engine.command(setup, "PORT", arguments.threads), setup.cache / "logs" / f"serve-{engine.name.replace('/', '-')}.log")
    try:
        def bench(mode: str, *options) -> dict:
            done = subprocess.run([QWICK, "bench", "serve", "--url", server.url, "--mode", mode, "--rounds", "1", "--json",
                                   "--model-name", "Qwen-0.6B", "--seed", str(number), "--threads", str(arguments.threads), *options],
                                  stdout=subprocess.PIPE, check=True)
            return json.loads(done.stdout)
        guide = bench("guide")
        sweep = [row for workload, n_clients in rows_of(engine, arguments)
                 for row in bench("sweep", "--workloads", workload, "--concurrency", str(n_clients),
                                  "--requests", str(max(2, n_clients)))["sweep"]]
        return {"command": " ".join(server.command), "machine": guide["machine"], "ready_ms": server.ready_ms,
                "resident_mib": server.resident_mib(), "guide": guide["guide"], "sweep": sweep}
    finally:
        server.stop()


def joined(rounds: list):
    """Rounds of the same shape as one: of each round's median the median, with the least and the most."""
    first = rounds[0]
    if isinstance(first, dict) and set(first) == {"median", "min", "max"}:
        values = [r["median"] for r in rounds]
        return {"median": statistics.median(values), "min": min(values), "max": max(values)}
    if isinstance(first, dict):
        return {key: joined([r[key] for r in rounds]) for key in first}
    if isinstance(first, list):
        return [joined(list(items)) for items in zip(*rounds)]
    return first


def result(engine: Engine, rounds: list[dict], error: str | None) -> dict:
    row = {"name": engine.name, "bits": engine.bits, "weights": engine.weights, "configuration": engine.why,
           "versions": versions(engine), "error": error, "rounds": len(rounds)}
    if rounds:
        row["command"] = rounds[-1]["command"]
        for name in ("ready_ms", "resident_mib"):
            values = [r[name] for r in rounds]
            row[name] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
        row["guide"] = joined([r["guide"] for r in rounds])
        row["sweep"] = joined([r["sweep"] for r in rounds])
        row["read_gb_per_s"] = [r["machine"]["read_gb_per_s"] for r in rounds]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of engines, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workloads", default="128/128,512/64,2048/128,chat")
    parser.add_argument("--concurrency", default="1,8")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache/qwick/peers")
    parser.add_argument("--model", type=pathlib.Path, help="Hugging Face directory; default: random weights of Qwen3-0.6B's shape")
    parser.add_argument("--tokenizer", type=pathlib.Path,
                        default=pathlib.Path.home() / ".cache/qwick/test-models/qwen3-tokenizer", help="for the random weights")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results.json"))
    parser.add_argument("--setup-only", action="store_true")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else [engine.name for engine in ENGINES]
    unknown = set(names) - {engine.name for engine in ENGINES}
    if unknown:
        parser.error(f"no engine {', '.join(sorted(unknown))}; there are {', '.join(engine.name for engine in ENGINES)}")
    setup = Setup(arguments.cache, arguments.model, arguments.tokenizer)
    errors: dict[str, str] = {}
    rounds: dict[str, list[dict]] = {name: [] for name in names}
    engines = [engine for engine in ENGINES if engine.name in names]

    def attempt(engine: Engine, work):
        if engine.name in errors:
            return
        try:
            work()
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            errors[engine.name] = str(error)
            print(f"{engine.name}: {error}", file=sys.stderr)

    for engine in engines:
        attempt(engine, lambda engine=engine: engine.command(setup, 0, arguments.threads))
    for number in range(0 if arguments.setup_only else arguments.rounds):
        for engine in engines:
            print(f"== round {number + 1} of {arguments.rounds}: {engine.name}", file=sys.stderr, flush=True)
            attempt(engine, lambda engine=engine: rounds[engine.name].append(measure(engine, setup, arguments, number)))
        machines = [r["machine"] for one in rounds.values() for r in one]
        results = {"format": 1, "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                   "machine": machines[-1] if machines else None, "threads": arguments.threads,
                   "engines": [result(engine, rounds[engine.name], errors.get(engine.name)) for engine in engines]}
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")  # after each round: it takes long


if __name__ == "__main__":
    main()
