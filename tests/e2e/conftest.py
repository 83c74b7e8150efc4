"""Running servers, each started once: the built-in demo, and the real models where they are present."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from server import Server  # noqa: E402

MODELS = pathlib.Path(os.environ.get("QWICK_TEST_MODELS", pathlib.Path.home() / ".cache" / "qwick" / "test-models"))


@pytest.fixture(scope="session", autouse=True)
def packed_weights(tmp_path_factory):
    """Packed weights go to a place of this run's own."""
    os.environ["QWICK_CACHE"] = str(tmp_path_factory.mktemp("packed"))


def running(*arguments: str):
    server = Server(*arguments)
    yield server
    assert server.stop() == 0, server.output


def real_model(file: str):
    path = MODELS / file
    if not path.exists():
        pytest.skip(f"no {path}: make test-models")
    yield from running(str(path))


@pytest.fixture(scope="session")
def demo():
    yield from running()


@pytest.fixture(scope="session")
def smollm():
    yield from real_model("smollm2-135m-instruct-q4_1.gguf")


@pytest.fixture(scope="session")
def coder():
    yield from real_model("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
