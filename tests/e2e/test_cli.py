"""The command line as a person uses it, on the built-in demo: output, errors, exit statuses."""
import json
import math
import signal
import subprocess
import time

import pexpect
import pytest

from server import BINARY, ROOT

DEMO = ROOT / "models" / "demo"


def qwick(*arguments, text: str | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([BINARY, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=120,
                          check=False)


def result(*arguments, text: str | None = None):
    done = qwick(*arguments, text=text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_help_lists_every_command():
    text = qwick("--help").stdout
    for command in ["serve", "chat", "generate", "tokenize", "perplexity", "pack", "inspect", "synth"]:
        assert command in text
        assert qwick(command, "--help").returncode == 0
    assert qwick("--version").stdout.startswith("qwick ")


def test_wrong_usage_is_status_2():
    for arguments in [[], ["nonsense"], ["serve", "--port", "99999"], ["perplexity", "demo"], ["generate", "--nope"]]:
        done = qwick(*arguments)
        assert done.returncode == 2, arguments
        assert done.stderr


def test_tokenize_round_trip():
    text = "Hello, 世界! <|im_end|>\n\tdef f(x): return x  "
    ids = result("tokenize", "demo", "--text", text, "--json")["ids"]
    plain = result("tokenize", "demo", "--text", text, "--no-special", "--json")["ids"]
    assert len(plain) > len(ids)
    for some in (ids, plain):
        assert result("tokenize", "demo", "--decode", "--ids", ",".join(map(str, some)), "--json")["text"] == text
    assert result("tokenize", "demo", "--json", text=text)["ids"] == ids
    lines = qwick("tokenize", "demo", "--jsonl", text=f"{json.dumps(text)}\n\"\"\n").stdout.splitlines()
    assert [json.loads(line)["ids"] for line in lines] == [ids, []]


def test_directory_and_built_in_are_the_same():
    for arguments in [["tokenize", "--text", "你好", "--json"], ["generate", "--prompt", "Hello", "--json"]]:
        command, *rest = arguments
        assert result(command, "demo", *rest) == result(command, DEMO, *rest)


def test_generate_is_the_same_every_time():
    arguments = ["generate", "demo", "--chat", "--prompt", "你好", "--temperature", "3", "--json"]
    first = result(*arguments, "--seed", "7")
    assert result(*arguments, "--seed", "7", "--threads", "1") == first
    assert any(result(*arguments, "--seed", seed) != first for seed in range(8, 20))


def test_generate_reports_why_it_ended():
    arguments = ["generate", "demo", "--chat", "--prompt", "What is 2 + 3?", "--no-think", "--json"]
    done = result(*arguments)
    assert done["finish_reason"] == "stop" and "5" in done["text"]
    short = result(*arguments, "--max-tokens", "2", "--ignore-eos")
    assert short["finish_reason"] == "length" and short["ids"] == done["ids"][:2]
    prompt = result("tokenize", "demo", "--text", "Hello", "--json")["ids"]
    by_ids = result("generate", "demo", "--ids", ",".join(map(str, prompt)), "--json")
    assert by_ids == result("generate", "demo", "--prompt", "Hello", "--json")


def test_perplexity(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("<|im_start|>user\nHello!<|im_end|>\n<|im_start|>assistant\n", encoding="utf-8")
    scores = result("perplexity", "demo", "--file", file, "--logprobs", "--json")
    assert len(scores["logprobs"]) == scores["tokens"] - 1
    assert all(value < 0 for value in scores["logprobs"])
    mean = sum(scores["logprobs"]) / len(scores["logprobs"])
    assert scores["ppl"] == pytest.approx(math.exp(-mean))
    file.write_text("a", encoding="utf-8")
    assert qwick("perplexity", "demo", "--file", file).returncode == 2


def test_inspect_shows_the_demo():
    about = result("inspect", "demo", "--json")
    assert about["architecture"] == "qwen3" and about["parameters"] > 100_000
    assert sum(tensor["bytes"] for tensor in about["tensors"]) == about["memory"]["weight_bytes"]
    assert "qwen3" in qwick("inspect", "demo").stdout


@pytest.mark.parametrize("broken", ["missing", "empty", "text", "truncated", "config"])
def test_broken_models_are_one_line_and_status_2(tmp_path, broken):
    target = tmp_path / "model"
    if broken == "empty":
        (tmp_path / "model").write_bytes(b"")
    elif broken == "text":
        target.write_text("hello world, this is no model at all")
    elif broken == "truncated":
        target.mkdir()
        for file in DEMO.iterdir():
            data = file.read_bytes()
            (target / file.name).write_bytes(data[:-100] if file.name == "model.safetensors" else data)
    elif broken == "config":
        target.mkdir()
        for file in DEMO.iterdir():
            (target / file.name).write_bytes(file.read_bytes())
        config = json.loads((DEMO / "config.json").read_text())
        (target / "config.json").write_text(json.dumps(config | {"rms_norm_eps": float("nan")}))
    for command in [["inspect"], ["generate", "--prompt", "x"], ["serve", "--port", "0"]]:
        done = qwick(command[0], target, *command[1:])
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1 and str(target) in done.stderr, done.stderr


def test_synth_makes_a_model_that_runs(tmp_path):
    target = tmp_path / "synth"
    assert qwick("synth", "qwen3-0.6b", target, "--layers", "1", "--seed", "3").returncode == 0
    about = result("inspect", target, "--json")
    assert (about["d_model"], about["n_heads"], about["n_kv_heads"], about["head_dim"], about["d_ff"],
            about["vocab_size"], about["max_positions"]) == (1024, 16, 8, 128, 3072, 151936, 40960)
    answer = result("generate", target, "--prompt", "Hi", "--max-tokens", "3", "--ignore-eos", "--json")
    assert len(answer["ids"]) == 3


def test_port_in_use():
    with subprocess.Popen([BINARY, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True) as first:
        try:
            line = next(line for line in first.stdout if "Listening" in line)
            port = line.split("/v1")[0].rsplit(":", 1)[1]
            second = qwick("serve", "--port", port)
            assert second.returncode == 1
            assert port in second.stderr and "in use" in second.stderr
        finally:
            first.send_signal(signal.SIGTERM)
        assert first.wait(30) == 0


def test_chat_in_a_terminal():
    child = pexpect.spawn(BINARY, ["chat", "--temperature", "0"], encoding="utf-8", timeout=60)
    child.expect("> ")
    child.sendline("/no_think")
    child.expect("> ")
    child.sendline("My name is Ada.")
    child.expect("tokens/s")
    child.expect("> ")
    child.sendline("What is my name?")
    child.expect("Ada")
    child.expect("> ")
    child.sendline("/reset")
    child.expect("> ")
    child.sendintr()  # at the prompt: a hint, and the program goes on
    child.expect("Ctrl-D")
    child.sendline("/help")
    child.expect("/system")
    child.sendline("/exit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_interrupt_stops_the_answer_and_not_the_program(tmp_path):
    synth = tmp_path / "synth"
    assert qwick("synth", "qwen3-0.6b", synth, "--layers", "2").returncode == 0
    child = pexpect.spawn(BINARY, ["chat", str(synth), "--max-tokens", "4000"], encoding="utf-8", timeout=60)
    child.expect("> ")
    child.sendline("Tell me something long.")
    time.sleep(3)
    child.sendintr()
    child.expect("stopped")
    child.expect("> ")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_chat_reads_a_pipe():
    done = qwick("chat", "--no-think", text="你好\n")
    assert done.returncode == 0 and done.stdout.strip() and "> " not in done.stdout
