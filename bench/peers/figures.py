"""The figures that people compare, out of the results of run.py."""
import dataclasses
from collections.abc import Callable


def measured(results: dict) -> list[dict]:
    """The engines that were measured over HTTP."""
    return [engine for engine in results["engines"] if "guide" in engine]


def name_of(engine: dict) -> str:
    return f"{engine['name']} {engine['weights']}"


def row_of(engine: dict, workload: str, n_clients: int) -> dict | None:
    return next((row for row in engine.get("sweep", []) if row["workload"] == workload and row["concurrency"] == n_clients), None)


def mapped(figure: dict | None, change: Callable[[float], float]) -> dict | None:
    """A figure over rounds put another way; where it falls as the other rises, least and most change places."""
    if figure is None or figure["median"] is None:
        return None
    low, high = sorted((change(figure["min"]), change(figure["max"])))
    return {"median": change(figure["median"]), "min": low, "max": high}


def of_row(workload: str, n_clients: int, take: Callable[[dict], dict | None]) -> Callable[[dict], dict | None]:
    def figure(engine):
        row = row_of(engine, workload, n_clients)
        return take(row) if row else None
    return figure


@dataclasses.dataclass
class Measure:
    title: str
    title_zh: str
    unit: str
    more_is_better: bool
    of: Callable[[dict], dict | None]  # an engine's results -> {"median", "min", "max"}


MEASURES = [
    Measure("one answer at a time", "单个回答", "tok/s", True,
            of_row("128/128", 1, lambda row: mapped(row["inter_token_ms"]["p50"], lambda ms: 1000 / ms))),
    Measure("8 clients, prompts of 128 and answers of 128", "8 个客户端(提示 128,回答 128)", "tok/s", True,
            of_row("128/128", 8, lambda row: row["tokens_per_s"])),
    Measure("reading a prompt of 512", "读 512 个词元的提示", "tok/s", True,
            of_row("512/64", 1, lambda row: mapped(row["first_token_ms"]["p50"], lambda ms: 1000 * row["prompt_tokens"] / ms))),
    Measure("reading a prompt of 2048", "读 2048 个词元的提示", "tok/s", True,
            of_row("2048/128", 1, lambda row: mapped(row["first_token_ms"]["p50"], lambda ms: 1000 * row["prompt_tokens"] / ms))),
    Measure("one answer after a prompt of 2048", "2048 个词元之后的单个回答", "tok/s", True,
            of_row("2048/128", 1, lambda row: mapped(row["inter_token_ms"]["p50"], lambda ms: 1000 / ms))),
    Measure("你好, 10 tokens: whole answer, p50", "你好,10 个词元:完整回答 p50", "ms", False,
            lambda engine: engine["guide"][0]["p50_ms"] if "guide" in engine else None),
    Measure("你好: first token", "你好:首个词元", "ms", False,
            lambda engine: engine["guide"][0]["first_token_ms"] if "guide" in engine else None),
    Measure("a new short prompt: first token", "新的短提示:首个词元", "ms", False,
            lambda engine: engine["guide"][1]["first_token_ms"] if "guide" in engine else None),
    Measure("a turn of a conversation: first token, p50", "多轮对话:首个词元 p50", "ms", False,
            of_row("chat", 1, lambda row: row["first_token_ms"]["p50"])),
    Measure("resident memory, with room for 18,000 tokens", "常驻内存(可缓存 18000 个词元)", "MiB", False,
            lambda engine: engine.get("resident_mib")),
    Measure("ready after", "启动到可用", "ms", False, lambda engine: engine.get("ready_ms")),
]


def shown(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"
