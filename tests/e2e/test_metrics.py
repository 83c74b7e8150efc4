"""Metrics: their names and values, promtool's opinion, and a real Prometheus that scrapes a server by the rules and
shows the dashboard of deploy/monitoring."""
import json
import math
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import pytest
from server import ROOT, Server, chat_body, http_request, wait_until

MONITORING = ROOT / "deploy" / "monitoring"
# vllm/v1/metrics: what dashboards made for vLLM ask for.
VLLM = {"vllm:num_requests_running": "gauge", "vllm:num_requests_waiting": "gauge", "vllm:kv_cache_usage_perc": "gauge",
        "vllm:prefix_cache_queries_total": "counter", "vllm:prefix_cache_hits_total": "counter", "vllm:prompt_tokens_total": "counter",
        "vllm:generation_tokens_total": "counter", "vllm:request_success_total": "counter", "vllm:num_preemptions_total": "counter",
        "vllm:time_to_first_token_seconds": "histogram", "vllm:inter_token_latency_seconds": "histogram",
        "vllm:e2e_request_latency_seconds": "histogram", "vllm:request_queue_time_seconds": "histogram",
        "vllm:request_prefill_time_seconds": "histogram", "vllm:request_decode_time_seconds": "histogram"}
OWN = {"inference_latency_p50": "gauge", "inference_latency_p95": "gauge", "inference_latency_p99": "gauge",
       "throughput_tokens_per_second": "gauge", "compute_utilization": "gauge", "memory_usage_mb": "gauge",
       "qwick_build_info": "gauge", "qwick_ready": "gauge", "qwick_heartbeats_total": "counter", "qwick_engine_busy_seconds_total": "counter",
       "qwick_requests_aborted_total": "counter", "qwick_http_requests_total": "counter"}


@pytest.fixture(scope="module")
def used():
    """A server, and the sums of what it was asked and answered."""
    server = Server("--max-queue", "4")
    sums = {"prompt": 0, "generated": 0, "stop": 0, "length": 0}
    for fields in ({}, {"max_tokens": 3}, {"max_tokens": 5, "stream": True, "stream_options": {"include_usage": True}}, {"stop": ["qwick"]}, {}):
        reply = server.chat("Hello!", seed=1, temperature=0, **fields)
        assert reply.status == 200
        if fields.get("stream"):
            last = [json.loads(line[6:]) for line in reply.body.decode().split("\n\n")[:-2]]
            usage, reason = last[-1]["usage"], last[-2]["choices"][0]["finish_reason"]
        else:
            usage, reason = reply.json()["usage"], reply.json()["choices"][0]["finish_reason"]
        sums["prompt"] += usage["prompt_tokens"]
        sums["generated"] += usage["completion_tokens"]
        sums[reason] += 1
    server.chat("Hello!", temperature=-1)
    server.request("GET", "/nothing/here")
    yield server, sums
    assert server.stop() == 0, server.output


def metrics(server) -> dict[str, float]:
    """Samples by their name and labels."""
    samples = {}
    for line in server.request("GET", "/metrics").body.decode().splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            samples[name] = float(value)
    return samples


def test_names_and_types(used):
    server, _ = used
    reply = server.request("GET", "/metrics")
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = reply.body.decode()
    assert dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)) == {**VLLM, **OWN}
    helps = re.findall(r"^# HELP (\S+) (.+)$", text, re.M)
    assert [name for name, _ in helps] == re.findall(r"^# TYPE (\S+)", text, re.M)
    for sample in metrics(server):
        if sample.startswith("vllm:"):
            assert 'model_name="demo"' in sample
    assert re.search(r'^qwick_build_info\{version="[\d.]+",isa="[\w-]+",dtype="q8",model="demo"\} 1$', text, re.M)


def test_counters_agree_with_the_answers(used):
    server, sums = used
    samples = metrics(server)
    model = '{model_name="demo"}'
    # A stop string ends the answer a moment before the engine learns of it; the last tokens may have been more.
    assert samples[f"vllm:prompt_tokens_total{model}"] == sums["prompt"]
    assert sums["generated"] <= samples[f"vllm:generation_tokens_total{model}"] <= sums["generated"] + 64
    for reason in ("stop", "length"):
        assert samples[f'vllm:request_success_total{{model_name="demo",finished_reason="{reason}"}}'] == sums[reason]
    n = sums["stop"] + sums["length"]
    for name in ("time_to_first_token", "e2e_request_latency", "request_queue_time", "request_prefill_time", "request_decode_time"):
        assert samples[f"vllm:{name}_seconds_count{model}"] == n
        assert samples[f'vllm:{name}_seconds_bucket{{model_name="demo",le="+Inf"}}'] == n
    assert samples[f"vllm:inter_token_latency_seconds_count{model}"] == samples[f"vllm:generation_tokens_total{model}"] - n
    chat = 'qwick_http_requests_total{path="/v1/chat/completions",status='
    assert samples[f'{chat}"200"}}'] == n and samples[f'{chat}"400"}}'] == 1
    assert samples['qwick_http_requests_total{path="other",status="404"}'] == 1
    assert not any("/nothing" in sample for sample in samples)


def test_tokens_are_exactly_those_of_usage():
    server = Server()
    try:
        usage = server.chat("Hello!", temperature=0).json()["usage"]  # ends by itself
        figures = server.request("GET", "/stats").json()
        assert figures["vllm:generation_tokens_total"] == usage["completion_tokens"]
        assert figures["vllm:prompt_tokens_total"] == usage["prompt_tokens"]
    finally:
        assert server.stop() == 0


def test_values_are_plausible(used):
    samples = metrics(used[0])
    assert 0 < samples["inference_latency_p50"] <= samples["inference_latency_p95"] <= samples["inference_latency_p99"] < 60_000
    assert samples["throughput_tokens_per_second"] > 1
    assert 0 < samples["compute_utilization"] <= 100
    resident = int(open(f"/proc/{used[0].process.pid}/statm").read().split()[1]) * 4096 / 2**20
    assert math.isclose(samples["memory_usage_mb"], resident, rel_tol=0.2)
    total = samples['vllm:e2e_request_latency_seconds_sum{model_name="demo"}']
    parts = sum(samples[f'vllm:request_{part}_time_seconds_sum{{model_name="demo"}}'] for part in ("queue", "prefill", "decode"))
    assert math.isclose(total, parts, rel_tol=1e-6)


def test_stats_are_the_same_figures(used):
    server, sums = used
    stats = server.request("GET", "/stats").json()
    assert set(stats) == {*VLLM, *OWN}
    assert stats["vllm:prompt_tokens_total"] == sums["prompt"]
    assert stats["vllm:request_success_total"]["stop"] == sums["stop"]
    assert stats["vllm:time_to_first_token_seconds"]["count"] == sums["stop"] + sums["length"]
    version = server.request("GET", "/version").json()
    assert stats["qwick_build_info"][0]["labels"] == version and version["model"] == "demo"


def test_clients_that_leave_are_counted(used):
    server, _ = used
    before = server.request("GET", "/stats").json()
    long = chat_body("Hello!", max_tokens=3500, ignore_eos=True, enable_thinking=False)
    connections = [server.connect() for _ in range(4)]
    for connection in connections:
        connection.sendall(http_request("POST", "/v1/chat/completions", json.dumps(long)))

    def n_taken() -> int:
        """Of the four, however far they are by now."""
        stats = server.request("GET", "/stats").json()
        ended = sum(stats["vllm:request_success_total"].values()) - sum(before["vllm:request_success_total"].values())
        return stats["vllm:num_requests_running"] + stats["vllm:num_requests_waiting"] + ended

    wait_until(lambda: n_taken() == 4)
    for connection in connections:
        connection.close()

    def n_gone() -> int:
        stats = server.request("GET", "/stats").json()
        aborted = stats["qwick_requests_aborted_total"]["client_left"] - before["qwick_requests_aborted_total"]["client_left"]
        ended = stats["vllm:request_success_total"]["length"] - before["vllm:request_success_total"]["length"]
        assert stats["vllm:request_success_total"]["abort"] - before["vllm:request_success_total"]["abort"] == aborted
        return aborted + ended

    wait_until(lambda: n_gone() == 4)
    wait_until(lambda: server.request("GET", "/stats").json()["vllm:num_requests_running"] == 0)


def test_promtool_has_nothing_to_say_but_about_the_names(used):
    if shutil.which("promtool") is None:
        pytest.skip("no promtool: install the package prometheus")
    text = used[0].request("GET", "/metrics").body
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode().splitlines()
    # vLLM's names have colons; memory_usage_mb is the name that was asked for.
    expected = re.compile(r"vllm:\S+ metric names should not contain ':'|memory_usage_mb metric names should not contain abbreviated units")
    assert [line for line in said if not expected.fullmatch(line)] == []


def dashboard_expressions() -> list[str]:
    dashboard = json.loads((MONITORING / "grafana-dashboard.json").read_text())
    return [target["expr"].replace("$__rate_interval", "5s").replace("$instance", ".*")
            for panel in dashboard["panels"] for target in panel["targets"]]


class Prometheus:
    """A real one, with the configuration of deploy/monitoring but another address and a quicker pace."""

    def __init__(self, folder, server):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        config = (MONITORING / "prometheus.yml").read_text().replace("127.0.0.1:8000", f"{server.host}:{server.port}")
        (folder / "prometheus.yml").write_text(config.replace(": 10s", ": 1s"))
        shutil.copy(MONITORING / "alerts.yml", folder)
        self.log = open(folder / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={self.address}"], stdout=self.log, stderr=subprocess.STDOUT)

    def get(self, path: str, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list:
        return self.get("query", query=expression)["result"]

    def answers(self) -> bool:
        try:
            return bool(self.query("up"))
        except OSError:
            assert self.process.poll() is None, self.log.seek(0) or self.log.read()
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


def test_prometheus_scrapes_and_every_expression_has_data(used, tmp_path):
    if shutil.which("prometheus") is None:
        pytest.skip("no prometheus: install the package prometheus")
    for kind, file in (("config", "prometheus.yml"), ("rules", "alerts.yml")):
        subprocess.run(["promtool", "check", kind, MONITORING / file], check=True, capture_output=True)
    server, _ = used
    prometheus = Prometheus(tmp_path, server)
    try:
        wait_until(prometheus.answers, 60)

        def scraped() -> bool:
            server.chat("Hello!", max_tokens=3)  # so that rates have something to show
            time.sleep(0.2)
            return bool(prometheus.query("rate(vllm:generation_tokens_total[5s]) > 0"))

        wait_until(scraped, 60)
        # Nothing of these happens here.
        rare = ("num_preemptions", "aborted", "heartbeats")
        for expression in dashboard_expressions():
            result = prometheus.query(expression)
            assert result, f"no data: {expression}"
            numbers = [float(sample["value"][1]) for sample in result]
            if not any(word in expression for word in rare):
                assert not all(math.isnan(number) for number in numbers), expression

        def rules() -> list:
            return [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]

        wait_until(lambda: all(rule["health"] != "unknown" for rule in rules()), 60)
        named = set(re.findall(r"^\s+- alert: (\w+)$", (MONITORING / "alerts.yml").read_text(), re.M))
        assert {rule["name"] for rule in rules()} == named
        for rule in rules():
            assert rule["health"] == "ok", rule
            for metric in re.findall(r"\b(?:vllm:\w+|qwick_\w+|inference_\w+|memory_\w+)", rule["query"]):
                assert prometheus.query(metric), f"{rule['name']}: no {metric}"
        value = prometheus.query("vllm:request_success_total{finished_reason='stop'}")[0]["value"][1]
        assert float(value) > 0
    finally:
        prometheus.stop()
