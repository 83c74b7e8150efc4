"""Models by name: fetched from a hub of the tests' own whatever it does wrong, kept in the cache of huggingface_hub,
served. What is under a name in the cache is right, or is not there."""
import contextlib
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import ssl
import subprocess
import time

import huggingface_hub
import pexpect
import pytest

from local_hub import Hub, git_sha1, sha256
from server import BINARY, ROOT, Server, wait_until

DEMO = ROOT / "models" / "demo"
GGUF = ROOT / "tests" / "golden" / "tiny" / "qwen3-q8_0.gguf"
BLOCK = 4 << 20    # hub/partial_file.h
CONNECTIONS = 4    # hub/download.cc
BIG = random.Random(1).randbytes(5 * BLOCK + 12345)
SHARDED = {path.name: path.read_bytes() for path in (ROOT / "tests" / "golden" / "tiny" / "qwen3-sharded").iterdir()}
SHARDED["tokenizer.json"] = (DEMO / "tokenizer.json").read_bytes()
QUESTION = ["--chat", "--no-think", "--prompt", "What is 2 + 3?"]


@pytest.fixture(scope="module")
def running_hub():
    hub = Hub()
    hub.add("org/demo", DEMO)
    hub.add("org/sharded", SHARDED)
    hub.add("org/quants", {"README.md": b"#", "tiny-Q8_0.gguf": GGUF.read_bytes(), "big-Q4_0.gguf": BIG})
    hub.add("org/big", {"big.gguf": BIG})
    hub.add("org/gated", DEMO, token="hf_secret")
    yield hub
    hub.stop()


@pytest.fixture
def hub(running_hub):
    running_hub.reset()
    return running_hub


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def qwick(hub, home):
    def run(*arguments, status: int = 0, cwd=None, **environment) -> subprocess.CompletedProcess:
        done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False,
                              cwd=cwd, env=os.environ | hub.environment(home, **environment))
        assert done.returncode == status, done.stderr
        if status != 0:
            [error] = [line for line in done.stderr.splitlines() if line.startswith("qwick: ")]
            assert done.stderr.endswith(error + "\n")
        return done
    return run


def pulled(done: subprocess.CompletedProcess) -> pathlib.Path:
    return pathlib.Path(done.stdout.removesuffix("\n"))


def repo_folder(home, name: str) -> pathlib.Path:
    return home / "hub" / f"models--{name.replace('/', '--')}"


def is_right(folder: pathlib.Path, hub: Hub, name: str) -> bool:
    """Everything under a final name has its bytes."""
    files = hub.repos[name].files
    return (all(path.read_bytes() == files[path.name] for path in folder.glob("snapshots/*/*"))
            and all(path.name == (sha256 if len(path.name) == 64 else git_sha1)(path.read_bytes())
                    for path in folder.glob("blobs/*") if "." not in path.name))


# What there is to fetch, and the cache

def test_a_model_is_fetched_once(qwick, hub, home):
    path = pulled(qwick("pull", "org/demo"))
    commit = hub.repos["org/demo"].revisions["main"]
    assert path == repo_folder(home, "org/demo") / "snapshots" / commit
    assert (path.parents[1] / "refs" / "main").read_text() == commit
    assert {file.name for file in path.iterdir()} == {file.name for file in DEMO.iterdir()} - {"README.md"}
    assert is_right(repo_folder(home, "org/demo"), hub, "org/demo")
    weights = path / "model.safetensors"
    assert os.readlink(weights) == f"../../blobs/{sha256((DEMO / 'model.safetensors').read_bytes())}"
    assert not list(home.rglob("*.qwick-*"))

    hub.reset()
    answer = qwick("generate", "org/demo", *QUESTION)
    assert "5" in answer.stdout and not hub.requests  # what is there asks nobody
    assert pulled(qwick("pull", "org/demo")) == path
    assert len(hub.requests) == 1 and hub.n_bytes == 0
    assert pulled(qwick("pull", f"org/demo@{commit}")) == path


def test_a_new_revision(qwick, hub, home):
    old = pulled(qwick("pull", "org/demo"))
    changed = {**hub.repos["org/demo"].files, "generation_config.json": b'{"temperature": 0.1}'}
    repo = hub.add("org/demo", changed)
    repo.revisions["v1"] = old.name
    try:
        hub.reset()
        new = pulled(qwick("pull", "org/demo"))
        assert new != old and hub.n_bytes == len(changed["generation_config.json"])
        assert (old / "generation_config.json").read_bytes() != changed["generation_config.json"]
        qwick("rm", f"org/demo@{old.name}")
        assert not old.exists() and (new / "model.safetensors").exists()  # which both had
        assert "5" in qwick("generate", "org/demo", *QUESTION).stdout
    finally:
        hub.add("org/demo", DEMO)


def test_shards_and_single_gguf_files(qwick, hub):
    files = {path.name for path in pulled(qwick("pull", "org/sharded")).iterdir()}
    assert "model.safetensors.index.json" in files and sum(name.startswith("model-0") for name in files) > 1
    assert pulled(qwick("pull", "org/quants:tiny-Q8_0.gguf")).read_bytes() == GGUF.read_bytes()
    assert pulled(qwick("pull", "org/quants", "--file", "tiny-Q8_0.gguf")).name == "tiny-Q8_0.gguf"
    assert hub.served("big-Q4_0") == []
    hub.reset()
    ids = ["--ids", "1,2,3", "--max-tokens", "8", "--json"]
    by_name = qwick("generate", "org/quants:tiny-Q8_0.gguf", *ids).stdout
    assert by_name == qwick("generate", GGUF, *ids).stdout and not hub.requests


def test_huggingface_hub_finds_what_qwick_fetched(qwick, hub, home):
    path = pulled(qwick("pull", "org/demo"))
    found = huggingface_hub.snapshot_download("org/demo", cache_dir=home / "hub", local_files_only=True)
    assert pathlib.Path(found) == path
    hub.reset()
    for file in path.iterdir():
        got = huggingface_hub.hf_hub_download("org/demo", file.name, cache_dir=home / "hub", endpoint=hub.url)
        assert got == str(file)
    assert hub.n_bytes == 0
    about = huggingface_hub.scan_cache_dir(home / "hub")
    [repo] = about.repos
    assert not about.warnings and repo.repo_id == "org/demo" and set(repo.refs) == {"main"}
    assert repo.size_on_disk == sum(file.stat().st_size for file in path.iterdir())


def test_qwick_finds_what_huggingface_hub_fetched(qwick, hub, home):
    path = huggingface_hub.snapshot_download("org/demo", cache_dir=home / "hub", endpoint=hub.url)
    huggingface_hub.hf_hub_download("org/quants", "tiny-Q8_0.gguf", cache_dir=home / "hub", endpoint=hub.url)
    hub.reset()
    assert "5" in qwick("generate", "org/demo", *QUESTION, HF_HUB_OFFLINE="1").stdout
    assert qwick("inspect", "org/quants:tiny-Q8_0.gguf", "--json").stdout
    assert not hub.requests
    assert pulled(qwick("pull", "org/demo")) == pathlib.Path(path) and hub.n_bytes == 0
    assert "README.md" in {file.name for file in pathlib.Path(path).iterdir()}
    qwick("verify", "org/demo")


def test_a_snapshot_that_lacks_files_is_completed(qwick, hub, home):
    for file in ["config.json", "model.safetensors"]:  # as transformers does for a model without its tokenizer
        huggingface_hub.hf_hub_download("org/demo", file, cache_dir=home / "hub", endpoint=hub.url)
    hub.reset()
    assert "5" in qwick("generate", "org/demo", *QUESTION).stdout
    assert hub.served("resolve/") and not hub.served("model.safetensors")


def test_list_verify_rm(qwick, hub, home):
    assert "qwick pull" in qwick("list").stdout and "Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf" in qwick("list").stdout
    path = pulled(qwick("pull", "org/demo"))
    qwick("pull", "org/quants:tiny-Q8_0.gguf")
    packed = home / "packed"
    qwick("generate", "org/demo", *QUESTION, "--dtype", "q8", QWICK_CACHE=packed)
    rows = json.loads(qwick("list", "--json", QWICK_CACHE=packed).stdout)
    assert [(row["name"], row["format"], row["complete"], row["packed"]) for row in rows] == [
        ("org/demo", "safetensors", True, True), ("org/quants:tiny-Q8_0.gguf", "gguf", True, False)]
    assert rows[0]["revision"] == "main" and rows[0]["commit"] == path.name
    assert rows[0]["bytes"] == sum(file.stat().st_size for file in path.iterdir())
    assert re.search(rf"org/demo +{path.name[:8]} +safetensors .* packed\n", qwick("list", QWICK_CACHE=packed).stdout)

    assert "6 files" in qwick("verify", "org/demo").stdout
    weights = (path / "model.safetensors").resolve()
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    done = qwick("verify", "org/demo", status=1)
    assert "model.safetensors: damaged" in done.stdout and "qwick pull org/demo" in done.stderr
    assert "incomplete" in qwick("list").stdout
    qwick("pull", "org/demo")
    qwick("verify", "org/demo")

    qwick("rm", "org/demo", QWICK_CACHE=packed)
    assert not repo_folder(home, "org/demo").exists() and not list(packed.iterdir())
    for command in ["rm", "verify"]:
        assert "qwick list" in qwick(command, "org/demo", status=2).stderr
    qwick("rm", "org/quants:tiny-Q8_0.gguf")
    assert not list(repo_folder(home, "org/quants").rglob("*gguf")) and json.loads(qwick("list", "--json").stdout) == []


def test_a_path_wins_over_a_name(qwick, hub, tmp_path):
    shutil.copytree(DEMO, tmp_path / "org" / "demo")
    assert "5" in qwick("generate", "org/demo", *QUESTION, cwd=tmp_path).stdout
    assert not hub.requests


@pytest.mark.parametrize("command", [["tokenize", "--text", "Hello", "--json"], ["inspect", "--json"],
                                     ["perplexity", "--file", DEMO / "README.md"], ["bench engine", "--rounds", "1"]])
def test_every_command_takes_names(qwick, command):
    assert qwick(*command[0].split(), "org/demo", *command[1:]).stdout


def test_pack_takes_names(qwick, tmp_path):
    qwick("pack", "org/demo", "--dtype", "q4", "-o", tmp_path / "demo.qwick")
    qwick("generate", "org/demo", *QUESTION, "--dtype", "q4", "--packed", tmp_path / "demo.qwick")


def test_serve_and_chat_by_name(hub, home):
    server = Server("org/demo", environment=hub.environment(home))
    try:
        content = server.chat("What is 2 + 3?", enable_thinking=False).json()["choices"][0]["message"]["content"]
        assert "5" in content
        ids = [model["id"] for model in server.request("GET", "/v1/models").json()["data"]]
        assert "demo" in ids  # and not the commit
    finally:
        assert server.stop() == 0


# Hubs

def test_modelscope(qwick, hub, home):
    path = pulled(qwick("pull", "org/demo", "--source", "modelscope", HF_ENDPOINT="http://127.0.0.1:1", HF_TOKEN="hf_x"))
    assert is_right(repo_folder(home, "org/demo"), hub, "org/demo") and not hub.leaked
    assert re.fullmatch("[0-9a-f]{40}", path.name)
    assert "5" in qwick("generate", "org/demo", *QUESTION, HF_HUB_OFFLINE="1").stdout
    assert huggingface_hub.snapshot_download("org/demo", cache_dir=home / "hub", local_files_only=True) == str(path)
    assert pulled(qwick("pull", "org/demo", "--source", "modelscope")) == path
    assert "no such model" in qwick("pull", "org/nope", "--source", "modelscope", status=2).stderr


def test_modelscope_where_hugging_face_cannot_be_reached(qwick, hub):
    done = qwick("pull", "org/demo", HF_ENDPOINT="http://127.0.0.1:1")
    assert "asking ModelScope" in done.stderr and hub.served("/api/v1/models/org/demo/repo?")
    done = qwick("pull", "org/big", status=1, HF_ENDPOINT="http://127.0.0.1:1", MODELSCOPE_ENDPOINT="http://127.0.0.1:1")
    assert "HF_ENDPOINT" in done.stderr
    done = qwick("pull", "org/big", "--source", "hf", status=1, HF_ENDPOINT="http://127.0.0.1:1")
    assert "--source modelscope" in done.stderr and "https_proxy" in done.stderr


def test_gated_models_and_tokens(qwick, hub, home):
    done = qwick("pull", "org/gated", status=2)
    assert f"{hub.url}/org/gated" in done.stderr and "HF_TOKEN" in done.stderr
    assert not list(home.rglob("snapshots"))
    qwick("pull", "org/gated", HF_TOKEN="hf_secret")
    assert not hub.leaked  # the other host has never seen it
    qwick("rm", "org/gated")
    (home / "token").write_text("hf_secret\n")
    qwick("pull", "org/gated")
    assert "HF_TOKEN" in qwick("pull", "org/gated", status=2, HF_TOKEN="a\nb: c").stderr


def test_proxy(qwick, hub):
    qwick("pull", "org/demo", HF_ENDPOINT="http://hub.invalid", http_proxy=hub.url, no_proxy="127.0.0.1")
    assert hub.served("http://hub.invalid/api/models/")


def test_certificates(qwick, hub):
    pem = pathlib.Path(__file__).with_name("local_hub.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    secure = Hub(context)
    secure.add("org/demo", DEMO)
    try:
        done = qwick("pull", "org/demo", status=1, HF_ENDPOINT=secure.url)
        assert "certificate" in done.stderr and "SSL_CERT_FILE" in done.stderr
        qwick("pull", "org/demo", HF_ENDPOINT=secure.url, SSL_CERT_FILE=pem)
    finally:
        secure.stop()


def test_offline(qwick, hub):
    for arguments, environment in [(["--offline"], {}), ([], {"HF_HUB_OFFLINE": "1"})]:
        for command in ["pull", "tokenize"]:
            assert "offline" in qwick(command, "org/demo", *arguments, status=2, **environment).stderr
    assert not hub.requests
    qwick("pull", "org/demo")
    hub.reset()
    assert pulled(qwick("pull", "org/demo", "--offline")).is_dir() and not hub.requests


@pytest.mark.parametrize("name, part", [
    ("org/nope", "no such model"), ("org/demo@v9", "no revision v9"), ("org/demo:x.gguf", "has no file x.gguf"),
    ("org/quants", "org/quants:tiny-Q8_0.gguf"), ("nonsense", "qwick list"), ("../demo", "no name of a model"),
    ("org/demo@../../x", "no name of a model"), ("org/demo:../x.gguf", "no name of a model"), ("a/b/c", "no name")])
def test_names_that_are_not_there(qwick, home, name, part):
    assert part in qwick("pull", name, status=2).stderr
    assert not home.exists()


def hub_list(*siblings, **fields) -> bytes:
    return json.dumps({"sha": "0" * 40, "siblings": siblings, **fields}).encode()


def sibling(name: str = "config.json", **fields) -> dict:
    return {"rfilename": name, "size": 1, "blobId": "0" * 40, **fields}


@pytest.mark.parametrize("body, part", [
    (b"<html>login</html>", "not valid JSON"), (b"[]", "no sha"), (hub_list(sha="../../x"), "no commit"),
    (hub_list(sibling("../../evil.gguf")), "not kept"), (hub_list(sibling("/etc/evil.gguf")), "not kept"),
    (hub_list(sibling("a\u001b[2Jb.gguf")), "not kept"), (hub_list(sibling("x/../../y.gguf")), "not kept"),
    (hub_list(sibling(blobId="../../x")), "no hash"), (hub_list(sibling(size=-1)), "no size"),
    (hub_list(sibling(size=1.5)), "no size"), (hub_list(sibling(), siblings={}), "no list"),
    (hub_list(sibling("x.gguf", size=1 << 49)), "are free"), (hub_list(sibling("README.md")), "neither"),
    (hub_list(sibling("config.json"), sibling("pytorch_model.bin")), "neither"),
    (hub_list(sibling("config.json"), sibling("model.safetensors")), "no tokenizer.json")])
def test_lists_that_make_no_sense(qwick, hub, home, body, part):
    hub.list_body = body
    done = subprocess.run([BINARY, "pull", "org/demo"], capture_output=True, text=True, timeout=60, check=False,
                          env=os.environ | hub.environment(home))
    assert done.returncode in (1, 2) and part in done.stderr and "\x1b" not in done.stderr, done.stderr
    assert not hub.served("resolve/") and not [path for path in home.rglob("*") if path.is_file()]


# Servers and networks that misbehave

def test_busy_servers_are_waited_for(qwick, hub, home):
    hub.statuses, hub.retry_after = [429], "1"
    start = time.monotonic()
    qwick("pull", "org/quants:tiny-Q8_0.gguf")
    assert time.monotonic() - start >= 1
    hub.statuses, hub.retry_after = [503, 500], ""
    qwick("pull", "org/big")
    assert is_right(repo_folder(home, "org/big"), hub, "org/big")
    hub.statuses = [429] * 20
    hub.retry_after = "100000"  # longer than anybody waits
    assert "429" in qwick("pull", "org/demo", status=1).stderr


def test_broken_connections_go_on_where_they_broke(qwick, hub, home):
    cuts = [1, 70_000, BLOCK, BLOCK + 1, 3_000_000, 0, 2 * BLOCK, 100]
    hub.break_after = list(cuts)
    qwick("pull", "org/big")
    assert is_right(repo_folder(home, "org/big"), hub, "org/big") and not hub.break_after
    assert hub.n_bytes <= len(BIG) + len(cuts) * (1 << 20)  # what was under way when it broke


def test_silent_connections_are_given_up(qwick, hub, home):
    hub.stall_after = [100_000, 5_000_000]
    qwick("pull", "org/big", HF_HUB_DOWNLOAD_TIMEOUT="1")
    assert is_right(repo_folder(home, "org/big"), hub, "org/big") and not hub.stall_after


def test_a_server_that_knows_no_ranges(qwick, hub, home):
    hub.knows_ranges = False
    hub.break_after = [3 * BLOCK] * 6
    qwick("pull", "org/big")
    assert is_right(repo_folder(home, "org/big"), hub, "org/big")


def test_a_connection_that_always_breaks_is_an_error(qwick, hub, home):
    hub.knows_ranges = False
    hub.break_after = [100_000] * 1000
    assert "broke" in qwick("pull", "org/big", status=1).stderr
    assert not list(home.rglob("snapshots"))
    hub.reset()
    qwick("pull", "org/big")


def test_wrong_bytes_are_thrown_away(qwick, hub, home):
    repo = hub.repos["org/big"]
    repo.lies = {"big.gguf": BIG[:-1] + bytes([BIG[-1] ^ 1])}
    try:
        assert "thrown away" in qwick("pull", "org/big", status=2).stderr
        assert not [path for path in repo_folder(home, "org/big").rglob("*") if path.is_file()]
        repo.lies = {"big.gguf": BIG[:-1]}  # shorter than the hub says
        assert "other bytes" in qwick("pull", "org/big", status=2).stderr
        repo.lies = {"big.gguf": BIG + b"x"}
        qwick("pull", "org/big", status=2)
        assert not list(home.rglob("snapshots"))
    finally:
        repo.lies = {}
    qwick("pull", "org/big")
    assert is_right(repo_folder(home, "org/big"), hub, "org/big")


def test_a_part_that_is_not_ours_counts_for_nothing(qwick, hub, home):
    blobs = repo_folder(home, "org/big") / "blobs"
    blobs.mkdir(parents=True)
    name = sha256(BIG)
    (blobs / f"{name}.incomplete").write_bytes(b"x" * BLOCK)      # huggingface_hub's
    (blobs / f"{name}.qwick-part").write_bytes(bytes(len(BIG)))   # nothing says which blocks are complete
    (blobs / f"{name}.qwick-blocks").write_bytes(b"\1" * 100)
    qwick("pull", "org/big")
    assert is_right(repo_folder(home, "org/big"), hub, "org/big")


# Interruptions, and company

def complete_blocks(folder: pathlib.Path) -> list[int]:
    """By the file that says so: a header of 24 bytes, then a byte for each block."""
    for path in folder.glob("blobs/*.qwick-blocks"):
        return [block for block, flag in enumerate(path.read_bytes()[24:]) if flag]
    return []


def overlaps(range_header: str, block: int) -> bool:
    first, last = map(int, range_header.removeprefix("bytes=").split("-")) if range_header else (0, 1 << 60)
    return first < (block + 1) * BLOCK and last >= block * BLOCK


def test_killed_a_hundred_times(hub, home):
    data = random.Random(2).randbytes(5 * BLOCK + 777)
    hub.add("org/huge", {"huge.gguf": data})
    hub.seconds_per_piece = 0.0005  # most of the time goes into fetching
    folder = repo_folder(home, "org/huge")
    environment = os.environ | hub.environment(home)

    def start():
        return subprocess.Popen([BINARY, "pull", "org/huge"], env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    begin = time.monotonic()
    assert start().wait(60) == 0
    undisturbed = time.monotonic() - begin
    shutil.rmtree(folder)
    hub.n_bytes = 0

    rng = random.Random(3)
    n_kills = n_whole = 0
    while n_kills < 100:
        before = complete_blocks(folder)
        hub.requests = []
        process = start()
        try:
            assert process.wait(rng.uniform(0, undisturbed)) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            n_kills += 1
        asked = [range_header for _, path, range_header in hub.requests if path.endswith("huge.gguf")]
        assert not [(each, block) for each in asked for block in before if overlaps(each, block)]
        assert not (folder / "blobs" / sha256(data)).exists() or is_right(folder, hub, "org/huge")
        if process.returncode == 0:
            n_whole += 1
            shutil.rmtree(folder)
    for _ in range(2):  # the second one finds nothing left to do, but to clear away what the last kill left
        assert start().wait(60) == 0 and is_right(folder, hub, "org/huge")
    assert not list(folder.rglob("*.qwick-*"))
    print(f"{n_kills} kills, {n_whole + 1} downloads: {hub.n_bytes / len(data):.1f} times the file was sent")
    assert hub.n_bytes <= (n_whole + 1) * len(data) + n_kills * CONNECTIONS * BLOCK


def test_two_pulls_share_one_download(hub, home):
    hub.seconds_per_piece = 0.002
    environment = os.environ | hub.environment(home)
    pulls = [subprocess.Popen([BINARY, "pull", name], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
             for name in ["org/big", "org/big", "org/big"]]
    outputs = {process.communicate(timeout=60)[0] for process in pulls}
    assert [process.returncode for process in pulls] == [0, 0, 0] and len(outputs) == 1
    assert hub.n_bytes == len(BIG)
    assert is_right(repo_folder(home, "org/big"), hub, "org/big")


def test_one_goes_on_when_the_other_is_killed(hub, home):
    hub.seconds_per_piece = 0.005
    environment = os.environ | hub.environment(home)
    pulls = []
    for _ in range(2):
        pulls.append(subprocess.Popen([BINARY, "pull", "org/big"], env=environment, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL))
        wait_until(lambda: hub.n_bytes > 0)
    pulls[0].kill()
    pulls[0].wait()
    assert pulls[1].wait(60) == 0
    assert is_right(repo_folder(home, "org/big"), hub, "org/big")


def test_a_lock_of_huggingface_hub_is_respected(qwick, hub, home):
    lock = home / "hub" / ".locks" / "models--org--big" / f"{sha256(BIG)}.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as file, contextlib.ExitStack() as stack:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = subprocess.Popen([BINARY, "pull", "org/big"], env=os.environ | hub.environment(home),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(process.kill)
        wait_until(lambda: hub.requests)
        assert "being fetched" in qwick("rm", "org/big", status=2).stderr or not repo_folder(home, "org/big").exists()
        time.sleep(0.5)
        assert process.poll() is None and hub.n_bytes == 0
        blob = repo_folder(home, "org/big") / "blobs" / sha256(BIG)
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(BIG)
        fcntl.flock(file, fcntl.LOCK_UN)
        assert process.wait(30) == 0
    assert hub.n_bytes == 0 and is_right(repo_folder(home, "org/big"), hub, "org/big")


def test_progress_is_drawn_on_a_terminal_alone(hub, home, qwick):
    hub.seconds_per_piece = 0.004
    child = pexpect.spawn(BINARY, ["pull", "org/big"], env=os.environ | hub.environment(home), timeout=30,
                          encoding="utf-8", dimensions=(24, 100))
    child.expect(r"org/big \[#*\.*\] \d+ % of 21 MB, [\d.]+ [kM]B/s, 0:\d\d left")
    child.expect("fetched and checked")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    shutil.rmtree(home)
    hub.seconds_per_piece = 0
    done = qwick("pull", "org/big")
    assert "\r" not in done.stderr and len(done.stderr.splitlines()) == 2

