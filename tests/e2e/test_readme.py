"""Both READMEs tell the truth: every command in them runs, and does what its section says. Where one fetches a model,
a hub of the tests' own has the demo and a tiny GGUF file under its name."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from local_hub import Hub
from server import BINARY, ROOT

READMES = ["README.md", "README.zh-CN.md"]


def blocks(readme: str, language: str) -> list[str]:
    text = (ROOT / readme).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def cases(language: str):
    return [pytest.param(block, id=f"{name}-{i}") for name in READMES for i, block in enumerate(blocks(name, language))]


def run(command, **kwargs) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT, **kwargs)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_benchmark_tables_are_those_of_the_results():
    run([sys.executable, ROOT / "tools/make_benchmarks.py", "--check"])


@pytest.mark.parametrize("code", cases("python"))
def test_python(demo, code):
    assert run([sys.executable, "-c", code.replace("http://127.0.0.1:8000/v1", demo.url)]).strip()


@pytest.fixture(scope="module")
def hub():
    hub = Hub()
    hub.add("Qwen/Qwen3-0.6B", ROOT / "models" / "demo")
    tiny = (ROOT / "tests" / "golden" / "tiny" / "qwen3-q8_0.gguf").read_bytes()
    hub.add("Qwen/Qwen3-0.6B-GGUF", {"Qwen3-0.6B-Q8_0.gguf": tiny})
    yield hub
    hub.stop()


@pytest.mark.parametrize("block", cases("bash"))
def test_shell(demo, hub, block, tmp_path):
    environment = os.environ | hub.environment(tmp_path / "home")
    for command in block.replace("\\\n", " ").splitlines():
        if command.startswith("make "):
            # That they work is what CI shows (it runs `make test`, which builds); here: they exist.
            run(["make", "--dry-run", "--no-print-directory", *command.split()[1:]])
            continue
        command = command.replace("http://127.0.0.1:8000", demo.url.removesuffix("/v1"))
        command = command.replace("build/release/qwick", BINARY).replace("/tmp/", f"{tmp_path}/")
        output = run(["bash", "-c", command], stdin=subprocess.DEVNULL, env=environment)
        assert output or command.endswith(" chat")
        assert '"error"' not in output


def test_same_commands():
    """The translation keeps the commands, but for prompts in its own language."""
    def commands(readme):
        text = "\n".join(blocks(readme, "bash") + blocks(readme, "python")).replace(".zh-CN", "")
        return re.sub(r'"[^"]*[^\x00-\x7f][^"]*"|"Hello!"|"What is [^"]*"', '"…"', text)

    assert commands(READMES[0]) == commands(READMES[1])


def test_links():
    for readme in [*READMES, "CONTRIBUTING.md", "ARCHITECTURE.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / readme).read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{readme}: {target}"
    named = re.findall(r"`((?:src|tests|tools|docs|models)/[\w/.-]+)`", (ROOT / "ARCHITECTURE.md").read_text())
    assert named and all((ROOT / path).exists() for path in named)


def test_every_option_is_an_environment_variable():
    environment = {**os.environ, "QWICK_TEXT": "hello", "QWICK_JSON": "true"}
    assert run([BINARY, "tokenize"], env=environment).startswith('{"ids":[')
