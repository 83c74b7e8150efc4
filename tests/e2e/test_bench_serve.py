"""`qwick bench serve`: what it asks, and that its figures are those of what came back."""
import http.server
import json
import subprocess
import threading
import time

import pytest

from server import BINARY, Server


def bench(*arguments: str, code: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run([BINARY, "bench", "serve", *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return done


def results(*arguments: str) -> dict:
    return json.loads(bench(*arguments, "--json").stdout)


def spreads(tree):
    """All figures over rounds, with their names."""
    for name, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict) and set(value) == {"median", "min", "max"}:
            yield name, value
        elif isinstance(value, (dict, list)):
            yield from spreads(value)


def test_all_modes_of_a_server_of_its_own():
    found = results("demo", "--mode", "all", "--rounds", "2", "--concurrency", "1,3", "--workloads", "32/16,chat", "--rates", "50",
                    "--model-name", "mine")
    assert found["format"] == 1 and found["rounds"] == 2 and found["machine"]["threads"] >= 1
    assert found["command"] == ("qwick bench serve demo --mode all --model-name mine --rounds 2 --workloads 32/16,chat "
                                "--concurrency 1,3 --rates 50")
    server = found["server"]
    assert server["name"].startswith("qwick ") and server["model"] == "mine"
    assert server["ready_ms"] > 0 and server["resident_mib"] > 5
    for name, figure in spreads(found):
        assert 0 <= figure["min"] <= figure["median"] <= figure["max"], name

    assert [row["case"] for row in found["guide"]] == ["as is", "each prompt new"]
    for row in found["guide"]:
        assert row["n_requests"] == 20 and row["n_failed"] == 0 and row["answer_tokens"] == 10
        assert row["min_ms"]["median"] <= row["p50_ms"]["median"] <= row["p95_ms"]["median"] <= row["max_ms"]["median"]
        assert row["first_token_ms"]["median"] < row["p50_ms"]["median"]

    assert [(row["workload"], row["concurrency"], row["rate_per_s"]) for row in found["sweep"]] == [
        (workload, n, rate) for workload in ("32/16", "chat") for n, rate in ((1, None), (3, None), (None, 50))]
    for row in found["sweep"]:
        assert row["n_failed"] == 0
        assert row["answer_tokens"] == (16 if row["workload"] == "32/16" else 64)
        assert row["latency_ms"]["p50"]["max"] < 60_000 and row["good_share"]["max"] <= 1

    ablation = found["ablation"]
    assert [step["step"] for step in ablation["steps"]] == ["initial state", "+ KV cache", "+ batch of 4", "+ batch of 8",
                                                            "+ streaming and warm-up"]
    for step in ablation["steps"]:
        assert 0 < step["compute_utilization"]["median"] <= 100
    assert ablation["steps"][0]["first_text_ms"] == ablation["steps"][0]["p50_ms"]  # in one piece
    assert ablation["steps"][-1]["first_text_ms"]["median"] < ablation["steps"][-1]["p50_ms"]["median"]
    assert ablation["conversation"]["saved"]["median"] < 1


def test_tables():
    done = bench("demo", "--rounds", "1", "--answer-tokens", "3")
    assert "as is" in done.stdout and "each prompt new" in done.stdout and "guide, round 1 of 1" in done.stderr


class Slow(http.server.BaseHTTPRequestHandler):
    """A stranger: ten pieces of text, 10 ms between them, after 40 ms. Keeps what it is asked. Every third answer may fail."""
    protocol_version = "HTTP/1.1"
    asked: list[dict] = []
    fails = None

    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body["path"], body["key"] = self.path, self.headers["Authorization"]
        self.asked.append(body)
        fails = self.fails if len(self.asked) % 3 == 0 else None
        if fails == "status":
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if body["stream"] else "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        if not body["stream"]:
            time.sleep(0.13)
            self.wfile.write(json.dumps({"choices": [{"message": {"content": "All."}}]}).encode())
            return
        time.sleep(0.04)
        for i in range(10):
            if i > 0:
                time.sleep(0.01)
            piece = {"text": f" {i}"} if "prompt" in body else {"delta": {"content": f" {i}"}}
            self.wfile.write(f"data: {json.dumps({'choices': [piece]})}\r\n\r\n".encode())
            self.wfile.flush()
            if fails == "cut" and i == 5:
                return
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_):
        pass


@pytest.fixture
def stranger():
    Slow.asked, Slow.fails = [], None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_stranger_is_timed(stranger):
    found = results("--url", stranger + "/v1/", "--mode", "all", "--rounds", "1", "--concurrency", "1,4", "--workloads", "20/10,chat",
                    "--requests", "4", "--model-name", "theirs", "--api-key", "secret", "--seed", "3")
    assert found["server"]["name"] == "unknown" and found["server"]["resident_mib"] is None
    for row in found["sweep"]:
        assert row["answer_tokens"] == 10  # counted by pieces: it says nothing of usage
        assert 40 <= row["first_token_ms"]["p50"]["median"] < 80
        assert 10 <= row["inter_token_ms"]["p50"]["median"] < 20
        assert 130 <= row["latency_ms"]["p50"]["median"] < 260
        assert row["good_share"]["median"] == 1
    one, four = found["sweep"][:2]
    assert 35 < one["tokens_per_s"]["median"] < 10 / 0.13 and 2 < four["tokens_per_s"]["median"] / one["tokens_per_s"]["median"] < 4.5
    assert found["ablation"]["steps"][0]["compute_utilization"] is None
    assert 130 <= found["ablation"]["steps"][0]["first_text_ms"]["median"] < 260

    assert all(body["model"] == "theirs" and body["key"] == "Bearer secret" for body in Slow.asked)
    completions = [body for body in Slow.asked if body["path"] == "/v1/completions"]
    prompts = [body["prompt"] for body in completions]
    assert len(set(prompts)) == len(prompts) == 9  # none can be in a cache
    assert all(len(prompt.split()) == 20 and body["max_tokens"] == 10 and body["ignore_eos"]
               for prompt, body in zip(prompts, completions))
    chats = [body["messages"] for body in Slow.asked if len(body.get("messages", [])) == 12 and "use_cache" not in body]
    assert chats and all(message["content"] == " 0 1 2 3 4 5 6 7 8 9" for message in chats[0][2::2])
    assert [message["role"] for message in chats[0][:3]] == ["system", "user", "assistant"]


@pytest.mark.parametrize("fails, reason", [("status", "status 503"), ("cut", "without [DONE]")])
def test_failures_are_counted_and_named(stranger, fails, reason):
    Slow.fails = fails
    done = bench("--url", stranger, "--mode", "sweep", "--rounds", "1", "--concurrency", "2", "--workloads", "20/10", "--requests", "8", "--json")
    row = json.loads(done.stdout)["sweep"][0]
    assert row["n_failed"] == 3 and reason in done.stderr
    assert row["good_share"]["median"] == 5 / 8


def test_goodput(stranger):
    found = results("--url", stranger, "--mode", "sweep", "--rounds", "1", "--concurrency", "1", "--workloads", "20/10", "--requests", "2",
                    "--slo-first-token", "20")
    assert found["sweep"][0]["good_share"]["median"] == 0 and found["sweep"][0]["goodput_per_s"]["median"] == 0


def test_random_arrivals(stranger):
    found = results("--url", stranger, "--mode", "sweep", "--rounds", "1", "--workloads", "20/10", "--concurrency", "1", "--rates", "40", "--requests", "15")
    at_rate = found["sweep"][1]
    assert at_rate["n_requests"] == 15 and 10 < at_rate["requests_per_s"]["median"] < 60


def test_dataset(stranger, tmp_path):
    lines = [{"prompt": "Once", "max_tokens": 7},
             {"messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}], "max_tokens": 5},
             {"conversations": [{"from": "human", "value": "A"}, {"from": "gpt", "value": "x" * 40},
                                {"from": "human", "value": "B"}, {"from": "gpt", "value": "y" * 4000}]}]
    file = tmp_path / "data.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    found = results("--url", stranger, "--mode", "sweep", "--rounds", "1", "--concurrency", "4", "--requests", "20", "--dataset", str(file))
    assert [row["workload"] for row in found["sweep"]] == ["file"]
    seen = {json.dumps([body.get("prompt", [m["content"] for m in body.get("messages", [])]), body["max_tokens"]]) for body in Slow.asked}
    answer = " 0 1 2 3 4 5 6 7 8 9"
    assert seen == {json.dumps(entry) for entry in (["Once", 7], [["Be short.", "Hi"], 5], [["A"], 10], [["A", answer, "B"], 256])}


@pytest.mark.parametrize("text, reason", [
    ("{\n", "line 1"), ('{"a": 1}\n', "line 1 has neither"), ('{"prompt": "x"}\n[]\n', "line 2 is not a JSON object"),
    ('{"prompt": 1}\n', 'line 1 has no text "prompt"'), ('{"prompt": "x", "max_tokens": -1}\n', '"max_tokens"'),
    ('{"messages": [{"role": "assistant", "content": "x"}]}\n', "no message of a user"), ("\n", "no line has a conversation")])
def test_bad_dataset(tmp_path, text, reason):
    file = tmp_path / "data.jsonl"
    file.write_text(text)
    done = bench("--mode", "sweep", "--dataset", str(file), code=2)
    assert reason in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments, reason", [
    (["--mode", "x"], "guide, sweep, ablation"), (["--rounds", "0"], "--rounds"), (["--concurrency", "0"], "--concurrency"),
    (["--rates", "0"], "--rates"), (["--workloads", ""], "--workloads"), (["--url", "localhost"], "http://"),
    (["--mode", "sweep", "--workloads", "12"], '"12"'), (["--answer-tokens", "0"], "--answer-tokens")])
def test_refuses(arguments, reason):
    done = bench(*arguments, code=2)
    assert reason in done.stderr.splitlines()[-1]


def test_a_report_that_cannot_be_written():
    done = bench("--report", "/nowhere/report.html", code=1)
    assert "/nowhere/report.html" in done.stderr and done.stderr.count("\n") == 1


def test_nobody_there():
    done = bench("--url", "http://127.0.0.1:1", "--rounds", "1", code=1)
    assert "127.0.0.1:1" in done.stderr.splitlines()[-1]


def test_a_server_that_cannot_start():
    done = bench("demo", "--ctx", "100000000", code=1)
    assert "--ctx" in done.stderr and "did not start" in done.stderr


def test_a_server_that_runs_already():
    server = Server()
    try:
        found = results("--url", f"http://{server.host}:{server.port}", "--rounds", "1")
        assert found["server"]["name"].startswith("qwick ") and found["server"]["ready_ms"] is None
        assert found["guide"][0]["prompt_tokens"] > 1
    finally:
        assert server.stop() == 0
