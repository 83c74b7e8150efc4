"""What is compared: each engine with its weights, the command of its server, and why it is configured so."""
import dataclasses
import pathlib
from collections.abc import Callable

from setup import HERE, QWICK, Setup

N_SLOTS = 8  # answers at once
CONTEXT = 2304  # tokens of each: the longest workload


@dataclasses.dataclass
class Engine:
    name: str
    bits: int  # of a weight, to compare like with like
    weights: str
    why: str  # the configuration
    command: Callable[[Setup, int, int], list]  # of setup, port and threads; sets up what is not there
    requirements: str = ""  # its file of versions
    is_slow: bool = False  # too slow for the whole sweep


def qwick(*options) -> Callable:
    return lambda setup, port, threads: [QWICK, "serve", *(option(setup) if callable(option) else option for option in options),
                                         "--port", port, "--threads", threads, "--ctx", CONTEXT, "--kv-cache-mib", 1200]


def llama_cpp(kind: str, flash_attention: str) -> Callable:
    return lambda setup, port, threads: [
        setup.llama_cpp() / "llama-server", "-m", setup.gguf(kind), "--port", port, "-t", threads, "-tb", threads,
        "-np", N_SLOTS, "-c", N_SLOTS * CONTEXT, "-fa", flash_attention, "--no-webui", "--jinja"]


def library(engine: str, model: Callable, **options) -> Callable:
    def command(setup, port, threads):
        folder = model(setup)
        return [setup.venv(engine), HERE / "openai_server.py", "--engine", engine, "--model", folder, "--tokenizer", setup.model(),
                "--port", port, "--threads", threads,
                *(part for key, value in options.items() for part in ("--option", f"{key}={value}"))]
    return command


ENGINES = [
    Engine("qwick q4", 4, "4 bits, groups of 32, the head too", "as it comes", qwick(lambda s: s.model(), "--dtype", "q4")),
    Engine("qwick q8", 8, "8 bits, groups of 32", "as it comes (the default)", qwick(lambda s: s.model(), "--dtype", "q8")),
    Engine("qwick Q4_0.gguf", 4, "the very file of llama.cpp", "as it comes", qwick(lambda s: s.gguf("Q4_0"))),
    Engine("llama.cpp Q4_0", 4, "Q4_0 --pure: the head too",
           f"llama-server, -np {N_SLOTS} for continuous batching, prompt cache on as it is by default, flash attention on: "
           "llama-bench has it ahead at depth 0", llama_cpp("Q4_0", "on"), "llama.cpp"),
    Engine("llama.cpp Q4_0, no flash attention", 4, "the same", "the same, flash attention off: ahead at depth",
           llama_cpp("Q4_0", "off"), "llama.cpp"),
    Engine("llama.cpp Q8_0", 8, "Q8_0", "as Q4_0", llama_cpp("Q8_0", "on"), "llama.cpp"),
    Engine("llama.cpp Q4_K_M", 5, "Q4_K_M: 5.2 bits on the whole", "as Q4_0", llama_cpp("Q4_K_M", "on"), "llama.cpp"),
    Engine("OpenVINO int4", 4, "4 bits symmetric, groups of 128, the head too",
           "ContinuousBatchingPipeline: prefix cache, 8-bit cache of keys and values, latency hint",
           library("openvino", lambda s: s.openvino(4)), "openvino"),
    Engine("OpenVINO int8", 8, "8 bits, a scale a row", "as int4", library("openvino", lambda s: s.openvino(8)), "openvino"),
    Engine("ONNX Runtime int4", 4, "4 bits symmetric, groups of 32, int8 activations (accuracy level 4)",
           "its generator, one request at a time", library("onnxruntime", lambda s: s.onnxruntime()), "onnxruntime"),
    Engine("transformers bf16", 16, "bf16", "model.generate, one request at a time, as people begin",
           library("transformers", lambda s: s.model()), "transformers", is_slow=True),
]


def versions(engine: Engine) -> str:
    """What the engine was pinned to; the server itself tells qwick's."""
    if not engine.requirements:
        return ""
    lines = (pathlib.Path(HERE) / f"requirements-{engine.requirements}.txt").read_text().splitlines()
    return ", ".join(line for line in lines if line and not line.startswith("#"))
