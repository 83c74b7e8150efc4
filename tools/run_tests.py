#!/usr/bin/env python3
"""Runs every test, C++ (ctest) and Python (pytest), and ends with one line that counts them.

    tools/run_tests.py --build build/release --python .venv/bin/python

QWICK_REQUIRE_MODELS=1 makes absent real models (`make test-models`) a failure instead of a skip.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(command: list[str], report: pathlib.Path, environment: dict[str, str]) -> tuple[int, int, list[str]]:
    """(passed, failed, reasons of those skipped), from the JUnit report that the command writes."""
    status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    passed, failed, skipped = 0, 0, []
    if report.exists():
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            skip = case.find("skipped")
            if skip is not None or case.get("status") in ("notrun", "disabled"):
                text = (skip.get("message") if skip is not None else "") or case.findtext("system-out") or ""
                skipped.append(" ".join(line for line in text.splitlines() if "test-models" in line).strip() or text)
            elif case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            else:
                passed += 1
    if status != 0 and failed == 0:
        failed = 1  # it did not get as far as a report
    return passed, failed, skipped


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    arguments = parser.parse_args()
    build = (ROOT / arguments.build).resolve()
    environment = {**os.environ, "QWICK_BIN": str(build / "qwick"), "QWICK_BUILD": str(build)}

    totals = [0, 0]
    skipped: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        ctest, pytest = pathlib.Path(folder, "ctest.xml"), pathlib.Path(folder, "pytest.xml")
        commands = [
            (["ctest", "--test-dir", str(build), "-j2", "--output-on-failure", "--output-junit", str(ctest), "-Q"], ctest),
            ([arguments.python, "-m", "pytest", "-q", "-rfE", "tests", f"--junitxml={pytest}"], pytest),
        ]
        for command, report in commands:
            print("$", *command[:6], flush=True)
            passed, failed, reasons = run(command, report, environment)
            totals[0] += passed
            totals[1] += failed
            skipped += reasons
    for reason in sorted(set(skipped)):
        print(f"skipped: {reason}")
    if skipped and environment.get("QWICK_REQUIRE_MODELS") == "1":
        print("skipped tests count as failed: QWICK_REQUIRE_MODELS=1")
        totals[1] += len(skipped)
    print(f"{totals[0]} passed, {totals[1]} failed, {len(skipped)} skipped")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
