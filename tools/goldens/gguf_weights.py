"""Tensors of a GGUF file against the parameters of a model of transformers: names, row order, values.

llama.cpp has names of its own, and permutes the rows of q and k of the llama architecture, because
its RoPE turns neighbours. Used by tiny_gguf.py, make_tiny.py and make_real.py.
"""

from pathlib import Path

import numpy as np
import torch
from gguf import GGUFReader, dequantize

NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def gguf_name(hf_name: str) -> str:
    stem, suffix = hf_name.rsplit(".", 1)
    if stem in NAMES:
        return f"{NAMES[stem]}.{suffix}"
    _, _, layer, part = stem.split(".", 3)
    return f"blk.{layer}.{NAMES[part]}.{suffix}"


def permuted_heads(hf_name: str, config) -> int:
    """How many heads the rows of a permuted tensor make; 0 for a tensor that is not permuted."""
    if config.model_type != "llama":
        return 0
    if ".q_proj." in hf_name:
        return config.num_attention_heads
    return config.num_key_value_heads if ".k_proj." in hf_name else 0


def permute(rows: np.ndarray, n_heads: int) -> np.ndarray:
    """Halves of a head (i, i + head_dim/2) become neighbours (2i, 2i + 1)."""
    return rows.reshape(n_heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def unpermute(rows: np.ndarray, n_heads: int) -> np.ndarray:
    return rows.reshape(n_heads, -1, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def tensors_of(model) -> dict[str, torch.Tensor]:
    """Parameters by name, the tied head left out."""
    return {name: parameter.data for name, parameter in model.named_parameters()}


def dequantised(model, path: Path):
    """(name, parameter, the file's values for it) for each in turn; refuses a tensor left over."""
    tensors = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    for hf_name, parameter in tensors_of(model).items():
        tensor = tensors.pop(gguf_name(hf_name))
        rows = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if n_heads := permuted_heads(hf_name, model.config):
            rows = unpermute(rows, n_heads)
        yield hf_name, parameter, torch.from_numpy(rows.copy()).reshape(parameter.shape)
    if tensors.keys() - {"rope_freqs.weight"}:
        raise SystemExit(f"{path}: tensors left over: {sorted(tensors)}")


def load_weights(model, path: Path) -> None:
    """Puts the dequantised tensors of a GGUF file into a model of transformers."""
    for _, parameter, values in dequantised(model, path):
        parameter.copy_(values)
