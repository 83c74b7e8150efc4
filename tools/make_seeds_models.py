"""Seeds of the fuzz targets gguf, safetensors and config: tiny files written by the Python packages
gguf and safetensors, so that they are also a second opinion on the formats.

    python tools/make_seeds_models.py        (gguf 0.19.0, safetensors, numpy; writes tests/fuzz/corpus/)
"""

import json
import pathlib
import struct

import gguf
import numpy as np
from safetensors.numpy import save

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "tests/fuzz/corpus"
D_MODEL, HEADS, KV_HEADS, D_FF, VOCAB = 8, 2, 1, 16, 10


def write_gguf(name, architecture, quantized=None, **extra):
    """One layer; quantized: the type of w_down, whose rows are then a block long."""
    d_ff = D_FF if quantized is None else gguf.GGML_QUANT_SIZES[quantized][0]
    head_dim = 6 if architecture == "qwen3" else D_MODEL // HEADS
    writer = gguf.GGUFWriter(CORPUS / "gguf" / name, architecture)
    writer.add_name("Tiny")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(D_MODEL)
    writer.add_feed_forward_length(d_ff)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    if architecture == "qwen3":
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["a", "b", "<|im_end|>"])
    writer.add_token_types([1, 1, 3])
    writer.add_eos_token_id(2)
    writer.add_array("seed.floats", [0.5, 1.0])
    writer.add_bool("tokenizer.ggml.add_bos_token", False)
    for key, value in extra.items():
        key = f"{architecture}.{key.replace('__', '.')}"
        (writer.add_string if isinstance(value, str) else writer.add_float32)(key, value)

    def add(tensor, *shape):
        writer.add_tensor(tensor, np.zeros(shape, np.float32 if len(shape) == 1 else np.float16))

    add("token_embd.weight", VOCAB, D_MODEL)
    add("output_norm.weight", D_MODEL)
    if architecture == "llama":
        add("rope_freqs.weight", head_dim // 2)
        writer.tensors[-1]["rope_freqs.weight"].tensor[:] = 1.0
    for role, rows, cols in [("attn_q", HEADS * head_dim, D_MODEL), ("attn_k", KV_HEADS * head_dim, D_MODEL),
                             ("attn_v", KV_HEADS * head_dim, D_MODEL), ("attn_output", D_MODEL, HEADS * head_dim),
                             ("ffn_gate", d_ff, D_MODEL), ("ffn_up", d_ff, D_MODEL)]:
        add(f"blk.0.{role}.weight", rows, cols)
        if architecture == "qwen2" and role in ("attn_q", "attn_k", "attn_v"):
            add(f"blk.0.{role}.bias", rows)
    down = np.zeros((D_MODEL, d_ff), np.float32)
    if quantized is None:
        writer.add_tensor("blk.0.ffn_down.weight", down)
    else:
        writer.add_tensor("blk.0.ffn_down.weight", gguf.quants.quantize(down, quantized), raw_dtype=quantized)
    for role, n in [("attn_norm", D_MODEL), ("ffn_norm", D_MODEL)]:
        add(f"blk.0.{role}.weight", n)
    if architecture == "qwen3":
        add("blk.0.attn_q_norm.weight", head_dim)
        add("blk.0.attn_k_norm.weight", head_dim)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_configs():
    base = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
            "intermediate_size": 16, "vocab_size": 10, "max_position_embeddings": 64, "rms_norm_eps": 1e-6}
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 1e6,
            "attention_factor": 1.1, "beta_fast": 32, "beta_slow": 1, "truncate": False}
    llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 32}
    configs = {
        "transformers4.json": {**base, "model_type": "qwen3", "head_dim": 6, "rope_theta": 1000000,
                               "rope_scaling": None, "torch_dtype": "bfloat16", "eos_token_id": 9,
                               "tie_word_embeddings": True, "use_sliding_window": False},
        "transformers5.json": {**base, "model_type": "qwen2", "rope_parameters": yarn, "dtype": "bfloat16",
                               "eos_token_id": [8, 9], "layer_types": ["full_attention"]},
        "llama3.json": {**base, "model_type": "llama", "rope_scaling": llama3, "attention_bias": True,
                        "mlp_bias": True, "hidden_act": "silu"},
        "linear.json": {**base, "model_type": "llama", "rope_scaling": {"type": "linear", "factor": 2.0}},
        "generation.json": {"do_sample": True, "eos_token_id": [2, 1], "temperature": 0.6, "top_k": 20,
                            "top_p": 0.95, "min_p": 0.0, "repetition_penalty": 1.05},
    }
    for name, config in configs.items():
        (CORPUS / "config" / name).write_text(json.dumps(config, indent=1))
    (CORPUS / "config" / "nan.json").write_text('{"model_type": "qwen3", "rope_theta": NaN}')


def write_safetensors():
    out = CORPUS / "safetensors"
    tensors = {"a": np.ones((2, 3), np.float32), "b": np.zeros(4, np.float16), "c": np.array(1, np.float32)}
    data = save(tensors, metadata={"format": "pt"})
    (out / "three.safetensors").write_bytes(data)
    (out / "empty.safetensors").write_bytes(save({}))
    (out / "truncated.safetensors").write_bytes(data[:-3])
    (out / "long_header.safetensors").write_bytes(struct.pack("<Q", 1 << 63) + data[8:])
    index = {"metadata": {"total_size": 4}, "weight_map": {"a": "a.safetensors"}}
    (out / "index.json").write_text(json.dumps(index))


def write_packed():
    """A header of exec/cpu/packed_file.h (the fuzzer puts its checksum right) and 4 bytes of payload."""
    header = struct.pack("<8sIIQQQQQ", b"qwickpk\n", 1, 0, 1, 2, 4, 3, 0)
    (CORPUS / "packed" / "header").write_bytes(header + b"abcd")


def main():
    for folder in ("gguf", "safetensors", "config", "packed"):
        (CORPUS / folder).mkdir(parents=True, exist_ok=True)
    write_gguf("qwen3.gguf", "qwen3")
    write_gguf("qwen2.gguf", "qwen2", rope__scaling__type="yarn", rope__scaling__factor=4.0)
    write_gguf("llama.gguf", "llama", gguf.GGMLQuantizationType.Q4_0)
    write_gguf("llama_q5_1.gguf", "llama", gguf.GGMLQuantizationType.Q5_1)
    write_configs()
    write_safetensors()
    write_packed()
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file():
            print(path.relative_to(CORPUS), path.stat().st_size)


if __name__ == "__main__":
    main()
