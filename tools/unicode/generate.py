#!/usr/bin/env python3
"""Writes src/text/unicode_data.h: what the tokenizer must know about every code point.

The ids have to be those of Hugging Face tokenizers, whose parts disagree on the version of Unicode:
its regular expressions know 16.0, its digit splitter 17.0, its normalizer 9.0. So the tables are read
off the library itself, one code point at a time, and are the same on every machine whatever version
the system's own Unicode library has. Python's unicodedata only proposes combining classes and
decompositions; each is kept if tokenizers shows that it has it.

    pip install tokenizers==0.23.3 && tools/unicode/generate.py > src/text/unicode_data.h
"""
import sys
import unicodedata

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

LETTER, NUMBER, SPACE, DIGIT_SPLIT, WORD, NFC_UNSAFE = 1, 2, 4, 8, 16, 32
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)

nfc = normalizers.NFC().normalize_str
nfd = normalizers.NFD().normalize_str


def matching(pattern):
    """The code points that a regular expression of one character matches."""
    remove = normalizers.Replace(Regex(pattern), "")
    found = set()
    for i in range(0, len(CODE_POINTS), 4096):
        chunk = CODE_POINTS[i : i + 4096]
        kept = set(map(ord, remove.normalize_str("".join(map(chr, chunk)))))
        found.update(c for c in chunk if c not in kept)
    return found


def split_as_digits():
    digits = pre_tokenizers.Digits(individual_digits=True)
    return {c for c in CODE_POINTS if len(digits.pre_tokenize_str(f"a{chr(c)}a")) == 3}


def word_characters():
    """What keeps an added token from being a single word when it stands before it."""
    tokenizer = Tokenizer(models.BPE(vocab={}, merges=[]))
    tokenizer.add_tokens([AddedToken("~~", single_word=True, normalized=False)])
    found = set()
    for i in range(0, len(CODE_POINTS), 64):
        chunk = CODE_POINTS[i : i + 64]
        for c, encoding in zip(chunk, tokenizer.encode_batch([chr(c) + "~~" for c in chunk])):
            if not encoding.ids and c != ord("~"):
                found.add(c)
    return found


def combining_class(c):
    proposed = unicodedata.combining(chr(c))
    if proposed == 0:
        return 0
    other = "\u0323" if proposed == 230 else "\u0301"  # classes 220 and 230
    first, second = (chr(c), other) if proposed > unicodedata.combining(other) else (other, chr(c))
    return proposed if nfd("\u2603" + first + second) == "\u2603" + second + first else 0


def decompositions():
    """(composite, first, second) that compose again, and (character, first, second or 0) that don't."""
    composites, others = [], []
    for c in CODE_POINTS:
        if c in HANGUL or nfd(chr(c)) == chr(c):
            continue
        parts = [int(part, 16) for part in unicodedata.decomposition(chr(c)).split()]
        assert nfd("".join(map(chr, parts))) == nfd(chr(c)), hex(c)
        entry = (c, parts[0], parts[1] if len(parts) == 2 else 0)
        if len(parts) == 2 and nfc(chr(parts[0]) + chr(parts[1])) == chr(c):
            composites.append(entry)
        else:
            assert nfc(chr(c)) != chr(c), hex(c)
            others.append(entry)
    return composites, others


def runs(value_of):
    """[(first code point, value)] wherever the value changes."""
    out, last = [], None
    for c in range(0x110000):
        value = value_of(c)
        if value != last:
            out.append((c, value))
            last = value
    return out


def print_array(comment, declaration, words, per_line):
    print(f"\n// {comment}")
    print(f"inline constexpr {declaration} = {{")
    for i in range(0, len(words), per_line):
        print("    " + ", ".join(words[i : i + per_line]) + ",")
    print("};")


def main():
    sets = {
        LETTER: matching(r"\p{L}"),
        NUMBER: matching(r"\p{N}"),
        SPACE: matching(r"\s"),
        DIGIT_SPLIT: split_as_digits(),
        WORD: word_characters(),
    }
    classes = {c: combining_class(c) for c in CODE_POINTS}
    composites, others = decompositions()
    unsafe = {c for c in CODE_POINTS if classes[c]}
    unsafe |= {c for c, _, _ in others} | {second for _, _, second in composites}
    unsafe |= set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))  # Hangul vowels and tails
    sets[NFC_UNSAFE] = unsafe

    flags = dict.fromkeys(range(0x110000), 0)
    for bit, members in sets.items():
        for c in members:
            flags[c] |= bit

    print("// What the tokenizer must know about every code point, as Hugging Face tokenizers")
    print(f"// {tokenizers.__version__} sees it. Included by unicode.cc only, which says what the numbers mean.")
    print("// Written by tools/unicode/generate.py; not to be edited.")
    print("#pragma once\n\n#include <cstdint>\n\n// clang-format off\nnamespace qwick::unicode_data {")
    print_array(
        "First code point << 8 | flags of all up to the next entry.",
        "uint32_t kFlagRuns[]",
        [f"0x{c << 8 | v:08X}" for c, v in runs(lambda c: flags[c])],
        8,
    )
    print_array(
        "First code point << 8 | canonical combining class of all up to the next entry.",
        "uint32_t kCombiningRuns[]",
        [f"0x{c << 8 | v:08X}" for c, v in runs(lambda c: classes.get(c, 0))],
        8,
    )
    struct = "struct Decomposition { uint32_t code_point, first, second; };"
    print(f"\n{struct}")
    print_array(
        "Characters that their two parts compose to again. By code point.",
        "Decomposition kComposites[]",
        [f"{{0x{c:X}, 0x{a:X}, 0x{b:X}}}" for c, a, b in composites],
        4,
    )
    print_array(
        "Characters that stay decomposed; second is 0 where there is one part. By code point.",
        "Decomposition kOneWay[]",
        [f"{{0x{c:X}, 0x{a:X}, 0x{b:X}}}" for c, a, b in others],
        4,
    )
    print("\n}  // namespace qwick::unicode_data\n// clang-format on")
    print({hex(k): len(v) for k, v in sets.items()}, len(composites), len(others), file=sys.stderr)


if __name__ == "__main__":
    main()
