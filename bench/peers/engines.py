"""The engines that are compared, each as its own documentation advises for two cores, and the figures that qwick and
llama.cpp give without HTTP. README.md says why each is set as it is."""
import dataclasses
import json
import subprocess
from collections.abc import Callable

from workshop import HERE, PeerError, Workshop, pinned

CACHE_TOKENS = 18432  # eight conversations of 2048 + 128 tokens, and a little more: the same room for all
DEPTHS = [0, 2048, 8192]


@dataclasses.dataclass(frozen=True)
class Engine:
    name: str
    weights: str
    version: Callable[[Workshop], str]
    server: Callable[[Workshop, int, int], list]  # workshop, port, threads -> command
    direct: Callable[[Workshop, int], dict] | None = None  # workshop, threads -> what `qwick bench engine` prints
    ready: str = "/health"
    is_slow: bool = False  # gets fewer requests

    @property
    def id(self) -> str:
        return f"{self.name}:{self.weights}"


def qwick(weights: str, model: Callable[[Workshop], object], *options: str) -> Engine:
    """60 KiB of 8-bit cache a token."""
    return Engine(
        "qwick", weights,
        lambda workshop: output([workshop.qwick, "--version"]).split()[-1],
        lambda workshop, port, threads: [
            workshop.qwick, "serve", model(workshop), *options, "--port", port, "--threads", threads,
            "--kv-cache-mib", CACHE_TOKENS * 60 // 1024],
        lambda workshop, threads: json.loads(output([
            workshop.qwick, "bench", "engine", model(workshop), *options, "--threads", threads, "--rounds", "1",
            "--ctx", "8300", "--kv-cache-mib", "600", "--json"], workshop)),
        ready="/health/ready")


def llama_cpp(kind: str) -> Engine:
    """f16 cache and flash attention "auto" are the defaults; one unified cache lets eight slots share the room."""
    return Engine(
        "llama.cpp", kind,
        lambda _: f"of llama-cpp-python {pinned('requirements-llama.cpp.txt', 'llama-cpp-python')}",
        lambda workshop, port, threads: [
            workshop.llama_program("llama-server"), "--model", workshop.gguf(kind), "--port", port,
            "--threads", threads, "--parallel", "8", "--kv-unified", "--ctx-size", CACHE_TOKENS,
            "--flash-attn", "auto"],
        lambda workshop, threads: llama_direct(workshop, kind, threads))


def wrapped(name: str, weights: str, package: str, model: Callable[[Workshop], object], *options: str,
            is_slow: bool = False) -> Engine:
    """A library behind openai_server.py."""
    return Engine(
        name, weights,
        lambda _: f"{package} {pinned(f'requirements-{name}.txt', package)}",
        lambda workshop, port, threads: [
            workshop.python(name), HERE / "openai_server.py", "--engine", name, "--model", model(workshop),
            "--port", port, "--threads", threads, *(word for option in options for word in ("--option", option))],
        is_slow=is_slow)


# The cache of OpenVINO has 8 bits as ours has: 1 GiB holds the same tokens.
ENGINES = [
    qwick("q4", Workshop.weights, "--dtype", "q4"),
    qwick("q8", Workshop.weights, "--dtype", "q8"),
    qwick("Q4_0", lambda workshop: workshop.gguf("Q4_0")),
    qwick("Q8_0", lambda workshop: workshop.gguf("Q8_0")),
    llama_cpp("Q4_0"),
    llama_cpp("Q8_0"),
    llama_cpp("Q4_K_M"),
    wrapped("openvino", "int4", "openvino-genai", lambda workshop: workshop.openvino("int4")),
    wrapped("openvino", "int8", "openvino-genai", lambda workshop: workshop.openvino("int8")),
    wrapped("onnxruntime", "int4", "onnxruntime-genai", Workshop.onnx),
    wrapped("transformers", "bf16", "transformers", Workshop.weights, "dtype=bfloat16", is_slow=True),
    wrapped("transformers", "f32", "transformers", Workshop.weights, "dtype=float32", is_slow=True),
]


def choose(names: str) -> list[Engine]:
    """Engines by name ("qwick") or by name and weights ("llama.cpp:Q4_0"), in the order of the table."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    known = {engine.name for engine in ENGINES} | {engine.id for engine in ENGINES} | {"all"}
    for name in wanted:
        if name not in known:
            raise SystemExit(f"there is no engine {name}; there are {', '.join(sorted(known))}")
    return [engine for engine in ENGINES if {"all", engine.name, engine.id} & set(wanted)]


def output(command: list, workshop: Workshop | None = None) -> str:
    """What a command prints, or a PeerError with the end of what it complained."""
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, check=False,
                            env=workshop.environment if workshop else None)
    if result.returncode != 0:
        raise PeerError(f"{' '.join(words[:3])} failed: {(result.stderr.strip().splitlines() or ['no word'])[-1]}")
    return result.stdout


def llama_direct(workshop: Workshop, kind: str, threads: int) -> dict:
    """llama.cpp's own llama-bench and llama-batched-bench, under the names that `qwick bench engine --json` has.

    They evaluate random tokens and choose none, where ours takes the likeliest of each step's logits.
    """
    model = workshop.gguf(kind)
    bench = [workshop.llama_program("llama-bench"), "--model", model, "--threads", threads, "--repetitions", 1,
             "--output", "json"]
    decode = json.loads(output([*bench, "--n-prompt", 0, "--n-gen", 48, "--n-depth", joined(DEPTHS),
                                "--flash-attn", "off,on"]))
    prompt = json.loads(output([*bench, "--n-gen", 0, "--n-prompt", "13,16,128,512,2048"]))
    speeds = {row["n_prompt"]: row["avg_ts"] for row in prompt}
    batch = [json.loads(line) for line in output([
        workshop.llama_program("llama-batched-bench"), "--model", model, "--threads", threads, "--ctx-size", 2048,
        "-npp", 16, "-ntg", 96, "-npl", "1,2,4,8,16", "--output-format", "jsonl"]).splitlines() if line.startswith("{")]
    return {
        "decode": [{"depth": row["n_depth"], "flash_attention": bool(row["flash_attn"]),
                    "tokens_per_s": row["avg_ts"]} for row in decode],
        "first_token": {"prompt_tokens": 13, "ms": 1e3 * 13 / speeds.pop(13)},
        "prompt": [{"tokens": n, "tokens_per_s": speed} for n, speed in speeds.items()],
        "batch": [{"sequences": row["pl"], "tokens_per_s": row["speed_tg"],
                   "times_one": row["speed_tg"] / batch[0]["speed_tg"]} for row in batch],
    }


def joined(values: list[int]) -> str:
    return ",".join(map(str, values))
