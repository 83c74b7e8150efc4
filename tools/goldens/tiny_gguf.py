"""The tiny models again as GGUF files, as llama.cpp's converter writes them. Used by make_tiny.py.

Tensors are named and permuted as gguf_weights.py says; RoPE scaling goes to metadata, or for llama3 to
the tensor rope_freqs.weight. The tokenizer is byte-level: 256 bytes, a few merges, special tokens.
"""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from gguf import GGMLQuantizationType as Type
from gguf import GGUFWriter, RopeScalingType, TokenType, quantize
from transformers import AutoConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from gguf_weights import gguf_name, permute, permuted_heads, tensors_of
from oracle import load_fp32

MERGES = ["Ġ t", "h e", "Ġt he", "i n"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
VOCAB_SIZE = 264
BOS_ID = 256 + len(MERGES)
EOS_ID = BOS_ID + 2
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass
class Variant:
    """One GGUF file: the model it is made of and the type of its matrices."""

    file: str
    model: str
    matrices: Type
    others: dict = field(default_factory=dict)  # by the end of a tensor's name: another type
    lossless: bool = False


VARIANTS = [
    Variant("qwen3-f32.gguf", "qwen3-tied", Type.F32, lossless=True),
    Variant("qwen3-q8_0.gguf", "qwen3-tied", Type.Q8_0),
    Variant("qwen3-q4_0.gguf", "qwen3-tied", Type.Q4_0),
    Variant("qwen3-yarn.gguf", "qwen3-yarn", Type.BF16, lossless=True),
    Variant("qwen2-mixed.gguf", "qwen2-untied", Type.Q5_0, others={
        "attn_v": Type.Q8_0, "ffn_down": Type.Q5_1, "ffn_gate": Type.Q4_1, "output": Type.F16}),
    Variant("qwen2-linear.gguf", "qwen2-linear", Type.Q8_0),
    Variant("llama-f16.gguf", "llama-untied", Type.F16),
    Variant("llama-q8_0.gguf", "llama-untied", Type.Q8_0),
    Variant("llama-q4_0.gguf", "llama-untied", Type.Q4_0),
    Variant("llama-biases.gguf", "llama-biases", Type.Q8_0),
    Variant("llama-llama3.gguf", "llama-llama3", Type.Q8_0),
]  # fmt: skip


def byte_tokens() -> list[str]:
    """GPT-2's printable stand-ins, one for each byte, in the order of the bytes."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte if byte in printable else 256 + others.index(byte)) for byte in range(256)]


def add_tokenizer(writer: GGUFWriter, pre: str) -> None:
    normal = byte_tokens() + [merge.replace(" ", "") for merge in MERGES]
    padding = [f"[PAD{i}]" for i in range(VOCAB_SIZE - len(normal) - len(SPECIAL))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(normal + SPECIAL + padding)
    writer.add_token_types([TokenType.NORMAL] * len(normal) + [TokenType.CONTROL] * len(SPECIAL)
                           + [TokenType.UNUSED] * len(padding))  # fmt: skip
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(BOS_ID)
    writer.add_eos_token_id(EOS_ID)
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def add_rope(writer: GGUFWriter, config, head_dim: int) -> None:
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    if config.model_type == "llama":
        writer.add_rope_dimension_count(head_dim)
    kind = rope["rope_type"]
    if kind == "llama3":
        scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
        plain = 1.0 / (rope["rope_theta"] ** (torch.arange(0, head_dim, 2).float() / head_dim))
        writer.add_tensor("rope_freqs.weight", (plain / scaled).numpy())
    elif kind != "default":
        writer.add_rope_scaling_type(RopeScalingType(kind))
        writer.add_rope_scaling_factor(rope["factor"])
        if kind == "yarn":
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def add_metadata(writer: GGUFWriter, config, variant: Variant) -> None:
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_name(f"tiny {variant.model}")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if config.model_type == "qwen3":
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    if config.model_type == "llama":
        writer.add_vocab_size(config.vocab_size)
    add_rope(writer, config, head_dim)
    add_tokenizer(writer, "smollm" if config.model_type == "llama" else "qwen2")


def matrix_type(name: str, variant: Variant) -> Type:
    return variant.others.get(name.removesuffix(".weight").rsplit(".", 1)[-1], variant.matrices)


def write(path: Path, folder: Path, variant: Variant) -> None:
    """The model of a Hugging Face directory as a GGUF file."""
    config = AutoConfig.from_pretrained(folder)
    writer = GGUFWriter(path, config.model_type)
    add_metadata(writer, config, variant)
    for hf_name, tensor in tensors_of(load_fp32(folder)).items():
        values = tensor.numpy()
        if n_heads := permuted_heads(hf_name, config):
            values = permute(values, n_heads)
        name = gguf_name(hf_name)
        kind = matrix_type(name, variant) if values.ndim == 2 else Type.F32
        writer.add_tensor(name, quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
