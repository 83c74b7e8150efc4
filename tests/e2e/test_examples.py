"""The examples run as they stand."""
import functools
import os
import re
import subprocess
import sys

import pytest
from server import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))


@functools.cache
def run(path, url: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, path], env={**os.environ, "QWICK_URL": url}, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_example(demo, path):
    done = run(path, demo.url)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_examples_are_found():
    assert len(EXAMPLES) >= 10


def test_conversation_remembers_the_name(demo):
    said = run(ROOT / "examples" / "langchain" / "conversation.py", demo.url).stdout
    assert "Bob" in said.splitlines()[-1], said
    turns = re.findall(r"\((\d+) of (\d+) tokens were in the cache, \d+ ms\)", said)
    assert len(turns) == 4 and all(int(cached) < int(sent) for cached, sent in turns)
    assert int(turns[-1][0]) > 0, said


def test_benchmark_gives_the_figures(demo):
    said = run(ROOT / "examples" / "langchain" / "benchmark.py", demo.url).stdout
    figures = {name: float(value) for name, value in re.findall(r"^(\w+): ([\d.]+)", said, re.M)}
    assert list(figures) == ["p50", "p95", "avg", "min", "max", "qps"], said
    assert 0 < figures["min"] <= figures["p50"] <= figures["p95"] <= figures["max"]
    assert figures["min"] <= figures["avg"] <= figures["max"] and figures["qps"] == pytest.approx(1000 / figures["avg"], rel=0.05)
