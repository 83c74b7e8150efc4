#!/usr/bin/env python3
"""Is one commit slower than another? Builds both and times them in turns.

    tools/bench_compare.py BASE NEW [--rounds 5] [--model MODEL] [--only engine,mask,tokenizer]

NEW may be "." for the working tree as it is. Exits with 1 where something is slower beyond the noise. Both builds
stay in ~/.cache/qwick/bench-compare (--cache).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
N_LAYERS = 4  # of the model that is made up: the same kernels and shapes, in a seventh of the time
MOST_TIMES = 3  # --rounds, before something counts as slower
SMALLEST_BAND = 0.02  # where rounds happen to agree more than machines do


def run(*command, cwd: pathlib.Path = ROOT, **options) -> subprocess.CompletedProcess:
    done = subprocess.run([str(part) for part in command], cwd=cwd, check=False, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command[:3]))} failed:\n{(done.stderr or done.stdout)[-2000:]}")
    return done


class Build:
    def __init__(self, commit: str, cache: pathlib.Path):
        self.name = commit if commit == "." else run("git", "rev-parse", "--short", commit).stdout.strip()
        self.source = ROOT if commit == "." else cache / f"source-{self.name}"
        self.folder = self.source / "build/guard"
        if not self.source.exists():
            run("git", "worktree", "prune")
            run("git", "worktree", "add", "--detach", self.source, self.name)
        print(f"building {self.name}", file=sys.stderr, flush=True)
        # Seen from its build folder each source has the same paths, so that what is the same is compiled once.
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.source), "CCACHE_NOHASHDIR": "1"}
        run("cmake", "--preset", "release", "-B", self.folder, "-DQWICK_TESTS=OFF", "-DQWICK_BENCH=ON", "-Wno-dev",
            cwd=self.source, env=environment)
        run("cmake", "--build", self.folder, "--target", "qwick", "engine_bench", env=environment)

    def qwick(self, *arguments, **options) -> str:
        environment = {**os.environ, "QWICK_CACHE": str(self.folder / "packed")}
        return run(self.folder / "qwick", *arguments, env=environment, **options).stdout


def engine(build: Build, model: pathlib.Path) -> dict[str, float]:
    """Seconds a token, from `bench engine`."""
    report = json.loads(build.qwick("bench", "engine", model, "--dtype", "q4", "--ctx", "2400", "--kv-cache-mib", "512",
                                    "--rounds", "1", "--json"))
    rates = {f"decode at {row['depth']}": row["tokens_per_s"] for row in report["decode"]}
    rates |= {f"prompt of {row['tokens']}": row["tokens_per_s"] for row in report["prompt"] if row["tokens"] >= 128}
    rates |= {f"{row['sequences']} answers": row["tokens_per_s"] for row in report["batch"] if row["sequences"] in (4, 8)}
    return {name: 1 / rate for name, rate in rates.items()} | {"loading": report["load_s"]}


def mask(build: Build, _model: pathlib.Path) -> dict[str, float]:
    """Choosing a token under masks, filters and penalties."""
    report = json.loads(run(build.folder / "engine_bench", "--benchmark_format=json", "--benchmark_min_time=0.1").stdout)
    return {f"mask {row['name']}": row["real_time"] for row in report["benchmarks"]}


def tokenizer(build: Build, _model: pathlib.Path) -> dict[str, float]:
    text = "".join(f"Line {i}: the quick brown fox, 你好世界, x = {i * 37 % 101}; naïve café!\n" for i in range(20_000))
    begin = time.monotonic()
    build.qwick("tokenize", "demo", input=text)
    return {"tokenizer": time.monotonic() - begin}


# Each gives times by name; a new measurement is a line here.
MEASUREMENTS: dict[str, Callable[[Build, pathlib.Path], dict[str, float]]] = {
    "engine": engine, "mask": mask, "tokenizer": tokenizer}


def verdict(ratios: list[float]) -> tuple[float, float, str]:
    """NEW / BASE of each round: their median, the band of noise, and what that says.

    The band is two standard errors of a median of normal numbers, 1.2533 deviations over the root of their count, with
    1.4826 times the median absolute deviation for the deviation (both are textbook constants): one slow round does not
    move it.
    """
    middle = statistics.median(ratios)
    deviation = 1.4826 * statistics.median(abs(ratio - middle) for ratio in ratios)
    band = max(SMALLEST_BAND, 2 * 1.2533 * deviation / len(ratios) ** 0.5)
    said = "slower" if middle > 1 + band else "faster" if middle < 1 - band else "no difference"
    return middle, band, said


def model_of(cache: pathlib.Path, build: Build) -> pathlib.Path:
    path = cache / f"qwen3-{N_LAYERS}-layers"
    if not path.exists():
        build.qwick("synth", "qwen3-0.6b", path, "--layers", N_LAYERS)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", type=pathlib.Path, help="default: random weights of Qwen3-0.6B's shape with 4 layers")
    parser.add_argument("--only", default=",".join(MEASUREMENTS), help="of engine, mask, tokenizer")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path.home() / ".cache/qwick/bench-compare")
    arguments = parser.parse_args()
    if arguments.rounds < 4:
        parser.error("--rounds: fewer than 4 tell nothing of the noise")
    wanted = arguments.only.split(",")
    if not set(wanted) <= set(MEASUREMENTS):
        parser.error(f"--only: there are {', '.join(MEASUREMENTS)}")
    arguments.cache.mkdir(parents=True, exist_ok=True)
    base, new = Build(arguments.base, arguments.cache), Build(arguments.new, arguments.cache)
    model = arguments.model or model_of(arguments.cache, new)
    ratios: dict[str, list[float]] = {}

    def verdicts() -> dict[str, tuple[float, float, str]]:
        return {name: verdict(of_rounds) for name, of_rounds in ratios.items()}

    n_rounds = 0
    # What looks slower is measured again with what was measured beside it: chance does not repeat itself.
    while n_rounds == 0 or (n_rounds < MOST_TIMES * arguments.rounds and "slower" in {v[2] for v in verdicts().values()}):
        for _ in range(arguments.rounds):
            n_rounds += 1
            print(f"round {n_rounds}", file=sys.stderr, flush=True)
            for measurement in wanted:
                # Base first in one round, new first in the next: what warms up favours neither.
                times = {build: MEASUREMENTS[measurement](build, model)
                         for build in ((base, new) if n_rounds % 2 else (new, base))}
                for name, seconds in times[new].items():
                    ratios.setdefault(name, []).append(seconds / times[base][name])
    print(f"{base.name} -> {new.name}: time of the second over time of the first, {n_rounds} rounds")
    for name, (middle, band, said) in verdicts().items():
        print(f"{name:44}{middle:8.3f}  noise {band:.3f}  {said}")
    return 1 if "slower" in {v[2] for v in verdicts().values()} else 0


if __name__ == "__main__":
    sys.exit(main())
