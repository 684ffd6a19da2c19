# Needs Python 3.10-3.13 with pip, and make; no C compiler. `make help` lists the commands.
.DEFAULT_GOAL := help
SHELL := /bin/sh
# Without bytecode each of the many processes compiles all modules anew: half as much CPU again
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TYPES := build/types/tvmq

# The first interpreter that starts and has a version we support; override with `make PYTHON=/path/to/python`.
SUPPORTED := import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.10 python3 python; do \
	$$p -c '$(SUPPORTED)' >/dev/null 2>&1 && echo $$p && break; done)

JOBS ?= auto
TESTS ?= tests
PYTEST := $(BIN)/python -m pytest
# Tests of one file stay together, so that they share what they build; who is done early takes from others
SPREAD := --dist worksteal
# Failures, and a line for each reason to skip
SKIPPED := -rfEs

.PHONY: help
help: ## show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | \
		awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'
	@echo
	@echo "  make test TESTS=tests/numerics JOBS=1    some tests, one process"
	@echo "  make demo PYTHON=python3.12              choose the interpreter of $(VENV)"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.10-3.13 found; install one, or name it: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { \
		$(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install pip; }

$(STAMP): $(BIN)/python setup.cfg pyproject.toml tvmq/version.py
	$(BIN)/python -m pip install -e '.[test]'
	@touch $@

.PHONY: install
install: $(STAMP) ## make .venv and install tvmq into it, with all that the tests need

# What the site and the tutorials need, kept apart: tests do without
DOCS := $(VENV)/.installed-docs
$(DOCS): $(STAMP)
	$(BIN)/python -m pip install -e '.[docs]'
	@touch $@

.PHONY: tutorials
tutorials: $(DOCS) ## execute the tutorials into build/tutorials/*.ipynb, those that are not up to date
	$(BIN)/python tools/tutorials.py $(TUTORIALS)

.PHONY: docs
docs: tutorials ## build the documentation into build/docs, tutorials included
	@rm -rf build/docs
	$(BIN)/sphinx-build -W --keep-going -d build/doctrees -b html docs build/docs
	@echo "open build/docs/index.html"

.PHONY: demo
demo: $(STAMP) ## quantize the embedded network on the embedded data, and compare it with float
	@mkdir -p build
	$(BIN)/tvmq demo --output build/digits.tvmq

.PHONY: examples
examples: $(STAMP) ## build and run a library from C, C++, Rust, Go, Node, Python, onnxruntime, a service; skip what has no compiler
	$(BIN)/python examples/make_library.py build/examples
	PYTHON=$(BIN)/python sh examples/run_all.sh build/examples

.PHONY: test
test: $(STAMP) ## run the tests, all but those marked slow
	$(PYTEST) -n $(JOBS) $(SPREAD) $(SKIPPED) -m "not slow" $(TESTS)

# `make slow MINUTES=40` begins no test later than that, and says how many were left out
MINUTES :=
.PHONY: slow
slow: $(STAMP) ## run the rest of the tests: all shapes by all instruction sets, fresh processes, emulated GPUs, whole scripts
	$(PYTEST) -n $(JOBS) $(SPREAD) $(SKIPPED) $(if $(MINUTES),--most-minutes $(MINUTES)) -m slow $(TESTS)

# torch and the runtimes of microcontrollers and accelerators, which [test] does not bring: what cannot be had is said, and
# its tests skip. tflite-micro and TOSA's tools ask for an older NumPy, which they do not need
EXTRAS := $(VENV)/.installed-extras
$(EXTRAS): $(STAMP)
	$(BIN)/python -c "import torch" 2>/dev/null || $(BIN)/python -m pip install --quiet "torch==2.13.0" \
		|| echo "torch cannot be installed here; its tests will skip"
	$(BIN)/python -m pip install --quiet flatbuffers tflite ai-edge-litert \
		|| echo "LiteRT cannot be installed here; its tests will skip"
	$(BIN)/python -m pip install --quiet --no-deps tflite-micro tosa-tools \
		|| echo "tflite-micro and TOSA's tools cannot be installed here; their tests will skip"
	@touch $@

# Files that name them
NEED_EXTRAS = $(shell grep -rlE "torch|tflite|litert|tosa" tests --include='test_*.py')
.PHONY: test-extras
test-extras: $(EXTRAS) ## install torch, LiteRT and TOSA's tools, and run those of `make test` again that meet them
	$(PYTEST) -n $(JOBS) $(SPREAD) $(SKIPPED) -m "not slow" $(NEED_EXTRAS)

# Files that meet onnxruntime: it runs in qemu-user's Haswell, tvmq compiles for the same CPU
MEET_ONNXRUNTIME = $(shell grep -rlE "onnxruntime|float_products|quantized_models" tests --include='test_*.py')
# `make test-avx2 AVX2_TESTS=slow` runs the others
AVX2_TESTS := not slow
.PHONY: test-avx2
test-avx2: $(STAMP) ## run the tests that meet onnxruntime as on a CPU without VNNI (Debian's qemu-user)
	TVMQ_CPU=haswell $(PYTEST) -n $(JOBS) $(SPREAD) $(SKIPPED) -m "$(AVX2_TESTS)" \
		-p tests.support.devices.emulated_onnxruntime $(MEET_ONNXRUNTIME)

.PHONY: test-arm
test-arm: $(STAMP) ## run tests and models on emulated 64-bit Arm (Debian; tools/arm.sh fetches what it needs)
	tools/arm.sh test

.PHONY: packages
packages: $(STAMP) ## build wheel and sdist into dist/, and try the wheel on every Python 3.10-3.13 found here
	$(BIN)/python tools/packages.py

.PHONY: bom
bom: $(STAMP) ## write the bill of materials of the wheel in dist/ into build/bom/
	$(BIN)/python tools/wheel_bom.py

.PHONY: next-tvm
next-tvm: ## try the tree on the newest apache-tvm, beyond what setup.cfg allows, and say what breaks
	$(PYTHON) tools/next_tvm.py

.PHONY: oldest newest
oldest: $(STAMP) ## try the wheel beside the lowest versions of its dependencies that setup.cfg allows
	$(BIN)/python tools/packages.py --versions oldest

newest: $(STAMP) ## try the wheel beside the newest versions of its dependencies
	$(BIN)/python tools/packages.py --versions newest

# Watching every line makes the tests half as long again
.PHONY: coverage
coverage: $(STAMP) ## run all tests and tell which lines they reach
	$(PYTEST) -n $(JOBS) $(SPREAD) --cov --cov-report=term $(TESTS)

.PHONY: check lint types layers house
check: lint types layers house ## ruff, mypy, the tests of layers and packages, budgets of size and words

lint: $(STAMP)
	$(BIN)/ruff check .

# mypy cannot follow the import hook of an editable install: it is shown the tree as it would be installed
types: $(STAMP)
	@rm -rf $(TYPES) && mkdir -p $(TYPES)
	@ln -s $(CURDIR)/tvmq/* $(CURDIR)/passes $(TYPES)/
	MYPYPATH=$(dir $(TYPES)) $(BIN)/mypy -p tvmq

layers: $(STAMP)
	$(PYTEST) -q tests/test_layers.py tests/test_packages.py

house: $(STAMP)
	$(BIN)/python tools/house_numbers.py --check

.PHONY: golden
golden: $(STAMP) ## rewrite golden texts and case files; read `git diff tests` before you commit
	$(PYTEST) -q --update-golden $(TESTS)
	@git --no-pager diff --stat -- tests/golden tests/passes/cases

.PHONY: clean
clean: ## remove .venv, caches and build products
	rm -rf $(VENV) build dist *.egg-info .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
