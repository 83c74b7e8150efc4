"""Gets the peers and makes each its own form of the same weights, in a cache folder; what is there stays.

Every step leaves a file or folder behind, under its final name only when it is complete.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
QWICK = pathlib.Path(os.environ.get("QWICK_BIN", ROOT / "build/release/qwick"))
LLAMA_CPP_SOURCES = "vendor/llama.cpp"  # inside the source package of llama_cpp_python


class Setup:
    def __init__(self, cache: pathlib.Path, model: pathlib.Path | None, tokenizer: pathlib.Path | None):
        self.cache, self.given_model, self.tokenizer = cache, model, tokenizer
        for folder in ("src", "venv", "models", "logs"):
            (cache / folder).mkdir(parents=True, exist_ok=True)

    def run(self, name: str, *command, **environment: str) -> None:
        """What it prints goes to a file; its end is shown when it fails."""
        log = self.cache / "logs" / f"{name}.log"
        print(f"  {name}: {' '.join(str(part) for part in command)}", file=sys.stderr, flush=True)
        with log.open("w") as out:
            done = subprocess.run([str(part) for part in command], stdout=out, stderr=subprocess.STDOUT, check=False,
                                  env={**os.environ, **environment})
        if done.returncode != 0:
            raise RuntimeError(f"{name} failed, see {log}:\n" + "\n".join(log.read_text(errors="replace").splitlines()[-5:]))

    def venv(self, name: str) -> pathlib.Path:
        """The Python of a virtual environment with bench/peers/requirements-NAME.txt."""
        folder = self.cache / "venv" / name
        done = folder / "installed"
        wanted = HERE / f"requirements-{name}.txt"
        if not done.exists() or done.read_text() != wanted.read_text():
            self.run(f"venv-{name}", sys.executable, "-m", "venv", folder)
            # torch first: the others would take a far larger build of it.
            torch = [line for line in wanted.read_text().split() if line.startswith("torch==")]
            if torch:
                self.run(f"pip-{name}-torch", folder / "bin/pip", "install", "--quiet", *torch)
            self.run(f"pip-{name}", folder / "bin/pip", "install", "--quiet", "-r", wanted)
            done.write_text(wanted.read_text())
        return folder / "bin/python"

    def made(self, name: str, make) -> pathlib.Path:
        """models/NAME, which make(path) writes if it is not there."""
        path = self.cache / "models" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(path.name + ".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.unlink(missing_ok=True) if partial.is_file() else None
            make(partial)
            partial.rename(path)
        return path

    def model(self) -> pathlib.Path:
        """Qwen3-0.6B's exact shape with random weights, as Hugging Face lays it out."""
        if self.given_model:
            return self.given_model
        tokenizer = ["--tokenizer", self.tokenizer] if self.tokenizer else []
        return self.made("hf", lambda path: self.run("synth", QWICK, "synth", "qwen3-0.6b", path, *tokenizer))

    def llama_cpp(self) -> pathlib.Path:
        """The folder of llama-server and llama-bench, built from the source package as its README says."""
        build = self.cache / "llama.cpp"
        if not (build / "built").exists():
            requirement = (HERE / "requirements-llama.cpp.txt").read_text().split()[-1]
            self.run("llama.cpp-sources", sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                     "--dest", self.cache / "src", requirement)
            sources = self.cache / "src" / requirement.replace("==", "-")
            with tarfile.open(f"{sources}.tar.gz") as archive:
                archive.extractall(self.cache / "src", filter="data")
            self.run("llama.cpp-cmake", "cmake", "-G", "Ninja", "-S", sources / LLAMA_CPP_SOURCES, "-B", build,
                     "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", "-DLLAMA_BUILD_SERVER=ON", "-DLLAMA_BUILD_TOOLS=ON",
                     "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_OPENSSL=OFF")
            self.run("llama.cpp-build", "cmake", "--build", build, "--target", "llama-server", "llama-bench",
                     "llama-batched-bench", "llama-quantize", "llama-perplexity")
            (build / "built").touch()
        return build / "bin"

    def gguf(self, kind: str) -> pathlib.Path:
        """Q4_0 and Q8_0 with the output head in the same type (--pure); Q4_K_M as llama.cpp mixes it."""
        def convert(path):
            requirement = (HERE / "requirements-llama.cpp.txt").read_text().split()[-1]
            script = self.cache / "src" / requirement.replace("==", "-") / LLAMA_CPP_SOURCES / "convert_hf_to_gguf.py"
            self.run("gguf-bf16", self.venv("transformers"), script, self.model(), "--outtype", "bf16", "--outfile", path)
        tools = self.llama_cpp()
        whole = self.made("gguf/bf16.gguf", convert)
        pure = [] if kind.endswith("_M") else ["--pure"]
        return self.made(f"gguf/{kind}.gguf",
                         lambda path: self.run(f"gguf-{kind}", tools / "llama-quantize", *pure, whole, path, kind))

    def openvino(self, bits: int) -> pathlib.Path:
        """int4: symmetric, groups of 128, the head included; int8: OpenVINO's default of one scale a row."""
        python = self.venv("openvino")
        form = ["int4", "--sym", "--group-size", "128", "--ratio", "1.0", "--all-layers"] if bits == 4 else ["int8"]
        return self.made(f"openvino-int{bits}", lambda path: self.run(
            f"openvino-int{bits}", python.with_name("optimum-cli"), "export", "openvino", "--model", self.model(),
            "--task", "text-generation-with-past", "--weight-format", *form, path))

    def onnxruntime(self) -> pathlib.Path:
        python = self.venv("onnxruntime")
        return self.made("onnxruntime-int4", lambda path: self.run(
            "onnxruntime-int4", python, "-m", "onnxruntime_genai.models.builder", "-i", self.model(), "-o", path, "-p", "int4",
            "-e", "cpu", "-c", self.cache / "onnxruntime-cache", "--extra_options", "int4_accuracy_level=4",
            "int4_is_symmetric=true", "shared_embeddings=true"))
