#!/usr/bin/env python3
"""Checks that every file under src/ includes only what its layer may: the table below is the architecture.

    python3 tools/check_layers.py [--root DIR]
"""
import argparse
import pathlib
import re
import sys

ALLOWED = {  # layer: layers it may include besides itself
    "base": set(),
    "format": {"base"},
    "text": {"base", "format"},
    "model": {"base", "format"},
    "exec": {"base", "format", "model"},
    "engine": {"base", "model", "exec"},
    "hub": {"base", "format", "text", "model"},
    "api": {"base", "format", "text", "model", "engine"},
    "server": {"base", "format", "text", "model", "engine", "api"},
    "bench": {"base", "exec"},
    "cli": {"base", "format", "text", "model", "exec", "engine", "hub", "api", "server", "bench"},
}
# A library, and the only places where it may be included.
CONFINED = [
    (re.compile(r"<boost/"), re.compile(r"^server/http[^/]*$"), "Boost only in server/http*"),
    (re.compile(r"<immintrin\.h>"), re.compile(r"^exec/cpu/"), "intrinsics only in exec/cpu"),
    (re.compile(r"<cuda"), re.compile(r"^exec/cuda/"), "CUDA only in exec/cuda"),
    (re.compile(r"<curl/"), re.compile(r"^(hub/http_client|bench/stream_client)\.cc$"),
     "libcurl only in hub/http_client.cc and bench/stream_client.cc"),
    (re.compile(r"<openssl/"), re.compile(r"^hub/blob_hash\.cc$"), "OpenSSL only in hub/blob_hash.cc"),
    (re.compile(r"<spdlog/"), re.compile(r"^base/log\.cc$"), "spdlog only in base/log.cc"),
    (re.compile(r"<CLI/"), re.compile(r"^cli/main\.cc$"), "CLI11 only in cli/main.cc"),
    (re.compile(r"<prometheus/"), re.compile(r"^server/metrics_text_test\.cc$"), "prometheus-cpp only as an oracle, in its test"),
    (re.compile(r'<nlohmann/|"base/json\.h"'), re.compile(r"^(?!exec/|engine/(?!.*_test)).*"), "no JSON in exec and engine"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"][^>"]+[>"])', re.M)


def violations(root: pathlib.Path):
    for path in sorted(p for p in root.rglob("*") if p.suffix in {".h", ".cc", ".inl"}):
        name = path.relative_to(root).as_posix()
        layer = name.split("/")[0]
        if "/" not in name:
            continue  # main.cc
        if layer not in ALLOWED:
            yield f"{name}: layer {layer} is not in the table"
            continue
        for include in INCLUDE.findall(path.read_text(encoding="utf-8")):
            target = include[1:-1].split("/")[0]
            if include[0] == '"' and target in ALLOWED and target != layer and target not in ALLOWED[layer]:
                yield f"{name}: {layer} may not include {include}"
            for pattern, place, rule in CONFINED:
                if pattern.match(include) and not place.match(name):
                    yield f"{name}: {include}: {rule}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1] / "src")
    found = list(violations(parser.parse_args().root))
    print("\n".join(found) if found else "layers: all includes are allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
