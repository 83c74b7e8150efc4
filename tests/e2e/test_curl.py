"""curl, as shell scripts use it: whole answers, streams, errors."""
import json
import shutil
import subprocess
import time

import pytest
from server import chat_body, events

QUESTION = chat_body("What is 12 + 30?", temperature=0, enable_thinking=False)
# The demo is brief by nature; so hot and so averse to repetition, it goes on until max_tokens.
LONG = chat_body("Hello!", temperature=2, top_k=0, top_p=1, repetition_penalty=100, seed=5, enable_thinking=False, max_tokens=400)


@pytest.fixture(scope="module", autouse=True)
def program():
    if shutil.which("curl") is None:
        pytest.skip("no curl: tools/install_deps.sh test")


def command(url: str, body: dict | None = None, *options: str) -> list[str]:
    data = [] if body is None else ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    return ["curl", "-sS", "--max-time", "60", url, *data, *options]


def curl(*arguments) -> bytes:
    done = subprocess.run(command(*arguments), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def chat(demo, body: dict | None, *options: str) -> bytes:
    return curl(f"{demo.url}/chat/completions", body, *options)


def test_whole_answer(demo):
    completion = json.loads(chat(demo, QUESTION))
    assert "42" in completion["choices"][0]["message"]["content"]


def test_stream(demo):
    chunks = events(chat(demo, {**QUESTION, "stream": True}, "-N"))
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks[:-1])
    assert chunks[-1] == "[DONE]" and text == json.loads(chat(demo, QUESTION))["choices"][0]["message"]["content"]


def test_stream_comes_as_it_is_written(demo):
    with subprocess.Popen(command(f"{demo.url}/chat/completions", {**LONG, "stream": True}, "-N"), stdout=subprocess.PIPE) as process:
        began = time.monotonic()
        arrived = [time.monotonic() - began for line in process.stdout if line.startswith(b"data: ")]
    assert process.returncode == 0
    assert len(arrived) > 10 and arrived[0] < arrived[-1] / 2


def test_stream_over_http_1_0(demo):
    """What is not in chunks ends with the connection."""
    chunks = events(chat(demo, {**QUESTION, "stream": True}, "-N", "--http1.0"))
    assert chunks[-1] == "[DONE]" and len(chunks) > 3


def test_large_body_after_100_continue(demo, tmp_path):
    """curl waits for it before it sends; not long, but here it is told to."""
    file = tmp_path / "body.json"
    file.write_text(json.dumps({**QUESTION, "metadata": {"padding": "x" * 2_000_000}}))
    began = time.monotonic()
    said = chat(demo, None, "--json", f"@{file}", "-H", "Expect: 100-continue", "--expect100-timeout", "30")
    assert "42" in json.loads(said)["choices"][0]["message"]["content"]
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("path, body, status, code", [
    ("/chat/completions", {**QUESTION, "temperature": 7}, 400, None),
    ("/chat/completions", {**QUESTION, "temperature": 7, "stream": True}, 400, None),
    ("/chat/completions", {**QUESTION, "model": "gpt-4o"}, 404, "model_not_found"),
    ("/nothing", None, 404, "unknown_url"),
    ("/chat/completions", None, 405, None)])
def test_errors(demo, path, body, status, code):
    said, _, shown = curl(demo.url + path, body, "-w", "\n%{http_code} %{content_type}").rpartition(b"\n")
    assert shown == b"%d application/json" % status
    error = json.loads(said)["error"]
    assert error["message"] and error["type"] and error["code"] == code
    done = subprocess.run(command(demo.url + path, body, "--fail-with-body"), capture_output=True, check=False)
    assert done.returncode == 22 and json.loads(done.stdout)["error"] == error


def test_several_requests_on_one_connection(demo):
    url = f"{demo.url}/models"
    count = curl(url, None, "-o", "/dev/null", url, "-o", "/dev/null", "-w", "%{num_connects}\n").split()
    assert count == [b"1", b"0"]
