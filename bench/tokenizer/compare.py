#!/usr/bin/env python3
"""Encoding speed of qwick against Hugging Face tokenizers, one thread each, in one run.

    bench/tokenizer/compare.py [--model DIR] [--repeats 15]

DIR holds a tokenizer.json (default: Qwen3's among the test models). The two take turns on every
text, so that a machine that is busy or throttles hits both; medians are compared. Needs the program
tokenizer_probe (QWICK_BUILD_DIR, default build/release) and the package tokenizers.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("QWICK_BUILD_DIR", ROOT / "build" / "release"))
MODELS = pathlib.Path(os.environ.get("QWICK_TEST_MODELS", "~/.cache/qwick/test-models")).expanduser()


def texts():
    """Prose is repeated to a size that can be measured; the source code of qwick is as it is."""
    folder = ROOT / "tests" / "differential" / "texts"
    for name in ("english", "chinese", "russian", "hindi", "korean"):
        text = (folder / f"{name}.txt").read_text()
        yield name, text * (1 + 64_000 // len(text.encode()))
    license_text = pathlib.Path("/usr/share/common-licenses/GPL-3")
    if license_text.exists():
        yield "english, not repeated", license_text.read_text()
    yield "code, not repeated", "".join(p.read_text() for p in sorted((ROOT / "src").rglob("*.cc")))
    prompt = "<|im_start|>user\nWhat does a lighthouse keeper do all day?<|im_end|>\n<|im_start|>assistant\n"
    yield "prompts", prompt * 500
    yield "one letter", "a" * 100_000
    yield "spaces", " " * 100_000
    yield "combining marks", "\u0301\u0323" * 25_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, default=MODELS / "qwen3-tokenizer")
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    oracle = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    command = [BUILD / "tests" / "tokenizer_probe", arguments.model]
    probe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(header, data):
        probe.stdin.write(f"{header} {len(data)}\n".encode() + data)
        probe.stdin.flush()
        return probe.stdout.readline()

    print(f"{'text':24}{'bytes':>10}{'tokenizers':>14}{'qwick':>14}{'ratio':>9}")
    for name, text in texts():
        data = text.encode()
        expected = oracle.encode(text, add_special_tokens=False).ids
        assert list(map(int, ask("encode parse", data).split())) == expected, name
        ours, theirs = [], []
        for _ in range(arguments.repeats):
            begin = time.perf_counter_ns()
            oracle.encode(text, add_special_tokens=False)
            theirs.append(time.perf_counter_ns() - begin)
            ours.append(int(ask("time 1", data)))
        speeds = [len(data) / statistics.median(times) * 1e3 for times in (theirs, ours)]
        print(f"{name:24}{len(data):10}{speeds[0]:9.2f} MB/s{speeds[1]:9.2f} MB/s{speeds[1] / speeds[0]:8.1f}x")
    probe.stdin.close()
    probe.wait()


if __name__ == "__main__":
    main()
