"""Writes the tiny random models under tests/golden/tiny and what transformers says of them.

    python tools/goldens/make_tiny.py            remakes all of them

Every architecture, RoPE kind, dtype and style of config.json that qwick reads is there at least once,
as a Hugging Face directory; some of them again as GGUF files (tiny_gguf.py). Before a golden is
written, the script proves that it can fail: every tensor and every RoPE field must move the logits.
"""

import copy
import json
import shutil
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM

import tiny_gguf
from gguf_weights import load_weights
from oracle import GOLDEN, load_fp32, logits_of, relative_difference, write_f32, write_json

TINY = GOLDEN / "tiny"
N_IDS = 40  # past every original_max_position_embeddings below
POSITIONS = [0, 1, 7, 15, 16, 31, 38, 39]
VISIBLE = 1e-2  # a part that matters moves some logit by this much of their range


@dataclass
class Tiny:
    """One model: what its configuration says beyond DEFAULTS, and how it is saved."""

    name: str
    architecture: str
    config: dict
    rope: dict = field(default_factory=lambda: {"rope_type": "default", "rope_theta": 10000.0})
    dtype: torch.dtype = torch.bfloat16
    transformers4: bool = False  # config.json as transformers 4 writes it
    rope_scaling_key: str = "rope_type"  # of rope_scaling in that style; older files say "type"
    shard_size: str = "5GB"


DEFAULTS = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 128, "max_position_embeddings": 64, "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2, "use_cache": True,
}  # fmt: skip
QWEN3 = {"head_dim": 16}
BYTE_VOCAB = {  # those that exist as GGUF too: 256 bytes, a few merges, the special tokens
    "vocab_size": tiny_gguf.VOCAB_SIZE,
    "bos_token_id": tiny_gguf.BOS_ID,
    "eos_token_id": tiny_gguf.EOS_ID,
}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16}
LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
}  # fmt: skip

MODELS = [
    Tiny("qwen3-tied", "qwen3", QWEN3 | BYTE_VOCAB | {"tie_word_embeddings": True},
         rope={"rope_type": "default", "rope_theta": 1000000.0}),
    Tiny("qwen3-wide-heads", "qwen3", {"hidden_size": 48, "intermediate_size": 40, "head_dim": 32,
         "vocab_size": 96, "rms_norm_eps": 1e-5, "num_hidden_layers": 1}, transformers4=True),
    Tiny("qwen3-sharded", "qwen3", QWEN3 | {"num_hidden_layers": 3, "num_key_value_heads": 1,
         "eos_token_id": [2, 3]}, dtype=torch.float16, shard_size="20KB"),
    Tiny("qwen3-yarn", "qwen3", QWEN3 | BYTE_VOCAB | {"tie_word_embeddings": True}, rope=YARN,
         transformers4=True),
    Tiny("qwen3-yarn-attention-factor", "qwen3", QWEN3 | {"num_hidden_layers": 1},
         rope=YARN | {"attention_factor": 1.4, "beta_fast": 1.25, "beta_slow": 0.02}),
    Tiny("qwen3-yarn-untruncated", "qwen3", QWEN3 | {"num_hidden_layers": 1},
         rope=YARN | {"truncate": False, "beta_fast": 1.25, "beta_slow": 0.04}),
    Tiny("qwen2-untied", "qwen2", BYTE_VOCAB | {"rms_norm_eps": 0.02},
         rope={"rope_type": "default", "rope_theta": 1000000.0}),
    Tiny("qwen2-tied", "qwen2", {"tie_word_embeddings": True, "num_key_value_heads": 4,
         "num_hidden_layers": 1}, dtype=torch.float32, transformers4=True),
    Tiny("qwen2-linear", "qwen2", BYTE_VOCAB | {"tie_word_embeddings": True, "num_attention_heads": 2,
         "num_key_value_heads": 1}, rope={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.5},
         transformers4=True, rope_scaling_key="type"),
    Tiny("llama-untied", "llama", BYTE_VOCAB | {"num_key_value_heads": 4, "rms_norm_eps": 1e-5}),
    Tiny("llama-tied", "llama", {"tie_word_embeddings": True, "num_attention_heads": 2,
         "num_key_value_heads": 1}, rope={"rope_type": "default", "rope_theta": 100000.0},
         transformers4=True),
    Tiny("llama-biases", "llama", BYTE_VOCAB | {"tie_word_embeddings": True, "attention_bias": True,
         "mlp_bias": True}),
    Tiny("llama-llama3", "llama", BYTE_VOCAB | {"tie_word_embeddings": True, "num_attention_heads": 2,
         "num_key_value_heads": 1}, rope=LLAMA3, transformers4=True),
    Tiny("llama-linear", "llama", {"head_dim": 16, "num_hidden_layers": 1},
         rope={"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0}, dtype=torch.float16),
]  # fmt: skip

# Other values of the RoPE fields: each must change the answer of a model that has the field.
OTHER_ROPE = {"factor": 2.0, "rope_theta": 3000.0, "original_max_position_embeddings": 48, "beta_fast": 0.5,
              "beta_slow": 0.5, "attention_factor": 1.0, "truncate": True, "low_freq_factor": 0.25,
              "high_freq_factor": 16.0}  # fmt: skip


def seed_of(name: str) -> int:
    return zlib.crc32(name.encode())


def randomise(model, seed: int) -> None:
    """Weights that make every part count: attention that prefers, norms off 1, biases off 0."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in sorted(model.named_parameters()):
        noise = torch.randn(parameter.shape, generator=generator)
        if name.endswith("norm.weight"):
            value = 1.0 + 0.3 * noise
        elif name.endswith(".bias"):
            value = 0.5 * noise
        elif "embed_tokens" in name:
            value = 0.5 * noise
        else:
            value = 1.5 * noise / parameter.shape[1] ** 0.5
        parameter.data.copy_(value)


def make_config(tiny: Tiny, rope: dict | None = None):
    values = DEFAULTS | tiny.config | {"rope_parameters": copy.deepcopy(rope or tiny.rope)}
    return AutoConfig.for_model(tiny.architecture, **values)


def as_transformers4(folder: Path, tiny: Tiny) -> None:
    """config.json as transformers 4.51 wrote it: rope_theta, rope_scaling, torch_dtype."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    kind = rope.pop("rope_type")
    config["rope_scaling"] = None if kind == "default" else rope | {tiny.rope_scaling_key: kind}
    config["torch_dtype"] = config.pop("dtype")
    config["transformers_version"] = "4.51.0"
    config.pop("layer_types", None)
    if config.get("head_dim") == config["hidden_size"] // config["num_attention_heads"]:
        del config["head_dim"]
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def check_sensitive(tiny: Tiny, folder: Path, ids: list[int], expected: np.ndarray) -> None:
    """Every tensor and every RoPE field must show in the logits at the positions kept."""
    model = load_fp32(folder)
    for name, parameter in model.named_parameters():
        saved = parameter.data.clone()
        parameter.data.copy_(saved.roll(1, 0))
        change = relative_difference(logits_of(model, ids)[POSITIONS], expected)
        parameter.data.copy_(saved)
        if change < VISIBLE:
            raise SystemExit(f"{tiny.name}: {name} hardly matters ({change:.1e} of the range)")
    for key in tiny.rope:
        if key == "rope_type":
            continue
        other = load_fp32(folder, config=make_config(tiny, tiny.rope | {key: OTHER_ROPE[key]}))
        change = relative_difference(logits_of(other, ids)[POSITIONS], expected)
        if change < VISIBLE:
            raise SystemExit(f"{tiny.name}: RoPE {key} hardly matters ({change:.1e} of the range)")


def write_golden(golden: Path, logits: Path, ids: list[int], values: np.ndarray) -> None:
    write_f32(logits, values)
    write_json(golden, {
        "ids": ids,
        "logits_positions": POSITIONS,
        "vocab_size": values.shape[1],
        "logits_file": logits.name,
    })  # fmt: skip


def make_directory(tiny: Tiny) -> tuple[list[int], np.ndarray]:
    folder = TINY / tiny.name
    model = AutoModelForCausalLM.from_config(make_config(tiny))
    randomise(model, seed_of(tiny.name))
    model.to(tiny.dtype).save_pretrained(folder, max_shard_size=tiny.shard_size)

    rng = np.random.default_rng(seed_of(tiny.name))
    ids = rng.integers(0, model.config.vocab_size, N_IDS).tolist()
    logits = logits_of(load_fp32(folder), ids)[POSITIONS]
    if tiny.transformers4:
        as_transformers4(folder, tiny)
        if not np.array_equal(logits_of(load_fp32(folder), ids)[POSITIONS], logits):
            raise SystemExit(f"{tiny.name}: config.json of transformers 4 reads as another model")
    check_sensitive(tiny, folder, ids, logits)
    write_golden(folder / "golden.json", folder / "golden_logits.f32", ids, logits)
    return ids, logits


def make_gguf(variant: tiny_gguf.Variant, ids: list[int], unquantised: np.ndarray) -> float:
    """Writes NAME.gguf and its golden: its own dequantised weights in its directory's model."""
    path = TINY / variant.file
    folder = TINY / variant.model
    tiny_gguf.write(path, folder, variant)
    model = load_fp32(folder)
    load_weights(model, path)
    logits = logits_of(model, ids)[POSITIONS]
    difference = relative_difference(logits, unquantised)
    if variant.lossless and difference > 0:
        raise SystemExit(f"{variant.file}: not the weights of {variant.model} ({difference:.1e})")
    write_golden(TINY / f"{path.stem}.golden.json", TINY / f"{path.stem}.golden_logits.f32", ids, logits)
    return difference


def main() -> None:
    shutil.rmtree(TINY, ignore_errors=True)
    TINY.mkdir(parents=True)
    cases, scored = [], {}
    for tiny in MODELS:
        scored[tiny.name] = make_directory(tiny)
        cases.append({"model": tiny.name, "golden": f"{tiny.name}/golden.json"})
        logits = scored[tiny.name][1]
        print(f"{tiny.name:32} logits {logits.min():6.2f} .. {logits.max():5.2f}")
    for variant in tiny_gguf.VARIANTS:
        difference = make_gguf(variant, *scored[variant.model])
        cases.append({"model": variant.file, "golden": f"{Path(variant.file).stem}.golden.json"})
        print(f"{variant.file:32} {difference:.1e} of the range from the unquantised")
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    (TINY / "index.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
