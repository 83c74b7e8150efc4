"""Packed weights: `qwick pack` and --packed, and the cache directory that spares a second start the work."""
import json
import os
import re
import shutil
import subprocess

import pytest

from server import BINARY, ROOT, Server

PACKING = "packing the weights"


@pytest.fixture
def model(tmp_path):
    return shutil.copytree(ROOT / "models" / "demo", tmp_path / "tiny model")


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def qwick(*arguments, cache=None) -> subprocess.CompletedProcess:
    environment = os.environ | ({"QWICK_CACHE": str(cache)} if cache else {})
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False,
                          env=environment)


def generate(model, cache, *arguments):
    done = qwick("generate", model, "--prompt", "Hello", "--dtype", "q4", "--json", *arguments, cache=cache)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["ids"], done.stderr


def touch(file):
    time = file.stat().st_mtime_ns + 1_000_000
    os.utime(file, ns=(time, time))


def test_packed_once_and_mapped_afterwards(model, cache):
    ids, log = generate(model, cache)
    assert log.count("\n") == 1 and "not there yet; " + PACKING in log
    [file] = cache.iterdir()
    assert re.fullmatch(r"tiny_model-q4-[0-9a-f]{16}\.qwick", file.name)
    first = file.stat()
    assert generate(model, cache) == (ids, "")
    assert generate(os.path.relpath(model), cache) == (ids, "")  # the same place by another name
    assert file.stat().st_mtime_ns == first.st_mtime_ns and file.stat().st_ino == first.st_ino
    server = Server(str(model), "--dtype", "q4", environment={"QWICK_CACHE": str(cache)})
    assert server.chat("Hello!").status == 200
    assert server.stop() == 0 and PACKING not in server.output

    touch(model / "model.safetensors")
    again, log = generate(model, cache)
    assert again == ids and "has changed since; " + PACKING in log
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    again, log = generate(model, cache)
    assert again == ids and "damaged" in log and PACKING in log
    assert generate(model, cache) == (ids, "")
    assert list(cache.iterdir()) == [file]


def test_no_place_for_a_cache(model, cache):
    cache.write_text("not a directory")
    _, log = generate(model, cache)
    assert "stay in memory" in log and len(log.splitlines()) == 2
    homeless = {name: value for name, value in os.environ.items()
                if name not in ("HOME", "XDG_CACHE_HOME", "QWICK_CACHE")}
    done = subprocess.run([BINARY, "generate", str(model), "--prompt", "Hello", "--dtype", "q4"], env=homeless,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stderr == ""


def test_a_file_of_ones_own(model, cache, tmp_path):
    out = tmp_path / "own.bin"
    done = qwick("pack", model, "--dtype", "q4", "-o", out)
    assert done.returncode == 0, done.stderr
    size = re.fullmatch(rf"{re.escape(str(out))}: ([\d.]+) MiB, ([\d.]+) bits per weight, [\d.]+ s\n", done.stdout)
    assert float(size[1]) == pytest.approx(out.stat().st_size / 2**20, abs=0.1)
    assert 4.5 <= float(size[2]) < 5

    ids, _ = generate(model, cache)
    shutil.rmtree(cache)
    assert generate(model, cache, "--packed", out) == (ids, "")
    assert not cache.exists()

    def refusal(*arguments):
        done = qwick("generate", *arguments, "--prompt", "x", "--packed", out)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and str(out) in done.stderr, done.stderr
        return done.stderr

    assert "packed as q4, not q8" in refusal(model, "--dtype", "q8")
    assert "f32" in refusal(model, "--dtype", "f32")
    other = shutil.copytree(model, tmp_path / "other")
    touch(other / "model.safetensors")
    assert "another model" in refusal(other, "--dtype", "q4")
    assert "demo" in refusal("demo", "--dtype", "q4")
    before = out.read_bytes()
    out.write_bytes(before[:-1])
    assert "truncated" in refusal(model, "--dtype", "q4")
    assert out.read_bytes() == before[:-1]  # it isn't ours to repair
    out.unlink()
    assert "No such file" in refusal(model, "--dtype", "q4")


def test_what_pack_refuses(model, tmp_path):
    out = tmp_path / "x.qwick"
    for arguments, reason in [([model], "--out"), ([model, "-o", out, "--dtype", "f32"], "f32"),
                              (["demo", "-o", out, "--dtype", "q4"], "demo"),
                              ([model, "-o", tmp_path / "no" / "x", "--dtype", "q4"], "No such file")]:
        done = qwick("pack", *arguments)
        assert done.returncode in (1, 2) and reason in done.stderr, done.stderr
    assert not out.exists()
