"""Makes models/demo: a Qwen3-architecture model of a million weights, from nothing but this folder.

    python tools/demo_model/train.py [--out DIR] [--steps N] [--seed S] [--resume]

Trains the tokenizer, then the model, on the endless corpus of corpus.py; the loss is on the words that the
assistant writes. Matrices learn by Muon, which needs a fraction of AdamW's steps here; all else by AdamW.
Writes config.json, generation_config.json, tokenizer.json, tokenizer_config.json and model.safetensors
(bf16) into --out, where chat_template.jinja must already lie, and saves there every 250 steps.
"""

import argparse
import json
import math
import pathlib
import random
import time
import typing

import numpy as np
import safetensors.torch
import torch
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM
from transformers.utils.chat_template_utils import render_jinja_template

import cases
import corpus
import tokenizer as demo_tokenizer

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
VOCABULARY, PADDED_VOCABULARY, CONTEXT = 2040, 2048, 4096
BATCH_TOKENS = 2560
CHUNK = 3000  # examples drawn at once and sorted by length
WARM_UP, REPORT_EVERY, SAVE_EVERY = 100, 100, 250
# What is written of the configuration: the rest are defaults of transformers.
CONFIG_KEYS = (
    """architectures attention_bias attention_dropout bos_token_id dtype eos_token_id head_dim hidden_act
hidden_size initializer_range intermediate_size max_position_embeddings max_window_layers model_type
num_attention_heads num_hidden_layers num_key_value_heads pad_token_id rms_norm_eps rope_parameters
sliding_window tie_word_embeddings use_cache use_sliding_window vocab_size""".split()
)


def model_config(tokens) -> Qwen3Config:
    return Qwen3Config(
        vocab_size=PADDED_VOCABULARY,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        max_window_layers=4,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6},
        tie_word_embeddings=True,
        rms_norm_eps=1e-6,
        initializer_range=0.03,
        bos_token_id=tokens.pad_token_id,
        eos_token_id=tokens.eos_token_id,
        pad_token_id=tokens.pad_token_id,
    )


def tokenizer_texts(source: corpus.Corpus, template: str, count: int = 20000) -> typing.Iterator[str]:
    for _ in range(count):
        example = source.example()
        rendered, _ = render_jinja_template([example.messages], tools=example.tools, chat_template=template)
        yield rendered[0] + example.completion


def render(tokens, example: corpus.Example) -> str:
    return tokens.apply_chat_template(
        example.messages,
        tools=example.tools,
        tokenize=False,
        add_generation_prompt=True,
        enable_thinking=example.thinking,
    )


def earlier_answers(prompt: list[int], header: list[int], end: int) -> np.ndarray:
    """Marks the assistant's earlier turns, less their first tokens: those depend on the thinking mode."""
    mask = np.zeros(len(prompt), dtype=bool)
    for i, token in enumerate(prompt):
        if token == header[0] and prompt[i : i + len(header)] == header and end in prompt[i:]:
            mask[i + len(header) + 1 : prompt.index(end, i) + 1] = True
    return mask


def batch_of(group: list[tuple], pad: int, header: list[int], end: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(ids, targets), each [rows, longest]: padded on the right; targets marks the tokens to be learnt."""
    longest = max(len(prompt) + len(completion) for prompt, completion in group)
    ids = np.full((len(group), longest), pad, dtype=np.int64)
    targets = np.zeros((len(group), longest), dtype=bool)
    for i, (prompt, completion) in enumerate(group):
        whole = len(prompt) + len(completion)
        ids[i, :whole] = prompt + completion
        targets[i, : len(prompt)] = earlier_answers(prompt, header, end)
        targets[i, len(prompt) : whole] = True
    return torch.from_numpy(ids), torch.from_numpy(targets)


def batches(tokens, source: corpus.Corpus, shuffler: random.Random):
    """Yields batch_of() forever; a batch has rows of like length and at most BATCH_TOKENS tokens."""
    header = tokens.encode("<|im_start|>assistant\n")
    while True:
        examples = [source.example() for _ in range(CHUNK)]
        prompts = tokens([render(tokens, example) for example in examples])["input_ids"]
        completions = tokens([example.completion + tokens.eos_token for example in examples])["input_ids"]
        groups, group = [], []
        for row in sorted(zip(prompts, completions), key=lambda row: len(row[0]) + len(row[1])):
            if group and (len(row[0]) + len(row[1])) * (len(group) + 1) > BATCH_TOKENS:
                groups.append(group)
                group = []
            group.append(row)
        groups.append(group)
        shuffler.shuffle(groups)
        for group in groups:
            yield batch_of(group, tokens.pad_token_id, header, tokens.eos_token_id)


def save(model: Qwen3ForCausalLM, tokens, folder: pathlib.Path) -> None:
    weights = {k: v.bfloat16().contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    path = folder / "model.safetensors"
    safetensors.torch.save_file(weights, path, metadata={"format": "pt"})
    path.chmod(0o644)
    everything = model.config.to_dict() | {"architectures": ["Qwen3ForCausalLM"], "dtype": "bfloat16"}
    config = {key: everything[key] for key in CONFIG_KEYS}
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    generation = {
        "bos_token_id": tokens.pad_token_id,
        "do_sample": True,
        "eos_token_id": [tokens.eos_token_id, tokens.pad_token_id],
        "pad_token_id": tokens.pad_token_id,
        "temperature": 0.6,
        "top_k": 20,
        "top_p": 0.95,
    }
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")


def optimizers_of(model: Qwen3ForCausalLM, rate: float) -> list[torch.optim.Optimizer]:
    matrices = [p for p in model.model.layers.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if all(p is not matrix for matrix in matrices)]
    return [
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.05, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]


def learn(model: Qwen3ForCausalLM, ids: torch.Tensor, targets: torch.Tensor) -> float:
    """Adds the batch's gradients and returns its loss."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = model.model(ids, use_cache=False).last_hidden_state[:, :-1][targets[:, 1:]]
        logits = model.lm_head(hidden)
    loss = torch.nn.functional.cross_entropy(logits.float(), ids[:, 1:][targets[:, 1:]])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return loss.item()


def train(arguments: argparse.Namespace) -> None:
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(2)
    folder, held_out = arguments.out, cases.held_out_texts()
    if not arguments.resume:
        template = (folder / "chat_template.jinja").read_text()
        texts = tokenizer_texts(corpus.Corpus(arguments.seed + 1, held_out), template)
        demo_tokenizer.train(texts, VOCABULARY, folder, CONTEXT)
    tokens = AutoTokenizer.from_pretrained(folder)
    model = Qwen3ForCausalLM(model_config(tokens))
    if arguments.resume:
        model.load_state_dict(safetensors.torch.load_file(folder / "model.safetensors"), strict=False)
    optimizers = optimizers_of(model, arguments.lr)
    stream = batches(tokens, corpus.Corpus(arguments.seed, held_out), random.Random(arguments.seed))
    started, losses = time.time(), []
    for step in range(1, arguments.steps + 1):
        # A warm-up, then a cosine down to a hundredth.
        rate = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / arguments.steps))
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = arguments.lr * rate * min(1.0, step / WARM_UP)
        losses.append(learn(model, *next(stream)))
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        if step % REPORT_EVERY == 0:
            loss = np.mean(losses[-REPORT_EVERY:])
            print(f"step {step}: loss {loss:.4f}, {time.time() - started:.0f} s", flush=True)
        if step % SAVE_EVERY == 0 or step == arguments.steps:
            save(model, tokens, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=pathlib.Path, default=REPOSITORY / "models" / "demo")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="go on from the tokenizer and weights in --out")
    train(parser.parse_args())
