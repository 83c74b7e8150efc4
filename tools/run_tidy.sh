#!/usr/bin/env bash
# clang-tidy-19 over every source file of src/, two at a time; any finding fails.
set -euo pipefail
build=${1:?usage: run_tidy.sh BUILD_DIR}
git ls-files 'src/*.cc' | grep -v -E '_(test|bench)\.cc$' |
  xargs -P 2 -n 4 clang-tidy-19 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option 2>&1 |
  grep -v -E '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -' || true
exit "${PIPESTATUS[1]}"
