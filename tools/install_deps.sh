#!/usr/bin/env bash
# Installs the Debian/Ubuntu packages that are missing: `build` what building and serving need,
# `test` what the tests need besides, `check` what linting and fuzzing need besides.
# PACKAGE:COMMAND is there where the command is, wherever it came from.
set -euo pipefail

build=(g++ cmake ninja-build ccache libboost-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev
  libutf8proc-dev libxxhash-dev libcurl4-openssl-dev libssl-dev)
test=(chromium:chromium libgtest-dev libpcre2-dev prometheus-cpp-dev prometheus python3 python3-venv git curl nodejs:node npm:npm)
check=(valgrind clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev libbenchmark-dev)

wanted=("${build[@]}")
case "${1:-build}" in
  build) ;;
  test) wanted+=("${test[@]}") ;;
  check) wanted+=("${test[@]}" "${check[@]}") ;;
  *) echo "usage: $0 [build|test|check]" >&2; exit 2 ;;
esac

find_missing() {
  missing=()
  for entry in "${wanted[@]}"; do
    package=${entry%%:*}
    [[ $entry == *:* ]] && command -v "${entry#*:}" >/dev/null && continue
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
}
find_missing
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "qwick builds on Debian and Ubuntu; elsewhere install the counterparts of: ${missing[*]}" >&2
  exit 1
fi
sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -q >/dev/null
# NodeSource's nodejs has npm in it and refuses Debian's beside it: npm is asked for once nodejs is there.
first=()
for package in "${missing[@]}"; do
  [[ $package == npm && " ${missing[*]} " == *" nodejs "* ]] || first+=("$package")
done
"${sudo[@]}" apt-get install -y -q --no-install-recommends "${first[@]}" >/dev/null
# Prometheus' package starts a service of its own, which no test needs.
if [[ " ${first[*]} " == *" prometheus "* && -d /run/systemd/system ]]; then
  "${sudo[@]}" systemctl disable --quiet --now prometheus
fi
hash -r
find_missing
[ ${#missing[@]} -eq 0 ] || "${sudo[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
