"""The real GGUF files against transformers' own dequantised run (tests/golden/real, by tools/goldens)."""
import json
import os
import pathlib
import subprocess

import pytest

from server import BINARY, ROOT

REAL = ROOT / "tests" / "golden" / "real"
MODELS = pathlib.Path(os.environ.get("QWICK_TEST_MODELS", pathlib.Path.home() / ".cache" / "qwick" / "test-models"))


@pytest.fixture(params=["smollm2", "qwen2.5-coder"])
def golden(request):
    golden = json.loads((REAL / f"{request.param}.json").read_text(encoding="utf-8"))
    golden["path"] = MODELS / golden["file"]
    if not golden["path"].exists():
        pytest.skip(f"no {golden['path']}: make test-models")
    return golden


def qwick(*arguments):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_log_probabilities(golden):
    text = REAL / golden["text_file"]
    assert qwick("tokenize", golden["path"], "--file", text, "--json")["ids"] == golden["ids"]
    ours = qwick("perplexity", golden["path"], "--file", text, "--logprobs", "--json", "--dtype", "f32")["logprobs"]
    assert len(ours) == len(golden["logprobs"])
    largest = max(abs(a - b) for a, b in zip(ours, golden["logprobs"], strict=True))
    print(f"\n{golden['file']}: {len(ours)} log-probabilities compared, largest difference {largest:.1e}")
    assert largest < 1e-3


def test_greedy_answers(golden):
    for case in golden["greedy"]:
        prompt = ",".join(map(str, case["prompt_ids"]))
        done = qwick("generate", golden["path"], "--ids", prompt, "--temperature", "0", "--max-tokens", len(case["ids"]),
                     "--dtype", "f32", "--json")
        assert done["ids"] == case["ids"], case["messages"]
    print(f"\n{golden['file']}: {len(golden['greedy'])} greedy answers, the same tokens")
