"""qwick's tokenizer against Hugging Face tokenizers: the same ids, the same text, always.

Oracles: the real Qwen3 tokenizer.json; tokenizers built here from the tokens and merges of the two
GGUF files (what transformers would build); small ones trained here, of every pre-tokenizer and with
every kind of added token, for machines without the model files. The probe is the program
tokenizer_probe of the build folder (QWICK_BUILD_DIR, default build/release).
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import unicodedata

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("QWICK_BUILD_DIR", ROOT / "build" / "release"))
MODELS = pathlib.Path(os.environ.get("QWICK_TEST_MODELS", "~/.cache/qwick/test-models")).expanduser()
QWEN3 = "qwen3-tokenizer/tokenizer.json"
QWEN_GGUF = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
SMOLLM_GGUF = "smollm2-135m-instruct-q4_1.gguf"
TEXTS = sorted((ROOT / "tests" / "differential" / "texts").glob("*.txt"))
STRINGS = 20_000

QWEN2_REGEX = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3_REGEX = QWEN2_REGEX.replace(r"\p{N}|", r"\p{N}{1,3}|")


class Probe:
    def __init__(self, model):
        command = [BUILD / "tests" / "tokenizer_probe", str(model)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _ask(self, header, payload=b""):
        self.process.stdin.write(header.encode() + b"\n" + payload)
        self.process.stdin.flush()

    def _ids(self):
        return list(map(int, self.process.stdout.readline().split()))

    def encode(self, text, plain=False):
        data = text if isinstance(text, bytes) else text.encode()
        self._ask(f"encode {'plain' if plain else 'parse'} {len(data)}", data)
        return self._ids()

    def _text(self, command, ids, skip):
        self._ask(f"{command} {'skip' if skip else 'keep'} {len(ids)}", struct.pack(f"<{len(ids)}i", *ids))
        return self.process.stdout.read(int(self.process.stdout.readline())).decode()

    def decode(self, ids, skip=False):
        return self._text("decode", ids, skip)

    def stream(self, ids, skip=False):
        return self._text("stream", ids, skip)

    def describe(self):
        self._ask("describe")
        return self.process.stdout.readline().decode().strip(), self._ids(), self._ids()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


def model_file(name):
    path = MODELS / name
    if not path.exists():
        pytest.skip(f"{path} is not there: make test-models")
    return path


# The oracles.


def pre_tokenizer(kind):
    byte_level = pre_tokenizers.ByteLevel
    if kind == "smollm":
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(True), byte_level(False, True, True)])
    if kind == "gpt-2":
        return byte_level(add_prefix_space=False, use_regex=True)
    regex = Regex({"qwen2": QWEN2_REGEX, "llama3": LLAMA3_REGEX}[kind])
    return pre_tokenizers.Sequence([pre_tokenizers.Split(regex, "isolated"), byte_level(False, False, False)])


def from_gguf(path):
    """As transformers converts it: control and user-defined tokens are added tokens, unused ones are not."""
    from gguf import GGUFReader

    fields = GGUFReader(path).fields
    tokens, types, merges, kind = (
        fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "token_type", "merges", "pre")
    )
    vocab = {token: i for i, token in enumerate(tokens) if types[i] != 5}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[tuple(merge.split(" ")) for merge in merges]))
    tokenizer.pre_tokenizer = pre_tokenizer(kind)
    tokenizer.decoder = decoders.ByteLevel()
    if kind == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    added = [
        AddedToken(token, special=types[i] == 3, normalized=False) for i, token in enumerate(tokens) if types[i] in (3, 4)
    ]
    tokenizer.add_tokens(added)
    return tokenizer


ODD_ADDED = [
    AddedToken("<|im_start|>", special=True, normalized=False),
    AddedToken("<|im_end|>", special=True, normalized=False),
    AddedToken("<|im_end|>\n\n", special=False, normalized=False),  # longest match
    AddedToken("<think>", special=False, normalized=False),
    AddedToken("|im", special=False, normalized=False),  # inside a special one
    AddedToken("<left>", special=True, normalized=False, lstrip=True),
    AddedToken("<right>", special=False, normalized=False, rstrip=True),
    AddedToken("<both>", special=False, normalized=True, lstrip=True, rstrip=True),
    AddedToken("word", special=False, normalized=False, single_word=True),
    AddedToken("caf\u00e9", special=False, normalized=True),
    AddedToken("e\u0301t", special=False, normalized=True),
    AddedToken("A\u030a\u0327", special=False, normalized=False),
    AddedToken("\u4f60\u597d", special=False, normalized=True, single_word=True, lstrip=True),
    AddedToken("\u0120odd", special=False, normalized=False),  # decodes through the byte alphabet
    AddedToken("  ", special=False, normalized=False, rstrip=True),
]


def trained(kind, *, nfc=False, ignore_merges=False, full_alphabet=True, added=ODD_ADDED, vocab_size=1500):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer(kind)
    tokenizer.decoder = decoders.ByteLevel()
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if full_alphabet else []
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator((path.read_text() for path in TEXTS), trainer)
    tokenizer.add_tokens(added)
    if ignore_merges:
        tokenizer.model.ignore_merges = True
    return tokenizer


TRAINED = {
    "qwen2": dict(kind="qwen2", nfc=True),
    "llama3": dict(kind="llama3", ignore_merges=True),
    "gpt-2": dict(kind="gpt-2"),
    "smollm": dict(kind="smollm", full_alphabet=False),
}


def load(name, folder):
    """The probe and the oracle of a name."""
    if name == "qwen3":
        path = model_file(QWEN3)
        return Probe(path.parent), Tokenizer.from_file(str(path))
    if name.endswith(".gguf"):
        path = model_file(name)
        return Probe(path), from_gguf(path)
    tokenizer = trained(**TRAINED[name])
    tokenizer.save(str(folder / "tokenizer.json"))
    return Probe(folder), Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.fixture(scope="module", params=["qwen3", QWEN_GGUF, SMOLLM_GGUF, *TRAINED])
def pair(request, tmp_path_factory):
    probe, oracle = load(request.param, tmp_path_factory.mktemp("tokenizer"))
    yield probe, oracle
    probe.close()


# The strings.

SPACES = [chr(c) for c in range(0x3001) if chr(c).isspace()] + ["\u180e", "\u200b", "\ufeff"]
DIGITS = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)).startswith("N")]
MARKS = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)).startswith("M")]
COMPOSED = [chr(c) for c in range(0x110000) if unicodedata.decomposition(chr(c))[:1].isalnum()]
ASSIGNED = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cs", "Cn", "Co")]
CONTRACTIONS = ["'s", "'S", "'t", "'re", "'RE", "'rE", "'ve", "'m", "'ll", "'lL", "'d", "'\u017f", "''", "'x", "'l"]


def any_code_point(rng):
    while True:
        c = rng.randrange(0x110000)
        if not 0xD800 <= c < 0xE000:
            return chr(c)


def random_string(rng, words, special):
    makers = [
        lambda: any_code_point(rng),
        lambda: rng.choice(ASSIGNED),
        lambda: "".join(rng.choices("abcdefgXYZ", k=rng.randrange(1, 12))),
        lambda: rng.choice(words),
        lambda: " " + rng.choice(words),
        lambda: "".join(rng.choices(SPACES, k=rng.randrange(1, 5))),
        lambda: rng.choice([" ", "  ", "\n", "\r\n", "\n\n", "\t", " \n ", "\r", "    "]) * rng.randrange(1, 4),
        lambda: "".join(rng.choices("0123456789", k=rng.randrange(1, 9))),
        lambda: "".join(rng.choices(DIGITS, k=rng.randrange(1, 4))),
        lambda: rng.choice("aeou\u00e9\u1ea1\uac00\u1100\u0915\u5e74") + "".join(rng.choices(MARKS, k=rng.randrange(1, 5))),
        lambda: rng.choice(COMPOSED),
        lambda: unicodedata.normalize("NFD", rng.choice(COMPOSED)),
        lambda: rng.choice(CONTRACTIONS),
        lambda: "".join(rng.choices("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", k=rng.randrange(1, 6))),
        lambda: "\U0001f468\u200d\U0001f469\u200d\U0001f467" if rng.random() < 0.5 else rng.choice("\u200d\ufe0f\U0001f1e9\U0001f1ea"),
        lambda: rng.choice("\0\x01\x7f\x1b\u0085\u00a0\u00ad\ufffd\uffff"),
        lambda: "".join(rng.choices("\u1100\u1112\u1161\u1175\u11a8\u11c2\uac00\uac01", k=rng.randrange(1, 6))),
        lambda: rng.choice(special),
    ]
    return "".join(rng.choice(makers)() for _ in range(rng.randrange(1, 25)))


def generated_strings(oracle, count):
    rng = random.Random(20240817)
    words = sorted({word for path in TEXTS for word in path.read_text().split()})
    added = [token.content for token in oracle.get_added_tokens_decoder().values()]
    special = added + [token[:-1] for token in added] + ["<|im_", "|>", "<<|im_end|>", "wordy", " word "]
    for i in range(count):
        if i % 500 == 0:  # a very long word
            yield rng.choice([*"a0 \n\u0301\u4e2d", "ab", "xyz"]) * rng.randrange(100, 5000)
        else:
            yield random_string(rng, words, special)


def compare(probe, oracle, strings):
    """Ids in both modes, the text of these ids with and without special tokens, whole and streamed."""
    characters = tokens = n = 0
    for text in strings:
        for plain in (False, True):
            oracle.encode_special_tokens = plain
            expected = oracle.encode(text, add_special_tokens=False).ids
            assert probe.encode(text, plain) == expected, ascii(text)
            tokens += len(expected)
            decoded = oracle.decode(expected, skip_special_tokens=plain)
            assert probe.decode(expected, plain) == decoded, ascii(text)
            assert probe.stream(expected, plain) == decoded, ascii(text)
        characters += len(text)
        n += 1
    oracle.encode_special_tokens = False
    print(f"{n} strings, {characters} characters, {tokens} tokens: all equal", file=sys.stderr)


def test_generated_strings(pair, request):
    real = request.node.callspec.params["pair"] not in TRAINED
    compare(*pair, generated_strings(pair[1], STRINGS if real else STRINGS // 4))


@pytest.mark.parametrize("pair", ["qwen2", "gpt-2", "smollm"], indirect=True)
def test_every_code_point(pair):
    """In the company of a letter, a digit, a space, a mark and a line end."""
    points = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    chunks = (points[i : i + 100] for i in range(0, len(points), 100))
    probe, oracle = pair
    n = 0
    for chunk in chunks:
        text = "".join(f"a{c}1{c} {c}b\u0323{c}\u0301{c}\n" for c in chunk)
        assert probe.encode(text) == oracle.encode(text, add_special_tokens=False).ids, ascii(text[:50])
        n += len(chunk)
    print(f"{n} code points: all equal", file=sys.stderr)


@pytest.mark.parametrize("pair", ["qwen3", "qwen2"], indirect=True)
def test_marks_and_compositions(pair):
    """Every pair of a base and a mark that may compose, marks in every order."""
    rng = random.Random(1)
    pairs = {unicodedata.normalize("NFD", c) for c in COMPOSED}
    strings = [text + mark for text in sorted(pairs) for mark in rng.sample(MARKS, 3)]
    strings += ["".join(rng.choices(MARKS, k=rng.randrange(2, 40))) for _ in range(2000)]
    compare(*pair, strings)


def test_real_text(pair):
    assert len(TEXTS) >= 10
    sources = sorted((ROOT / "src").rglob("*.cc"))[:40]
    compare(*pair, [path.read_text() for path in TEXTS + sources + [pathlib.Path(__file__)]])


def test_text_full_of_added_tokens(pair):
    probe, oracle = pair
    rng = random.Random(2)
    added = [token.content for token in oracle.get_added_tokens_decoder().values()]
    between = ["", "", " ", "  ", "\n", "word", "x", "<", "|", "\u4f60", "\u00e9", "e\u0301", "\u3000", "_"]
    strings = ["".join(rng.choice(added) + rng.choice(between) for _ in range(rng.randrange(1, 40))) for _ in range(3000)]
    compare(probe, oracle, strings)


def test_decode_any_ids(pair):
    """Ids that no text gives: characters cut anywhere, gaps, ids outside the vocabulary."""
    probe, oracle = pair
    rng = random.Random(3)
    n = 0
    size = oracle.get_vocab_size()
    for _ in range(3000):
        ids = [rng.randrange(rng.choice([size + 20, 300])) for _ in range(rng.randrange(0, 40))]
        for skip in (False, True):
            expected = oracle.decode(ids, skip_special_tokens=skip)
            assert probe.decode(ids, skip) == expected, ids
            assert probe.stream(ids, skip) == expected, ids
            n += len(ids)
    print(f"{n} ids decoded: all equal", file=sys.stderr)


def test_vocabulary(pair):
    probe, oracle = pair
    _, used, special = probe.describe()
    assert used == sorted(oracle.get_vocab(with_added_tokens=True).values())
    added = oracle.get_added_tokens_decoder()
    assert special == sorted(i for i, token in added.items() if token.special)


def test_bytes_that_are_not_text(pair):
    """No oracle has ids for these: they must give the bytes back, and split as U+FFFD does."""
    probe, oracle = pair
    rng = random.Random(4)
    vocabulary = oracle.get_vocab(with_added_tokens=False)
    if any(char not in vocabulary for char in pre_tokenizers.ByteLevel.alphabet()):
        pytest.skip("a vocabulary without some bytes")
    for _ in range(2000):
        data = bytes(rng.choice([rng.randrange(256), rng.choice(b"ab 1\n")]) for _ in range(rng.randrange(1, 60)))
        data = data.replace(b"  ", b"__")  # an added token of two spaces takes those after it along
        expected = data.decode(errors="replace")
        ids = probe.encode(data)
        if oracle.normalizer is None or unicodedata.is_normalized("NFC", expected):
            assert probe.decode(ids) == expected
            assert probe.stream(ids) == expected


# How files may be written.


def write(folder, tokenizer, change=lambda data: None, config=None):
    data = json.loads(tokenizer.to_str())
    change(data)
    (folder / "tokenizer.json").write_text(json.dumps(data))
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def small():
    return trained("qwen2", nfc=True, added=[AddedToken("<|im_end|>", special=True, normalized=False)], vocab_size=600)


def check_texts(probe, oracle):
    for path in TEXTS:
        assert probe.encode(path.read_text()) == oracle.encode(path.read_text(), add_special_tokens=False).ids
    probe.close()


def test_merges_as_strings(small, tmp_path):
    def change(data):
        data["model"]["merges"] = [" ".join(merge) for merge in data["model"]["merges"]]

    check_texts(Probe(write(tmp_path, small, change)), small)


def test_parts_in_another_order(small, tmp_path):
    def change(data):
        items = list(reversed(data.items()))
        data.clear()
        data.update(items)
        data["model"] = dict(reversed(data["model"].items()))

    check_texts(Probe(write(tmp_path, small, change)), small)


def test_escaped_and_indented(small, tmp_path):
    data = json.loads(small.to_str())
    text = json.dumps(data, indent=3, ensure_ascii=True)
    (tmp_path / "tokenizer.json").write_text(text)
    assert "\\u0120" in text
    check_texts(Probe(tmp_path), small)


def test_tokens_that_only_the_config_has(small, tmp_path):
    extra = small.get_vocab_size() + 7  # leaves a gap
    token = {"content": "<tool>", "special": False, "normalized": False, "lstrip": False, "rstrip": False}
    config = {"added_tokens_decoder": {str(extra): token}, "eos_token": {"content": "<|im_end|>"}, "bos_token": None}
    probe = Probe(write(tmp_path, small, config=config))
    assert probe.encode("a<tool>b") == small.encode("a").ids + [extra] + small.encode("b").ids
    _, used, _ = probe.describe()
    assert used == [*range(small.get_vocab_size()), extra]
    check_texts(probe, small)


REFUSED = {
    "normalizer": ({"type": "Lowercase"}, "normalizer"),
    "pre_tokenizer": ({"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}, "pre_tokenizer"),
    "decoder": ({"type": "WordPiece"}, "decoder"),
    "added_tokens": ([{"id": 3, "content": "<x>", "special": True}], "added_tokens[0]"),
    "model.dropout": (0.1, "model.dropout"),
    "model.byte_fallback": (True, "model.byte_fallback"),
    "model.type": ("WordPiece", "model.type"),
    "model.merges": ([["q", "zzz"]], "model.merges"),
    "model.vocab": ({"a": 0, "b": 0}, "model.vocab"),
}


@pytest.mark.parametrize("part", REFUSED)
def test_refuses_by_name(part, small, tmp_path):
    value, named = REFUSED[part]

    def change(data):
        *path, last = part.split(".")
        for key in path:
            data = data[key]
        data[last] = value

    folder = write(tmp_path, small, change)
    result = subprocess.run([BUILD / "tests" / "tokenizer_probe", folder], input=b"", capture_output=True)
    assert result.returncode == 2
    message = result.stderr.decode()
    assert f"{tmp_path}/tokenizer.json: {named}" in message and message.count("\n") == 1
