#!/usr/bin/env python3
"""Writes docs/quality.md: how far the quantised engine is from the reference in 32-bit floats.

    tools/quality.py [--text FILE] [--synth DIRECTORY] > docs/quality.md

The real models are those of `make test-models`; DIRECTORY is what `qwick synth qwen3-0.6b` wrote.
"""
import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = pathlib.Path.home() / ".cache/qwick/test-models"
SMOLLM = MODELS / "smollm2-135m-instruct-q4_1.gguf"
CODER = MODELS / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"

HEAD = """# Quality

Every format against the reference in 32-bit floats over the same weights, on the {n_text} bytes of
`{text}`: the change of perplexity, the mean Kullback-Leibler divergence of the distributions (nats a token)
and how often both have the same most probable token. Made by `tools/quality.py`; one row is
`qwick perplexity MODEL --file {text} --dtype D --kv-type K --against-f32`.

The weights of the two real models are quantised in their files and enter the kernels exactly (K-quants:
with scales rounded to f16; Q6_K in 8 bits), so what differs is the rounding of activations and cache. A
change of perplexity has a standard error of about the root of 2 x divergence / tokens: for the real models
here 0.1 to 0.4 %, so the divergence says more.

| model | weights | cache | tokens | perplexity, reference | quantised | change | divergence | same best |
|---|---|---|---|---|---|---|---|---|
"""

TAIL = """
The last model has random weights of Qwen3-0.6B's exact shape, so its perplexity means nothing and its
distributions are flat; its rows compare the formats with one another.

What stays: activations have 8 bits in groups of 32, with a second 8 for the groups that are much larger
than the rest of their row; keys 8 bits after division by their expected size (16 bits where k has biases);
values 8 bits; queries and softmax weights 16 bits.
"""


def compare(model: pathlib.Path, text: pathlib.Path, dtype: str, kv_type: str) -> dict:
    command = [ROOT / "build/release/qwick", "perplexity", model, "--file", text, "--dtype", dtype,
               "--kv-type", kv_type, "--kv-cache-mib", "1024", "--against-f32", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=pathlib.Path, default=ROOT / "tests/golden/real/text.txt")
    parser.add_argument("--synth", type=pathlib.Path)
    arguments = parser.parse_args()
    rows = [(name, path, "q8", kv_type)
            for name, path in [("SmolLM2-135M-Instruct Q4_1", SMOLLM), ("Qwen2.5-Coder-0.5B-Instruct Q4_K_M", CODER)]
            for kv_type in ("q8", "k16")]
    if arguments.synth:
        rows += [("Qwen3-0.6B's shape, random", arguments.synth, dtype, "q8") for dtype in ("q8", "q6", "q5", "q4")]
    shown = arguments.text.relative_to(ROOT) if arguments.text.is_relative_to(ROOT) else arguments.text
    print(HEAD.format(text=shown, n_text=arguments.text.stat().st_size), end="")
    for name, path, dtype, kv_type in rows:
        r = compare(path, arguments.text, dtype, kv_type)
        weights = "as in the file" if path.suffix == ".gguf" else dtype
        print(f"| {name} | {weights} | {kv_type} | {r['tokens'] - 1} | {r['reference_ppl']:.3f} | {r['ppl']:.3f} | "
              f"{100 * (r['ppl'] / r['reference_ppl'] - 1):+.2f} % | {r['mean_divergence']:.5f} | "
              f"{100 * r['same_best']:.1f} % |", flush=True)
    print(TAIL, end="")


if __name__ == "__main__":
    main()
