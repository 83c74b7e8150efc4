"""`qwick bench` and `perplexity --against-f32`: what they measure is there and plausible; how fast is no matter here."""
import json
import subprocess

from server import BINARY, ROOT


def run(*arguments: str) -> dict:
    done = subprocess.run([BINARY, *arguments, "--json"], capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout)


def test_limits():
    machine = run("bench", "limits", "--threads", "1")
    assert machine["threads"] == 1 and machine["isa"]
    assert machine["read_gb_per_s"] > 0.1 and machine["int8_gmac_per_s"] > 0.1


def test_engine():
    report = run("bench", "engine", "demo", "--rounds", "1")
    assert [row["tokens"] for row in report["prompt"]][:2] == [16, 128]
    assert report["decode"][0]["depth"] == 0
    assert [row["sequences"] for row in report["batch"]] == [1, 2, 4, 8, 16]
    assert report["batch"][0]["times_one"] == 1
    for row in [*report["prompt"], *report["decode"], *report["batch"]]:
        assert row["tokens_per_s"] > 0
    assert report["first_token"]["ms"] > 0 and report["resident_mib"] > report["weight_mib"] > 1


def test_engine_refuses():
    for arguments, reason in [(["--rounds", "0"], "--rounds"), (["--ctx", "64"], "64 tokens is too short")]:
        done = subprocess.run([BINARY, "bench", "engine", "demo", *arguments], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 2 and reason in done.stderr and done.stderr.count("\n") == 1


def test_quality():
    """8 bits stay near the reference, 4 bits further away."""
    def compared(dtype):
        text = ROOT / "tests/golden/real/text.txt"
        return run("perplexity", "demo", "--file", str(text), "--dtype", dtype, "--against-f32")

    q8, q4 = compared("q8"), compared("q4")
    assert q8["reference_ppl"] == q4["reference_ppl"]
    assert 0 < q8["mean_divergence"] < 0.01 < q4["mean_divergence"]
    assert q8["same_best"] > 0.9 and q8["same_best"] > q4["same_best"]
