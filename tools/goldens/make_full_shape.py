"""The shape of Qwen3-0.6B with random weights: the golden of two layers, and by hand all of them.

    python tools/goldens/make_full_shape.py build/release/qwick
        `qwick synth` writes two layers of it with seed 0; transformers scores 16 ids in fp32. Writes
        tests/golden/full_shape/qwen3-0.6b-2layers.json and .f32. The weights are not kept: they are
        a function of the seed, and their SHA-256 in the golden says whether synth still makes them.

    python tools/goldens/make_full_shape.py build/release/qwick --layers 28
        Writes nothing. Scores tests/golden/real/text.txt, as Qwen3's tokenizer has it, with
        `qwick perplexity --dtype f32` and with transformers, and prints the largest difference
        (4 GB of memory; needs tools/fetch_test_models.py).
"""

import argparse
import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch

from oracle import GOLDEN, load_fp32, logits_of, test_models, write_f32, write_json

SHAPE = "qwen3-0.6b"
SEED = 0
GOLDEN_LAYERS = 2
N_IDS = 16
N_POSITIONS = 4  # the last ones: they attend to all the others
N_SAMPLED = 512  # of the vocabulary, evenly spaced
TEXT = GOLDEN / "real" / "text.txt"


def synth(qwick: Path, folder: Path, layers: int, *more) -> list[str]:
    arguments = ["--layers", str(layers), "--seed", str(SEED)]
    subprocess.run([qwick, "synth", SHAPE, folder, *arguments, *more], check=True)
    return [SHAPE, *arguments]


def weights_sha256(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


def make_golden(qwick: Path, folder: Path) -> None:
    arguments = synth(qwick, folder, GOLDEN_LAYERS)
    model = load_fp32(folder)
    ids = np.random.default_rng(SEED).integers(0, model.config.vocab_size, N_IDS).tolist()
    rows = logits_of(model, ids)[-N_POSITIONS:]
    vocab_ids = np.linspace(0, model.config.vocab_size - 1, N_SAMPLED).round().astype(int)

    stem = GOLDEN / "full_shape" / f"{SHAPE}-{GOLDEN_LAYERS}layers"
    stem.parent.mkdir(parents=True, exist_ok=True)
    logits = Path(f"{stem}.f32")
    write_f32(logits, rows[:, vocab_ids])
    write_json(Path(f"{stem}.json"), {
        "synth": arguments,
        "weights_sha256": weights_sha256(folder),
        "ids": ids,
        "logits_positions": list(range(N_IDS - N_POSITIONS, N_IDS)),
        "vocab_ids": vocab_ids.tolist(),
        "argmax": rows.argmax(axis=1).tolist(),
        "min": rows.min(axis=1).tolist(),
        "max": rows.max(axis=1).tolist(),
        "logits_file": logits.name,
    })  # fmt: skip
    print(f"{logits}: logits {rows.min():.3f} .. {rows.max():.3f}")


def qwick_json(*command) -> dict:
    return json.loads(subprocess.run([*command, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def compare(qwick: Path, folder: Path, layers: int) -> None:
    synth(qwick, folder, layers, "--tokenizer", test_models() / "qwen3-tokenizer")
    ids = qwick_json(qwick, "tokenize", folder, "--file", TEXT)["ids"]
    ours = qwick_json(qwick, "perplexity", folder, "--file", TEXT, "--dtype", "f32", "--logprobs")["logprobs"]
    rows = torch.from_numpy(logits_of(load_fp32(folder), ids)[:-1])
    picked = torch.log_softmax(rows, dim=-1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0].numpy()
    difference = float(np.abs(np.array(ours) - picked).max())
    logits_range = float(rows.max() - rows.min())
    print(f"{SHAPE}, {layers} layers, {len(picked)} tokens scored: largest difference of a log-probability "
          f"{difference:.2e}, {difference / logits_range:.2e} of the logits' range ({logits_range:.2f})")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("qwick", type=Path, help="the qwick binary")
    parser.add_argument("--layers", type=int, help="compare a model of so many layers instead of writing the golden")
    arguments = parser.parse_args()
    qwick = arguments.qwick.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / SHAPE
        if arguments.layers:
            compare(qwick, folder, arguments.layers)
        else:
            make_golden(qwick, folder)


if __name__ == "__main__":
    main()
