#!/usr/bin/env python3
"""Runs every test, C++ (ctest) and Python (pytest), and ends with one line that counts them.

    tools/run_tests.py --build build/release --python .venv/bin/python

QWICK_REQUIRE_MODELS=1 makes absent real models (`make test-models`) and absent programs (`tools/install_deps.sh test`)
a failure instead of a skip.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
REMEDIES = re.compile(r"make test-models|tools/install_deps\.sh test")  # what reasons of skips name, if anything helps


@dataclasses.dataclass
class Result:
    passed: int = 0
    failed: int = 0
    skipped: list[str] = dataclasses.field(default_factory=list)   # why
    compared: list[str] = dataclasses.field(default_factory=list)  # what tests say of their oracles

    def run(self, command: list[str], report: pathlib.Path, environment: dict[str, str]) -> None:
        """Runs a command that writes a JUnit report, and adds up what is in it."""
        print("$", *command[:6], flush=True)
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        failed_before = self.failed
        if report.exists():
            for case in ElementTree.parse(report).getroot().iter("testcase"):
                self.add(case)
        if status != 0 and self.failed == failed_before:
            self.failed += 1  # it did not get as far as a report

    def add(self, case: ElementTree.Element) -> None:
        output = case.findtext("system-out") or ""
        self.compared += [line for line in output.splitlines() if re.search(r"\d.* (compared|answers), |: all equal|equal texts", line)]
        skip = case.find("skipped")
        if skip is not None or case.get("status") in ("notrun", "disabled"):
            reason = (skip.get("message") if skip is not None else "") or output
            self.skipped.append(next((line for line in reason.splitlines() if REMEDIES.search(line)), reason).strip())
        elif case.find("failure") is not None or case.find("error") is not None:
            self.failed += 1
        else:
            self.passed += 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    arguments = parser.parse_args()
    build = (ROOT / arguments.build).resolve()
    environment = {**os.environ, "QWICK_BIN": str(build / "qwick"), "QWICK_BUILD": str(build)}

    result = Result()
    with tempfile.TemporaryDirectory() as folder:
        ctest, pytest = pathlib.Path(folder, "ctest.xml"), pathlib.Path(folder, "pytest.xml")
        result.run(["ctest", "--test-dir", str(build), "-j2", "--output-on-failure", "--test-output-size-passed", "100000",
                    "--output-junit", str(ctest), "-Q"], ctest, environment)
        result.run([arguments.python, "-m", "pytest", "-q", "-rfE", "tests", f"--junitxml={pytest}",
                    "-o", "junit_logging=system-out", "-W", "ignore::SyntaxWarning"], pytest, environment)
    print("compared with the reference implementations:", *result.compared, sep="\n  ")
    for reason in sorted(set(result.skipped)):
        print(f"skipped: {reason}")
    if environment.get("QWICK_REQUIRE_MODELS") == "1":
        result.failed += sum(REMEDIES.search(reason) is not None for reason in result.skipped)
    print(f"{result.passed} passed, {result.failed} failed, {len(result.skipped)} skipped")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
