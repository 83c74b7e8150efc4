"""The oracle of model/reference: transformers in fp32, and how its answers are written down.

Used by the make_*.py beside it. A model is always scored as loaded from its saved file in fp32:
casting a module in memory would round its rotary table to the narrower type.
"""

import json
import os
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM
from transformers.utils import logging

logging.disable_progress_bar()
logging.set_verbosity_error()

REPOSITORY = Path(__file__).resolve().parents[2]
GOLDEN = REPOSITORY / "tests" / "golden"


def test_models() -> Path:
    """The folder of the real models (tools/fetch_test_models.py)."""
    default = Path.home() / ".cache" / "qwick" / "test-models"
    return Path(os.environ.get("QWICK_TEST_MODELS") or default)


def load_fp32(source, **kwargs):
    """A model in fp32 with the plain attention, ready to score. Fails where a tensor was not found."""
    model, info = AutoModelForCausalLM.from_pretrained(
        source, dtype=torch.float32, attn_implementation="eager", output_loading_info=True, **kwargs
    )
    problems = {key: value for key, value in info.items() if value}
    if problems:
        raise SystemExit(f"{source}: transformers did not load this cleanly: {problems}")
    return model.eval()


@torch.no_grad()
def logits_of(model, ids) -> np.ndarray:
    """[n_tokens, vocab_size] f32: one forward over the whole sequence."""
    return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float().numpy()


def relative_difference(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference as a part of the range of b."""
    return float(np.abs(a - b).max() / (b.max() - b.min()))


def write_f32(path: Path, values: np.ndarray) -> None:
    path.write_bytes(np.ascontiguousarray(values, dtype="<f4").tobytes())


def write_json(path: Path, value: dict) -> None:
    """One key a line, arrays on their key's line: short, and a diff shows what changed."""
    lines = [f"  {json.dumps(key)}: {json.dumps(item, ensure_ascii=False)}" for key, item in value.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
