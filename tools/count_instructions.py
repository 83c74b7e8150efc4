#!/usr/bin/env python3
"""Counts the instructions of a small fixed run and compares them with bench/instructions.json, so that a slow-down
shows without a clock, on any machine however busy.

    tools/count_instructions.py [--build build/release] [--update]

Counted by valgrind's callgrind, one thread, the AVX2 kernels, the built-in demo. What starting costs falls out: each
part is the difference of two runs of different length. A count depends on the compiler, so the budget names its own;
with another one there is nothing to compare, which is an error only where QWICK_REQUIRE_BUDGET is set.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUDGET = ROOT / "bench/instructions.json"
BAND = 0.03  # processors differ in which memcpy glibc takes


def ids(n: int) -> str:
    return ",".join(str(300 + 7 * i % 1500) for i in range(n))


def generate(n_prompt: int, n_answer: int, *options: str) -> list[str]:
    return ["generate", "demo", "--ids", ids(n_prompt), "--max-tokens", str(n_answer), "--ignore-eos", "--threads", "1",
            # By default the cache's size, and the time to set it up, depends on what memory is free.
            "--kv-cache-mib", "64", *options]


def tokenize(folder: pathlib.Path, n_lines: int) -> list[str]:
    path = folder / f"{n_lines}.txt"
    path.write_text("".join(f"Line {i}: the quick brown fox, 你好世界, x = {i * 37 % 101}; naïve café!\n" for i in range(n_lines)), encoding="utf-8")
    return ["tokenize", "demo", "--file", str(path)]


SAMPLED = ("--temperature", "0.8", "--top-k", "20", "--top-p", "0.95", "--repetition-penalty", "1.1", "--seed", "1")


def parts(folder: pathlib.Path) -> dict[str, tuple[list[str], list[str], int]]:
    """What is counted: a short run, a long one, and how many units more that one does."""
    return {
        "prompt token, q8": (generate(16, 1), generate(272, 1), 256),
        "prompt token, q4": (generate(16, 1, "--dtype", "q4"), generate(272, 1, "--dtype", "q4"), 256),
        "answer token, q8": (generate(16, 1), generate(16, 65), 64),
        "answer token, q4": (generate(16, 1, "--dtype", "q4"), generate(16, 65, "--dtype", "q4"), 64),
        "answer token, sampled": (generate(16, 1, *SAMPLED), generate(16, 65, *SAMPLED), 64),
        "line tokenized": (tokenize(folder, 50), tokenize(folder, 550), 500),
    }


class Counter:
    def __init__(self, binary: pathlib.Path, folder: pathlib.Path):
        self.binary, self.folder = binary, folder
        self.counts: dict[tuple[str, ...], int] = {}

    def count(self, arguments: list[str]) -> int:
        key = tuple(arguments)
        if key not in self.counts:
            environment = {"PATH": os.environ["PATH"], "QWICK_ISA": "avx2", "QWICK_CACHE": str(self.folder), "HOME": str(self.folder)}
            done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.folder}/out", self.binary, *arguments],
                                  capture_output=True, text=True, env=environment, check=False)
            found = re.search(r"Collected : (\d+)", done.stderr)
            if done.returncode != 0 or not found:
                raise RuntimeError(f"qwick {' '.join(arguments[:2])} under valgrind: {done.stderr[-500:]}")
            self.counts[key] = int(found[1])
        return self.counts[key]


def compiler(build: pathlib.Path) -> str:
    """"GNU 12.2.0", as cmake found it."""
    file = next((build / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")).read_text()
    return " ".join(re.search(rf'CMAKE_CXX_COMPILER_{name} "([^"]*)"', file)[1] for name in ("ID", "VERSION"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--update", action="store_true", help="make what is counted the budget")
    arguments = parser.parse_args()
    found = compiler(arguments.build)
    budget = json.loads(BUDGET.read_text()) if BUDGET.exists() else {"compiler": None, "instructions": {}}
    if not arguments.update and found != budget["compiler"]:
        print(f"the budget is for {budget['compiler']}, this was built by {found}: nothing to compare")
        return 1 if os.environ.get("QWICK_REQUIRE_BUDGET", "0") != "0" else 0
    with tempfile.TemporaryDirectory() as name:
        counter = Counter(arguments.build / "qwick", pathlib.Path(name))
        counted = {part: (counter.count(long) - counter.count(short)) // n
                   for part, (short, long, n) in parts(pathlib.Path(name)).items()}
    if arguments.update:
        BUDGET.write_text(json.dumps({"compiler": found, "instructions": counted}, indent=2) + "\n")
    is_over = is_under = False
    print(f"{'instructions for a':24}{'counted':>14}{'budget':>14}{'change':>9}")
    for part, count in counted.items():
        allowed = budget["instructions"].get(part) if not arguments.update else count
        change = count / allowed - 1 if allowed else float("inf")
        is_over |= change > BAND
        is_under |= change < -BAND
        print(f"{part:24}{count:14,}{allowed or 0:14,}{change:+9.1%}")
    if is_over:
        print("more than the budget: find out why, or, where it is worth it, tools/count_instructions.py --update and say so in the commit")
    elif is_under:
        print("less than the budget, well done: tools/count_instructions.py --update keeps it so")
    return 1 if is_over else 0


if __name__ == "__main__":
    sys.exit(main())
