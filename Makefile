# The front door. `make serve` and `make test` set everything up on a fresh Debian or Ubuntu.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MODEL ?=
HOST ?= 127.0.0.1
PORT ?= 8000
FUZZ_SECONDS ?= 60
BASE ?= HEAD~1
NEW ?= HEAD
BUILD := build/release
VENV := .venv
# Fewer requests than in `make test`: sanitizers are slow.
BAD_DAYS = QWICK_FAULT_REQUESTS=600 QWICK_HOSTILE_REQUESTS=2000 $(VENV)/bin/python -m pytest -q tests/e2e/test_faults.py tests/e2e/test_hostile.py
CXX_FILES = $(shell git ls-files --cached --others --exclude-standard 'src/*.h' 'src/*.cc' 'tests/*.cc')

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t16

.PHONY: serve
serve: build ## install, build and serve MODEL (a name on the hub, a directory or .gguf; nothing: the demo) on 127.0.0.1:8000
	$(BUILD)/qwick serve $(MODEL) --host $(HOST) --port $(PORT)

.PHONY: build
build: ## the release binary, build/release/qwick
	@tools/install_deps.sh build
	@cmake --preset release -DQWICK_TESTS=OFF -Wno-dev >/dev/null
	@cmake --build --preset release --target qwick

.PHONY: test
test: $(VENV)/installed ## install, build and run every test
	@tools/install_deps.sh test
	@cmake --preset release -DQWICK_TESTS=ON -Wno-dev >/dev/null
	@cmake --build --preset release
	@tools/run_tests.py --build $(BUILD) --python $(VENV)/bin/python

$(VENV)/installed: tests/requirements.txt
	@tools/install_deps.sh test
	@python3 -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

.PHONY: test-models
test-models: ## fetch the real models that some tests need, once (600 MB, into ~/.cache/qwick/test-models)
	@python3 tools/fetch_test_models.py

.PHONY: format
format: ## format the C++ files
	@tools/install_deps.sh check
	@clang-format-19 -i $(CXX_FILES)

.PHONY: lint
lint: ## formatting, clang-tidy, the layer table, weak symbols
	@tools/install_deps.sh check
	clang-format-19 --dry-run --Werror $(CXX_FILES)
	python3 tools/check_layers.py
	@cmake --preset release -DQWICK_TESTS=ON -Wno-dev >/dev/null
	@cmake --build --preset release
	python3 tools/check_weak_symbols.py $(BUILD)
	tools/run_tidy.sh $(BUILD)

.PHONY: asan
asan: $(VENV)/installed ## unit tests and a server's bad days under the address and undefined-behaviour sanitizers
	@tools/install_deps.sh test
	@cmake --preset asan -Wno-dev >/dev/null
	@cmake --build --preset asan
	ctest --test-dir build/asan --output-on-failure -j2
	ASAN_OPTIONS=quarantine_size_mb=1 QWICK_BIN=build/asan/qwick $(BAD_DAYS)

.PHONY: tsan
tsan: $(VENV)/installed ## unit tests and a server's bad days under the thread sanitizer
	@tools/install_deps.sh test
	@cmake --preset tsan -Wno-dev >/dev/null
	@cmake --build --preset tsan --target base_test engine_test server_test qwick
	build/tsan/base_test --gtest_brief=1 && build/tsan/engine_test --gtest_brief=1 && build/tsan/server_test --gtest_brief=1
	QWICK_BIN=build/tsan/qwick $(BAD_DAYS)

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_SECONDS (60)
	@tools/install_deps.sh check
	tests/fuzz/run.sh $(FUZZ_SECONDS)

.PHONY: instructions
instructions: build ## count the instructions of a fixed run against bench/instructions.json
	@tools/install_deps.sh check
	tools/count_instructions.py --build $(BUILD)

.PHONY: bench-guard
bench-guard: ## time commit NEW (HEAD) against commit BASE (HEAD~1), in turns
	@tools/install_deps.sh check
	tools/bench_compare.py $(BASE) $(NEW)

.PHONY: bench-peers
bench-peers: build ## measure other engines with the same client on the same weights (an hour or two)
	python3 bench/peers/run.py --out bench/results/peers.json && tools/make_benchmarks.py

.PHONY: clean
clean: ## remove what was built
	rm -rf build $(VENV)
