"""The openai and LangChain packages for JavaScript, and the examples that use them.

The packages are what js/package-lock.json says, installed once, outside the repository.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
from server import ROOT

SCRIPTS = pathlib.Path(__file__).parent / "js"
CACHE = pathlib.Path.home() / ".cache" / "qwick"
EXAMPLES = sorted((ROOT / "examples" / "javascript").glob("*.mjs"))


def run(*command, **kwargs) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **kwargs)
    assert done.returncode == 0, "\n".join(re.findall(r"^not ok.*?^  \.\.\.$", done.stdout, re.M | re.S)) or done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def packages() -> pathlib.Path:
    """A folder with node_modules."""
    for command in ("node", "npm"):
        if shutil.which(command) is None:
            pytest.skip(f"no {command}: tools/install_deps.sh test")
    version = hashlib.sha256((SCRIPTS / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = CACHE / f"js-{version}"
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE, prefix="js-") as fresh:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SCRIPTS / name, fresh)
            run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=fresh)
            os.mkdir(f"{fresh}/packages")
            os.rename(f"{fresh}/node_modules", f"{fresh}/packages/node_modules")
            try:
                os.rename(f"{fresh}/packages", folder)  # whole or not at all
            except OSError:
                assert folder.exists()  # another run was faster
    return folder


def node(demo, packages, script: pathlib.Path, folder: pathlib.Path, *options: str) -> str:
    """What a script prints. Modules are looked for from where it lies, so it runs as a copy beside them."""
    (folder / "node_modules").symlink_to(packages / "node_modules")
    copy = shutil.copy(script, folder)
    return run("node", *options, copy, env={**os.environ, "QWICK_URL": demo.url})


@pytest.mark.parametrize("name", ["openai", "langchain"])
def test_client(demo, packages, tmp_path, name):
    report = node(demo, packages, SCRIPTS / f"{name}.test.mjs", tmp_path, "--test", "--test-reporter=tap")
    assert int(re.search(r"^# pass (\d+)$", report, re.M)[1]) == (SCRIPTS / f"{name}.test.mjs").read_text().count("\ntest(")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(demo, packages, tmp_path, path):
    assert node(demo, packages, path, tmp_path).strip()


def test_examples_are_found():
    assert len(EXAMPLES) >= 2
