"""Makes models/demo: a Qwen3-architecture model of some two million weights, from nothing but this folder.

    python tools/demo_model/train.py [--out models/demo] [--steps N] [--seed S]

Trains the tokenizer, then the model, on the endless corpus of corpus.py; the loss is on the words the
assistant writes. Writes config.json, generation_config.json, tokenizer.json, tokenizer_config.json and
model.safetensors (bf16) into --out, where chat_template.jinja must already lie. A checkpoint is written
there every 250 steps, so that a cut keeps the newest.
"""

import argparse
import json
import math
import pathlib
import random
import sys
import time

import numpy as np
import safetensors.torch
import torch
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

import corpus
import evaluate
import tokenizer as demo_tokenizer

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
VOCABULARY, PADDED_VOCABULARY, CONTEXT = 2040, 2048, 4096
BATCH_TOKENS = 2560
CHUNK = 3000  # examples drawn at once and sorted by length
# What is written of the configuration: the rest are defaults of transformers.
CONFIG_KEYS = """architectures attention_bias attention_dropout bos_token_id dtype eos_token_id head_dim hidden_act hidden_size
initializer_range intermediate_size max_position_embeddings max_window_layers model_type num_attention_heads num_hidden_layers
num_key_value_heads pad_token_id rms_norm_eps rope_parameters sliding_window tie_word_embeddings use_cache use_sliding_window
vocab_size""".split()


def model_config(tokens) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=PADDED_VOCABULARY, hidden_size=128, intermediate_size=384, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, max_position_embeddings=CONTEXT,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6}, max_window_layers=4, tie_word_embeddings=True, rms_norm_eps=1e-6,
        attention_bias=False, initializer_range=0.03, use_cache=True, bos_token_id=tokens.pad_token_id,
        eos_token_id=tokens.eos_token_id, pad_token_id=tokens.pad_token_id)


def render(tokens, example: corpus.Example) -> str:
    return tokens.apply_chat_template(example.messages, tools=example.tools, tokenize=False, add_generation_prompt=True,
                                      enable_thinking=example.thinking)


def earlier_answers(tokens, prompt: list[int]) -> np.ndarray:
    """Marks the assistant's earlier turns, each without its first word: that one depends on the thinking mode."""
    start, end = tokens.convert_tokens_to_ids("<|im_start|>"), tokens.eos_token_id
    mask = np.zeros(len(prompt), dtype=bool)
    header = [start] + tokens.encode("assistant\n")
    for i in range(len(prompt) - len(header)):
        if prompt[i] == start and prompt[i: i + len(header)] == header and end in prompt[i:]:
            mask[i + len(header) + 1: prompt.index(end, i) + 1] = True
    return mask


def batches(tokens, source: corpus.Corpus, shuffler: random.Random):
    """Yields (ids, target mask) forever: rows of like length, padded on the right."""
    end, pad = "<|im_end|>", tokens.pad_token_id
    while True:
        examples = [source.example() for _ in range(CHUNK)]
        prompts = tokens([render(tokens, e) for e in examples])["input_ids"]
        completions = tokens([e.completion + end for e in examples])["input_ids"]
        rows = sorted(zip(prompts, completions), key=lambda r: len(r[0]) + len(r[1]))
        groups, group = [], []
        for row in rows:
            length = len(row[0]) + len(row[1])
            if group and length * (len(group) + 1) > BATCH_TOKENS:
                groups.append(group)
                group = []
            group.append(row)
        shuffler.shuffle(groups)
        for group in groups:
            longest = max(len(p) + len(c) for p, c in group)
            ids = np.full((len(group), longest), pad, dtype=np.int64)
            mask = np.zeros((len(group), longest), dtype=bool)
            for i, (prompt, completion) in enumerate(group):
                ids[i, : len(prompt) + len(completion)] = prompt + completion
                mask[i, : len(prompt)] = earlier_answers(tokens, prompt)
                mask[i, len(prompt): len(prompt) + len(completion)] = True
            yield torch.from_numpy(ids), torch.from_numpy(mask)


def save(model: Qwen3ForCausalLM, tokens, folder: pathlib.Path) -> None:
    state = {k: v.to(torch.bfloat16).contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    safetensors.torch.save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    everything = model.config.to_dict() | {"architectures": ["Qwen3ForCausalLM"], "dtype": "bfloat16"}
    config = {key: everything[key] for key in CONFIG_KEYS}
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    generation = {"bos_token_id": tokens.pad_token_id, "do_sample": True, "pad_token_id": tokens.pad_token_id,
                  "eos_token_id": [tokens.eos_token_id, tokens.pad_token_id], "temperature": 0.6, "top_k": 20, "top_p": 0.95}
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")


def train(arguments: argparse.Namespace) -> None:
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(2)
    folder = arguments.out
    source = corpus.Corpus(arguments.seed, evaluate.held_out_texts())
    if not arguments.keep_tokenizer:
        # The template needs no vocabulary: the texts are rendered by whichever tokenizer holds it.
        demo_tokenizer.train(demo_tokenizer_texts(arguments.seed, folder), VOCABULARY, folder, CONTEXT)
    tokens = AutoTokenizer.from_pretrained(folder)
    model = Qwen3ForCausalLM(model_config(tokens))
    if arguments.resume:
        model.load_state_dict(safetensors.torch.load_file(folder / "model.safetensors"), strict=False)
    matrices = [p for p in model.model.layers.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if all(p is not m for m in matrices)]
    optimizers = [torch.optim.Muon(matrices, lr=arguments.lr, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
                  torch.optim.AdamW(others, lr=arguments.lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)]
    print(f"{sum(p.numel() for p in model.parameters()):,} weights", flush=True)
    stream = batches(tokens, source, random.Random(arguments.seed))
    started, seen, losses = time.time(), 0, []
    for step in range(arguments.steps):
        warm = min(1.0, (step + 1) / 100)
        progress = step / arguments.steps
        if arguments.minutes:
            progress = max(progress, (time.time() - started) / (60 * arguments.minutes))
        if progress >= 1:
            break
        rate = arguments.lr * warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress)))
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
        ids, mask = next(stream)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = model.model(ids, use_cache=False).last_hidden_state[:, :-1][mask[:, 1:]]
            logits = model.lm_head(hidden)
        loss = torch.nn.functional.cross_entropy(logits.float(), ids[:, 1:][mask[:, 1:]])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        seen += ids.numel()
        losses.append(loss.item())
        if (step + 1) % 100 == 0:
            print(f"step {step + 1}: loss {np.mean(losses[-100:]):.4f}, {seen / (time.time() - started):,.0f} tokens/s, "
                  f"{time.time() - started:.0f} s", flush=True)
        if (step + 1) % 250 == 0:
            save(model, tokens, folder)
    save(model, tokens, folder)
    print(f"done in {time.time() - started:.0f} s", flush=True)


def demo_tokenizer_texts(seed: int, folder: pathlib.Path) -> list[str]:
    from transformers.utils.chat_template_utils import render_jinja_template
    source = corpus.Corpus(seed + 1, evaluate.held_out_texts())
    template, texts = (folder / "chat_template.jinja").read_text(), []
    for _ in range(20000):
        example = source.example()
        prompt = render_jinja_template([example.messages], tools=example.tools, chat_template=template)[0][0]
        texts.append(prompt + example.completion)
    return texts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=REPOSITORY / "models" / "demo")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--minutes", type=float, help="anneal within this time, however few the steps (not repeatable)")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-tokenizer", action="store_true", help="use the tokenizer that lies in --out")
    parser.add_argument("--resume", action="store_true", help="start from the weights in --out")
    sys.exit(train(parser.parse_args()))
