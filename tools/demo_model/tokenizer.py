"""Trains the demo's tokenizer: byte-level BPE built as Qwen3's is, on text of the corpus.

Called by train.py. Writes tokenizer.json and tokenizer_config.json; the chat template lies beside
them as chat_template.jinja and is the source for rendering.
"""

import json
import pathlib
import re
import typing

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

# Ids follow the merges in this order, as in Qwen3's own list; only the first three are special.
ADDED = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
]
SPECIAL = 3
# Qwen2's and Qwen3's pre-tokenizer.
PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def bytes_by_letter() -> dict[str, int]:
    """The byte that each of ByteLevel's 256 letters stands for."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in visible]
    return {chr(b): b for b in visible} | {chr(256 + i): b for i, b in enumerate(hidden)}


def whole_characters(model: dict, size: int) -> models.BPE:
    """The first merges that give whole characters or the beginning of one.

    So no token joins parts of two characters, and a name is cut alike wherever it stands.
    """
    byte_of = bytes_by_letter()
    vocabulary = {c: i for i, c in enumerate(sorted(byte_of))}
    merges = []
    for left, right in model["merges"]:
        if len(vocabulary) == size:
            break
        text = bytes(byte_of[c] for c in left + right)
        try:
            text.decode()
        except UnicodeDecodeError as error:
            if not (error.start == 0 and error.reason == "unexpected end of data"):
                continue
        if left in vocabulary and right in vocabulary and left + right not in vocabulary:
            vocabulary[left + right] = len(vocabulary)
            merges.append((left, right))
    return models.BPE(vocab=vocabulary, merges=merges)


def train(texts: typing.Iterable[str], vocabulary: int, folder: pathlib.Path, context: int) -> None:
    """`vocabulary` counts the bytes, the merges and the added tokens."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(tokenizers.Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False),
        ]
    )
    tokenizer.post_processor = processors.ByteLevel(
        add_prefix_space=False, trim_offsets=False, use_regex=False
    )
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary + vocabulary // 2,
        min_frequency=2,
        show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    marks = re.compile("|".join(map(re.escape, ADDED)))
    tokenizer.train_from_iterator((part for text in texts for part in marks.split(text)), trainer)
    tokenizer.model = whole_characters(json.loads(tokenizer.to_str())["model"], vocabulary - len(ADDED))
    tokenizer.add_tokens(
        [tokenizers.AddedToken(t, normalized=False, special=i < SPECIAL) for i, t in enumerate(ADDED)]
    )
    if tokenizer.get_vocab_size() != vocabulary:
        raise SystemExit(f"the corpus gave a vocabulary of {tokenizer.get_vocab_size()}, not {vocabulary}")
    tokenizer.save(str(folder / "tokenizer.json"))
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False}
    config = {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": {
            str(vocabulary - len(ADDED) + i): {"content": t, **flags, "special": i < SPECIAL}
            for i, t in enumerate(ADDED)
        },
        "additional_special_tokens": ADDED[1:SPECIAL],
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": context,
        "pad_token": "<|endoftext|>",
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
