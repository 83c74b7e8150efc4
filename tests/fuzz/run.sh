#!/bin/sh
# Builds the fuzz targets and runs each for SECONDS (default 60) under the address and
# undefined-behaviour sanitizers, from its seeds in tests/fuzz/corpus/NAME. Names after SECONDS
# choose among the targets. One line for each; fails when one has found something, and then leaves the
# input in build/fuzz/crashes.
#
#   tests/fuzz/run.sh [SECONDS [NAME...]]
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
if [ $# -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cc; do set -- "$@" "$(basename "$source" _fuzz.cc)"; done
fi
targets=
for name in "$@"; do targets="$targets ${name}_fuzz"; done

cmake --preset fuzz >/dev/null
# shellcheck disable=SC2086
cmake --build --preset fuzz --target $targets >build/fuzz/build.log 2>&1 || {
  cat build/fuzz/build.log
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
crashes=build/fuzz/crashes
mkdir -p "$crashes"

fuzz() {
  name=$1
  program=$(find build/fuzz -name "${name}_fuzz" -type f -perm -u+x)
  corpus=$work/$name
  mkdir -p "$corpus"
  [ -d "tests/fuzz/corpus/$name" ] && cp -R "tests/fuzz/corpus/$name/." "$corpus/"
  dictionary=
  [ -f "tests/fuzz/$name.dict" ] && dictionary=-dict=tests/fuzz/$name.dict
  log=$work/$name.log
  status=0
  # shellcheck disable=SC2086
  "$program" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 -verbosity=1 \
    $dictionary -artifact_prefix="$crashes/$name-" "$corpus" >"$log" 2>&1 || status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ $status -eq 0 ]; then
    echo "fuzz $name: ${runs:-0} executions in ${seconds} s, nothing found"
  else
    tail -n 60 "$log"
    echo "fuzz $name: FAILED after ${runs:-?} executions; the input is in $crashes"
  fi
  return $status
}

# As many at once as there are processors.
failed=0
running=
await() {
  for process in $running; do wait "$process" || failed=1; done
  running=
}
n_started=0
for name in "$@"; do
  fuzz "$name" &
  running="$running $!"
  n_started=$((n_started + 1))
  [ $((n_started % $(nproc))) -ne 0 ] || await
done
await
exit $failed
