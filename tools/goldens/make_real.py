"""Writes tests/golden/real/{smollm2,qwen2.5-coder}.json: what transformers makes of two real GGUF files.

    python tools/fetch_test_models.py && python tools/goldens/make_real.py [smollm2] [qwen2.5-coder]

The model is transformers' own dequantised run in fp32. Before it is trusted, every parameter is
compared with what the gguf package reads from the file, so that the output head is the file's
output.weight where it has one (in the Qwen file it differs from token_embd.weight), and the
embedding where it has none.

Ids come from a tokenizer put together here, as the authors' own tokenizer.json has it, since
transformers builds a plain GPT-2 one from a GGUF file: without NFC for Qwen, and without SmolLM2's
cut at digits. (The text has a decomposed accent, which only Qwen's tokenizer composes.)
"""

import sys

import numpy as np
import torch
from gguf import GGUFReader
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer
from transformers.models.qwen2.tokenization_qwen2 import PRETOKENIZE_REGEX as QWEN2_WORDS

from gguf_weights import dequantised
from oracle import GOLDEN, load_fp32, test_models, write_json

TEXT = GOLDEN / "real" / "text.txt"
FILES = {
    "smollm2": "smollm2-135m-instruct-q4_1.gguf",
    "qwen2.5-coder": "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
}
CHATS = {
    "smollm2": [
        [{"role": "user", "content": "What is the capital of France?"}],
        [{"role": "user", "content": "Count from one to ten."}],
        [{"role": "user", "content": "My name is Clara."},
         {"role": "assistant", "content": "Nice to meet you, Clara!"},
         {"role": "user", "content": "What is my name?"}],
    ],
    "qwen2.5-coder": [
        [{"role": "user", "content": "Write a Python function that reverses a string."}],
        [{"role": "user", "content": "用一句话介绍你自己。"}],
        [{"role": "system", "content": "你是一个简洁的助手。"},
         {"role": "user", "content": "一年有几个季节？"},
         {"role": "assistant", "content": "四个。"},
         {"role": "user", "content": "请列出它们的名字。"}],
    ],
}  # fmt: skip
N_GREEDY = 32
CLEAR = 0.02  # logits between the first and the second token, so that rounding can't swap them

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4  # tokenizer.ggml.token_type


def build_tokenizer(path) -> Tokenizer:
    """The authors' tokenizer: vocabulary, merges and added tokens from the file, the rest by its kind."""
    fields = GGUFReader(path).fields
    tokens = list(enumerate(fields["tokenizer.ggml.tokens"].contents()))
    types = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    vocab = {token: i for i, token in tokens if types[i] in (NORMAL, CONTROL, USER_DEFINED)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    kind = fields["tokenizer.ggml.pre"].contents()
    if kind == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
        split = pre_tokenizers.Split(Regex(QWEN2_WORDS), "isolated")
        bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    elif kind == "smollm":
        split = pre_tokenizers.Digits(individual_digits=True)
        bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    else:
        raise SystemExit(f"{path}: pre-tokenizer {kind} is not known here")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_of])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken(token, normalized=False, special=types[i] == CONTROL)
                          for i, token in tokens if types[i] in (CONTROL, USER_DEFINED)])  # fmt: skip
    return tokenizer


def load_checked(path):
    """transformers' own dequantised run of the file, proven to hold the file's values."""
    model = load_fp32(path.parent, gguf_file=path.name)
    for name, parameter, truth in dequantised(model, path):
        if not torch.equal(parameter, truth):
            worst = (parameter - truth).abs().max()
            print(f"{path.name}: {name} is off by {worst:.1e} in transformers; taking the file's", file=sys.stderr)
            parameter.copy_(truth)
    return model


@torch.no_grad()
def logprobs_of(model, ids: list[int]) -> list[float]:
    """log p(ids[i + 1] | ids[: i + 1]): one fewer than there are ids."""
    rows = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, :-1]
    picked = torch.log_softmax(rows.double(), dim=-1).gather(1, torch.tensor(ids[1:])[:, None])
    return [round(value, 6) for value in picked[:, 0].tolist()]


@torch.no_grad()
def greedy(model, ids: list[int], eos_id: int) -> tuple[list[int], float]:
    """The most likely next ids, up to N_GREEDY or the end of turn (included), and the closest call."""
    prompt = torch.tensor([ids])
    output = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=N_GREEDY,
                            eos_token_id=eos_id, output_logits=True, return_dict_in_generate=True)  # fmt: skip
    best = torch.topk(torch.cat(output.logits), 2).values
    answer = output.sequences[0, len(ids):].tolist()
    closest = float((best[:, 0] - best[:, 1]).min())
    return answer, closest


def make_greedy(model, tokenizer: Tokenizer, prompts: list[tuple[list, str]], eos_id: int) -> list[dict]:
    answers = []
    for messages, prompt in prompts:
        ids = tokenizer.encode(prompt, add_special_tokens=False).ids
        answer, closest = greedy(model, ids, eos_id)
        if closest < CLEAR:
            raise SystemExit(f"{prompt!r}: two tokens are {closest:.4f} apart: ask something else")
        text = tokenizer.decode(answer, skip_special_tokens=True)
        print(f"  {closest:6.3f} apart at the closest: {text!r}")
        answers.append({"messages": messages, "prompt": prompt, "prompt_ids": ids, "ids": answer, "text": text})
    return answers


def make(name: str, file: str) -> None:
    path = test_models() / file
    if not path.exists():
        raise SystemExit(f"{path} is missing: python tools/fetch_test_models.py")
    text = TEXT.read_text(encoding="utf-8")
    tokenizer = build_tokenizer(path)
    of_transformers = AutoTokenizer.from_pretrained(path.parent, gguf_file=file)
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    theirs = of_transformers(text, add_special_tokens=False)["input_ids"]
    print(f"{name}: {len(ids)} tokens, {'as' if ids == theirs else 'not as'} transformers splits the text")

    model = load_checked(path)
    print(f"  tied: {model.config.tie_word_embeddings}, {model.config.rope_parameters}")
    logprobs = logprobs_of(model, ids)
    print(f"  perplexity {np.exp(-np.mean(logprobs)):.4f}")
    prompts = [(chat, of_transformers.apply_chat_template(chat, tokenize=False, add_generation_prompt=True))
               for chat in CHATS[name]]  # fmt: skip
    eos_id = tokenizer.token_to_id("<|im_end|>")
    answers = make_greedy(model, tokenizer, prompts, eos_id)

    golden = GOLDEN / "real" / f"{name}.json"
    write_json(golden, {"file": file, "text_file": TEXT.name, "ids": ids, "logprobs": logprobs,
                        "eos_id": eos_id, "greedy": answers})  # fmt: skip
    print(f"  {golden.stat().st_size} bytes")


def main() -> None:
    for name in sys.argv[1:] or FILES:
        make(name, FILES[name])


if __name__ == "__main__":
    main()
