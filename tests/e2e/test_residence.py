"""From start to ready and back: warm-up, heartbeats, what systemd hears."""
import contextlib
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess

import pytest
from server import BINARY, ROOT, Server, chat_body, wait_until

UNIT = ROOT / "deploy" / "systemd" / "qwick.service"
SYSTEM = "You answer kindly and briefly. " * 40  # some hundred tokens


def stats(server) -> dict:
    return server.request("GET", "/stats").json()


@pytest.fixture
def long_prompt(tmp_path) -> str:
    """A system prompt that takes the reference a while to read."""
    file = tmp_path / "system.txt"
    file.write_text("Answer kindly. " * 700)
    return str(file)


def test_listens_at_once_and_is_ready_when_warm(long_prompt):
    server = Server("--dtype", "f32", "--threads", "1", "--system-prompt-file", long_prompt, until="Loading the model")
    try:
        early = server.request("GET", "/health/ready")
        assert early.status == 503 and early.json() == {"status": "loading"}
        assert server.request("GET", "/health").status == 503
        assert server.request("GET", "/health/live").status == 200
        assert stats(server)["qwick_ready"] == 0
        wait_until(lambda: server.request("GET", "/health/ready").status == 200, 120)
        assert server.request("GET", "/health").json() == {"status": "ok"}
        assert stats(server)["qwick_ready"] == 1
    finally:
        assert server.stop() == 0


def test_stops_while_loading(long_prompt):
    server = Server("--dtype", "f32", "--threads", "1", "--system-prompt-file", long_prompt, until="Loading the model")
    assert server.stop(10) == 0


def test_system_prompt_is_in_the_cache(tmp_path):
    file = tmp_path / "system.txt"
    file.write_text(SYSTEM)
    server = Server("--system-prompt-file", str(file))
    try:
        assert stats(server)["vllm:prompt_tokens_total"] == 0  # the warm-up is nobody's request
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "What is 2 + 3?"}]
        body = {**chat_body(""), "messages": messages, "max_tokens": 2}
        usage = server.request("POST", "/v1/chat/completions", json.dumps(body)).json()["usage"]
        cached = stats(server)["vllm:prefix_cache_hits_total"]
        assert cached > 100 and cached > usage["prompt_tokens"] - 64
    finally:
        assert server.stop() == 0


def test_system_prompt_that_does_not_fit(tmp_path):
    file = tmp_path / "system.txt"
    file.write_text("word " * 5000)
    done = subprocess.run([BINARY, "serve", "--port", "0", "--system-prompt-file", str(file)], capture_output=True, text=True, timeout=60)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2 and "--system-prompt-file" in last and "context" in last


def test_heartbeats_when_idle():
    server = Server("--heartbeat", "1")
    try:
        wait_until(lambda: stats(server)["qwick_heartbeats_total"] >= 2, 60)
        assert server.chat("hi", max_tokens=2).status == 200
        figures = stats(server)
        assert figures["vllm:generation_tokens_total"] == 2 and figures["vllm:time_to_first_token_seconds"]["count"] == 1
    finally:
        assert server.stop() == 0


@contextlib.contextmanager
def notify_socket(address: str):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address.replace("@", "\0"))
        listener.settimeout(30)
        yield listener


def hear(listener, wanted: str) -> list[str]:
    """What is said up to a state."""
    heard = []
    while not heard or wanted not in heard[-1].splitlines():
        heard.append(listener.recv(4096).decode())
    return heard


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_systemd_hears_of_every_change(tmp_path, kind):
    address = str(tmp_path / "notify") if kind == "path" else f"@qwick-{tmp_path.name}"
    with notify_socket(address) as listener:
        server = Server(environment={"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "200000"})
        try:
            hear(listener, "READY=1")
            for _ in range(3):
                hear(listener, "WATCHDOG=1")
            server.process.send_signal(signal.SIGHUP)
            reloading = hear(listener, "RELOADING=1")[-1]
            assert re.search(r"^MONOTONIC_USEC=\d+$", reloading, re.M)
            hear(listener, "READY=1")
        finally:
            assert server.stop() == 0
        hear(listener, "STOPPING=1")


def test_watchdog_is_told_nothing_while_no_step_ends(tmp_path, long_prompt):
    """Steps that take far longer than the interval look like an engine that is stuck."""
    address = str(tmp_path / "notify")
    with notify_socket(address) as listener:
        server = Server("--dtype", "f32", "--threads", "1", environment={"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "4000"})
        try:
            hear(listener, "WATCHDOG=1")
            assert server.chat(pathlib.Path(long_prompt).read_text(), max_tokens=1).status == 200
            wait_until(lambda: "not ended a step" in server.output)
            listener.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while listener.recv(4096):
                    pass
            listener.settimeout(30)
            hear(listener, "WATCHDOG=1")  # and again once it moves
        finally:
            assert server.stop() == 0


def test_hangup_without_anything_to_reload_ends_the_server():
    """A terminal that is closed takes its server along."""
    server = Server()
    server.process.send_signal(signal.SIGHUP)
    assert server.wait() == -signal.SIGHUP


def test_unit_file(tmp_path):
    text = UNIT.read_text()
    assert "Type=notify" in text and "WatchdogSec=" in text and "EnvironmentFile=" in text
    drain = int(re.search(r"TimeoutStopSec=(\d+)", text).group(1))
    help_text = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    assert drain > int(re.search(r"--drain-timeout UINT ?=? ?\[?(\d+)", help_text).group(1))
    if shutil.which("systemd-analyze") is None:
        return
    unit = tmp_path / "qwick.service"
    unit.write_text(text.replace("/usr/local/bin/qwick", BINARY))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not [line for line in done.stderr.splitlines() if "qwick.service" in line], done.stderr
