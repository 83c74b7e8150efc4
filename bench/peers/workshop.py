"""What the peers need, made once and kept in the cache folder: virtual environments, llama.cpp's programs, and one set
of random weights in each engine's own format. engines.py asks for it; whatever is there already is taken as it is."""
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
BUILD_OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF",
                 "-DLLAMA_BUILD_APP=OFF", "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF", "-DLLAMA_OPENSSL=OFF"]
PROGRAMS = ["llama-server", "llama-bench", "llama-batched-bench", "llama-quantize"]


class PeerError(Exception):
    """A peer can't be set up or doesn't run; says why in a line."""


def pinned(file: str, package: str) -> str:
    """The version that a requirements file names."""
    return re.search(rf"^{package}==(\S+)$", (HERE / file).read_text(), re.MULTILINE)[1]


class Workshop:
    def __init__(self, cache: pathlib.Path, qwick: pathlib.Path, tokenizer: pathlib.Path):
        self.cache = cache.expanduser().resolve()
        self.qwick = qwick.resolve()
        self.tokenizer = tokenizer.expanduser()
        self.seconds: dict[str, float] = {}  # what was made in this run, and how long it took
        self.environment = {**os.environ, "QWICK_CACHE": str(self.cache / "packed"), "HF_HUB_OFFLINE": "1",
                            "TOKENIZERS_PARALLELISM": "false"}
        (self.cache / "logs").mkdir(parents=True, exist_ok=True)

    def log(self, name: str) -> pathlib.Path:
        return self.cache / "logs" / f"{name}.log"

    # Programs

    def python(self, name: str) -> pathlib.Path:
        """The interpreter of the environment that requirements-NAME.txt describes."""
        folder = self.cache / "venv" / name
        files = [(HERE / f"requirements-{name}{suffix}.txt", options)
                 for suffix, options in (("", []), ("-nodeps", ["--no-deps"]))]
        files = [(file, options) for file, options in files if file.exists()]

        def install():
            shutil.rmtree(folder, ignore_errors=True)
            self.run(f"venv-{name}", ["python3", "-m", "venv", folder])
            for file, options in files:
                self.run(f"venv-{name}", [folder / "bin" / "pip", "install", "--disable-pip-version-check",
                                          *options, "-r", file])

        wanted = "".join(file.read_text() for file, _ in files)
        installed = folder / "installed"
        if not installed.exists() or installed.read_text() != wanted:
            self.timed(f"environment of {name}", install)
            installed.write_text(wanted)
        return folder / "bin" / "python"

    def llama_sources(self) -> pathlib.Path:
        file = "requirements-llama.cpp.txt"
        folder = self.cache / "src" / f"llama_cpp_python-{pinned(file, 'llama-cpp-python')}"

        def fetch():
            self.run("llama.cpp", ["python3", "-m", "pip", "download", "--no-deps", "--no-binary", "llama-cpp-python",
                                   "--dest", folder.parent, "-r", HERE / file])
            with tarfile.open(f"{folder}.tar.gz") as archive:
                archive.extractall(folder.parent, filter="data")

        if not folder.exists():
            self.timed("sources of llama.cpp", fetch)
        return folder / "vendor" / "llama.cpp"

    def llama_program(self, name: str) -> pathlib.Path:
        build = self.cache / "llama.cpp"
        programs = [build / "bin" / program for program in PROGRAMS]
        if not all(program.exists() for program in programs):
            sources = self.llama_sources()
            jobs = str(os.cpu_count())

            def compile_all():
                self.run("llama.cpp", ["cmake", "-S", sources, "-B", build, *BUILD_OPTIONS])
                self.run("llama.cpp", ["cmake", "--build", build, "--parallel", jobs, "--target", *PROGRAMS])

            self.timed("llama.cpp", compile_all)
        return build / "bin" / name

    # Models

    def weights(self) -> pathlib.Path:
        """The Hugging Face directory that all others are made of."""
        return self.made("hf", lambda path: [self.qwick, "synth", "qwen3-0.6b", path, "--tokenizer", self.tokenizer])

    def gguf(self, kind: str) -> pathlib.Path:
        if kind == "BF16":
            return self.made("BF16.gguf", lambda path: [
                self.python("transformers"), self.llama_sources() / "convert_hf_to_gguf.py", self.weights(),
                "--outtype", "bf16", "--outfile", path])
        # Pure: the output head too, which else stays in 6 bits. Q4_K_M is a mixture by its definition.
        pure = [] if kind == "Q4_K_M" else ["--pure"]
        return self.made(f"{kind}.gguf", lambda path: [
            self.llama_program("llama-quantize"), *pure, self.gguf("BF16"), path, kind])

    def openvino(self, kind: str) -> pathlib.Path:
        options = {"int4": ["--sym", "--group-size", "128", "--ratio", "1.0", "--all-layers"], "int8": []}[kind]
        return self.made(f"openvino-{kind}", lambda path: [
            self.python("openvino").with_name("optimum-cli"), "export", "openvino", "--model", self.weights(),
            "--task", "text-generation-with-past", "--weight-format", kind, *options, path])

    def onnx(self) -> pathlib.Path:
        """Blocks of 32, symmetric, the head too; products in int8; the logits of a prompt's last token only."""
        return self.made("onnx-int4", lambda path: [
            self.python("onnxruntime"), "-m", "onnxruntime_genai.models.builder", "-i", self.weights(), "-o", path,
            "-p", "int4", "-e", "cpu", "-c", self.cache / "hub", "--extra_options", "int4_accuracy_level=4",
            "int4_is_symmetric=true", "prune_lm_head=true", "shared_embeddings=true"])

    # How

    def made(self, name: str, command: Callable[[pathlib.Path], list]) -> pathlib.Path:
        """A model under its final name only once it is whole."""
        path = self.cache / "models" / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            unfinished = path.with_name(f"unfinished-{name}")
            shutil.rmtree(unfinished, ignore_errors=True)
            words = command(unfinished)  # makes what this one is made of, which has its own time
            self.timed(f"model {name}", lambda: self.run(name, words))
            unfinished.rename(path)
        return path

    def timed(self, what: str, make: Callable[[], None]) -> None:
        print(f"setting up: {what} ...", flush=True)
        start = time.monotonic()
        make()
        self.seconds[what] = time.monotonic() - start
        print(f"setting up: {what}: {self.seconds[what]:.0f} s", flush=True)

    def run(self, name: str, command: list) -> None:
        """Runs a step of the set-up; all that it says goes to its log."""
        log = self.log(name)
        with log.open("a") as file:
            print("$", *command, file=file, flush=True)
            environment = self.environment
            if subprocess.run(command, stdout=file, stderr=file, env=environment, check=False).returncode != 0:
                raise PeerError(f"{pathlib.Path(command[0]).name} failed: {last_line(log)} ({log})")


def last_line(log: pathlib.Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").replace("\r", "\n").splitlines()]
    return next((line for line in reversed(lines) if line), "it said nothing")[:200]
