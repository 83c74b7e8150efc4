#!/usr/bin/env python3
"""Checks that kernel objects export no weak symbols.

A shared inline function compiled in an AVX-512 object may replace the baseline's copy at link time and
crash an older processor; so objects under exec/cpu that are built for one instruction set hold none.

    python3 tools/check_weak_symbols.py BUILD_DIR [--pattern GLOB]
"""
import argparse
import pathlib
import subprocess
import sys


def weak_symbols(path: pathlib.Path) -> list[str]:
    lines = subprocess.run(["nm", "--defined-only", "-C", path], capture_output=True, text=True, check=True).stdout
    return [line for line in lines.splitlines() if len(line) > 17 and line[17] in "VWu"]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build_dir", type=pathlib.Path)
    parser.add_argument("--pattern", default="**/exec/cpu/kernels_*.o")
    arguments = parser.parse_args()
    objects = sorted(path for path in arguments.build_dir.glob(arguments.pattern)
                     if not path.name.endswith(("_test.cc.o", "_bench.cc.o")))
    n_bad = 0
    for path in objects:
        for symbol in weak_symbols(path):
            print(f"{path.name}: weak symbol {symbol[17:]}")
            n_bad += 1
    print(f"kernel objects: {len(objects)} checked, {n_bad} weak symbols")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
