#!/usr/bin/env python3
"""Writes docs/benchmarks.md, and the tables between its marks in both READMEs, from bench/results/*.json.

    tools/make_benchmarks.py            writes
    tools/make_benchmarks.py --check    fails where what is written is not what the results say
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))

from chart import chart  # noqa: E402
from figures import MEASURES, measured, name_of, shown  # noqa: E402

RESULTS = ROOT / "bench/results"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
# The rows of the short tables in the READMEs.
SHORT = [0, 1, 2, 6, 7, 8, 9]
SHORT_ENGINES = ["qwick q4", "llama.cpp Q4_0", "openvino int4", "onnxruntime int4", "transformers bf16"]


def spread(figure: dict | None) -> str:
    if figure is None or figure["median"] is None:
        return "–"
    low, high = shown(figure["min"]), shown(figure["max"])
    return shown(figure["median"]) + (f" ({low}–{high})" if low != high else "")


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def machine_line(machine: dict) -> str:
    return (f"{machine['processor']} ({machine['isa']}), {machine['threads']} threads; it read "
            f"{machine['read_gb_per_s']:.0f} GB/s and multiplied {machine['int8_gmac_per_s']:.0f} G int8/s when the run began")


def peers_tables(results: dict) -> str:
    engines = measured(results)
    best = {}
    rows = []
    for measure in MEASURES:
        figures = [measure.of(engine) for engine in engines]
        medians = [figure["median"] for figure in figures if figure]
        best[measure.title] = (max if measure.more_is_better else min)(medians)
        rows.append([f"{measure.title}, {measure.unit}"] + [
            f"**{spread(figure)}**" if figure and figure["median"] == best[measure.title] else spread(figure) for figure in figures])
    text = table([""] + [name_of(engine) for engine in engines], rows)
    text += "\n" + table(["engine", "version", "command"],
                         [[name_of(engine), engine["version"], f"`{short_command(engine['config'])}`"] for engine in engines])
    failed = [engine for engine in results["engines"] if "failed" in engine]
    text += "".join(f"\n{name_of(engine)} could not be measured: {engine['failed']}\n" for engine in failed)
    return text


def rounds_line(n: int) -> str:
    return "One round, so there is no spread." if n == 1 else f"{n} rounds, in each of which every engine ran once."


def short_command(command: str) -> str:
    """Without the places where files happen to lie."""
    return re.sub(r"\S*/(?=[^/\s]+)", "", command)


def direct_table(results: dict) -> str:
    """What engines give without HTTP: `qwick bench engine`, llama-bench and llama-batched-bench; "" of none."""
    engines = [engine for engine in results["engines"] if "engine" in engine]
    if not engines:
        return ""
    rows: dict[str, list[str]] = {}

    def put(what: str, column: int, figure: dict) -> None:
        rows.setdefault(what, ["–"] * len(engines))[column] = spread(figure)

    for column, engine in enumerate(engines):
        own = engine["engine"]
        for row in own["decode"]:
            flash = ", flash attention" if row.get("flash_attention") else ""
            put(f"one answer after {row['depth']} tokens{flash}, tok/s", column, row["tokens_per_s"])
        for row in own["prompt"]:
            put(f"reading a prompt of {row['tokens']}, tok/s", column, row["tokens_per_s"])
        for row in own["batch"]:
            put(f"{row['sequences']} answers at once, tok/s", column, row["tokens_per_s"])
        put("reading a prompt of 13, ms", column, own["first_token"]["ms"])
    return ("Without HTTP, qwick by `qwick bench engine` and llama.cpp by its own `llama-bench` and `llama-batched-bench`, one after "
            "the other:\n\n" + table([""] + [name_of(engine) for engine in engines],
                                     [[what, *cells] for what, cells in rows.items()]) + "\n")


def guide_table(rows: list[dict]) -> str:
    return table(["20 times 你好", "p50 ms", "p95 ms", "mean ms", "first token ms", "requests/s", "tok/s"],
                 [[row["case"]] + [spread(row[name]) for name in ("p50_ms", "p95_ms", "mean_ms", "first_token_ms", "requests_per_s",
                                                                  "tokens_per_s")] for row in rows])


def sweep_table(rows: list[dict]) -> str:
    return table(["workload", "clients", "tok/s", "first token p50 ms", "p95 ms", "ms a token p50", "answer p50 ms", "good"],
                 [[row["workload"], str(row["concurrency"] or f"{row['rate_per_s']:g}/s"), spread(row["tokens_per_s"]),
                   spread(row["first_token_ms"]["p50"]), spread(row["first_token_ms"]["p95"]), spread(row["inter_token_ms"]["p50"]),
                   spread(row["latency_ms"]["p50"]), f"{100 * row['good_share']['median']:.0f} %"] for row in rows])


def ablation_table(ablation: dict) -> str:
    text = table(["step", "p50 ms", "first text ms", "ms an answer", "tok/s", "computing %", "the guide's GPU"],
                 [[step["step"]] + [spread(step[name]) for name in ("p50_ms", "first_text_ms", "per_answer_ms", "tokens_per_s",
                                                                    "compute_utilization")]
                  + [f"{g['p50_ms']} ms, {g['tokens_per_s']} tok/s, {g['gpu_utilization']} %" if (g := step["guide"]) else ""]
                  for step in ablation["steps"]])
    c = ablation["conversation"]
    return text + (f"\nA conversation of {c['turns']} turns takes {spread(c['without_cache_ms'])} ms without the cache and "
                   f"{spread(c['with_cache_ms'])} ms with it: {100 * c['saved']['median']:.0f} % saved (the guide: 30–50 %).\n")


def document(serve: dict, peers: dict) -> str:
    return f"""# Benchmarks

Made by `tools/make_benchmarks.py` from `bench/results/`; every figure is the median of its rounds, with the least and
the most where they differ. Machines move: compare within a table, not between them.

## qwick by itself

```bash
{serve["command"]} --json
```

{serve["server"]["name"]}, {serve["server"]["dtype"]}, on {machine_line(serve["machine"])}. {serve["rounds"]} rounds. The
server was ready after {serve["server"]["ready_ms"]:.0f} ms and had {serve["server"]["resident_mib"]:.0f} MiB resident at the end.
Weights are random, of Qwen3-0.6B's exact shape (`qwick synth`); answers have exactly the length that is asked for.

{guide_table(serve["guide"])}
{sweep_table(serve["sweep"])}
"Good" is the share of answers whose first token came within {serve["slo"]["first_token_ms"]:.0f} ms and whose others took at
most {serve["slo"]["inter_token_ms"]:.0f} ms each.

The guide's steps. "First text" is what a person waits for; without streaming it is the whole answer.

{ablation_table(serve["ablation"])}
## Against other engines

```bash
make bench-peers
```

On {machine_line(peers["machine"])}. {rounds_line(measured(peers)[0]["rounds"])} How each is configured, and
why, is in `bench/peers/engines.py`.

{peers_tables(peers)}
{direct_table(peers)}![The same as bars](peers.svg)
"""


def short_table(peers: dict, zh: bool) -> str:
    engines = [engine for name in SHORT_ENGINES for engine in measured(peers) if name_of(engine) == name]
    rows = []
    for i in SHORT:
        measure = MEASURES[i]
        rows.append([f"{measure.title_zh if zh else measure.title}, {measure.unit}"]
                    + [shown(figure["median"]) if (figure := measure.of(engine)) else "–" for engine in engines])
    machine = peers["machine"]
    where = f"{machine['processor']} ({machine['isa']})"
    line = (f"Qwen3-0.6B 的形状（随机权重），{where}，{machine['threads']} 个线程，所有引擎在同一次运行中：\n\n" if zh else
            f"Qwen3-0.6B's shape with random weights on {where}, {machine['threads']} threads, all in one run:\n\n")
    return line + table([""] + [name_of(engine) for engine in engines], rows)


def with_table(readme: pathlib.Path, text: str) -> str:
    old = readme.read_text(encoding="utf-8")
    return re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{text}{END}", old, flags=re.S)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    serve = json.loads((RESULTS / "serve.json").read_text(encoding="utf-8"))
    peers = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))
    made = {ROOT / "docs/benchmarks.md": document(serve, peers), ROOT / "docs/peers.svg": chart(peers),
            ROOT / "README.md": with_table(ROOT / "README.md", short_table(peers, False)),
            ROOT / "README.zh-CN.md": with_table(ROOT / "README.zh-CN.md", short_table(peers, True))}
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is not what bench/results says: run tools/make_benchmarks.py")
        else:
            path.write_text(made[path], encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
