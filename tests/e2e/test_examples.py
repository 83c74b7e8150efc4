"""The examples run as they stand."""
import os
import subprocess
import sys

import pytest
from server import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_example(demo, path):
    done = subprocess.run([sys.executable, path], env={**os.environ, "QWICK_URL": demo.url}, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_examples_are_found():
    assert len(EXAMPLES) >= 6


def test_conversation_remembers_the_name(demo):
    path = ROOT / "examples" / "langchain" / "conversation.py"
    done = subprocess.run([sys.executable, path], env={**os.environ, "QWICK_URL": demo.url}, capture_output=True,
                          text=True, timeout=120)
    assert "Bob" in done.stdout.splitlines()[-1], done.stdout
