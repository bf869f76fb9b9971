# Two commands matter: `make play` and `make test`. Each sets itself up on a bare machine with git, make and Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
WORLD ?= .play/world

.PHONY: play test soak test-powercut test-model lint format types layers wheel bench clean help

help:
	@echo "make play           start the embedded demo world (no key, no Minecraft needed)"
	@echo "make test           run every test"
	@echo "make wheel          build the wheel into dist/"
	@echo "make soak           the same tests at their full counts (long)"
	@echo "make test-powercut  simulated power cuts on a loop device (Linux, root)"
	@echo "make test-model     the tests against a real model server (MCSYSTEM_MODEL_URL)"
	@echo "make bench          the benchmarks beside their anchors"
	@echo "make lint           format check, lint, types and layer contracts"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "System needs Python 3.11 or newer; set PYTHON=... to point at one."; exit 1; }
	@echo "[1/2] creating a virtual environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "[2/2] installing System and its dependencies ..."
	@$(PIP) install --progress-bar on -e .
	@touch $@

$(VENV)/.test-tools: pyproject.toml $(VENV)/.installed
	@echo "installing the test tools ..."
	@$(PIP) install -q "pip>=25.1" && $(PIP) install -q --group test
	@touch $@

$(VENV)/.lint-tools: pyproject.toml $(VENV)/.installed
	@echo "installing the lint tools ..."
	@$(PIP) install -q "pip>=25.1" && $(PIP) install -q --group lint
	@touch $@

$(VENV)/.bench-tools: pyproject.toml $(VENV)/.installed
	@echo "installing the libraries that we measure against ..."
	@$(PIP) install -q "pip>=25.1" && $(PIP) install -q --group bench
	@touch $@

play: $(VENV)/.installed
	@$(BIN)/mcsystem play --world $(WORLD)

test: $(VENV)/.test-tools
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m "not soak and not powercut and not model"

soak: $(VENV)/.test-tools
	@MCSYSTEM_SOAK=1 $(BIN)/python -m pytest -m "not powercut and not model" --timeout 3600

test-powercut: $(VENV)/.test-tools
	@$(BIN)/python -m pytest -m powercut --timeout 3600

# Against a model server of yours: MCSYSTEM_MODEL_URL=http://127.0.0.1:8080/v1 [MCSYSTEM_MODEL_KEY=...] make test-model
test-model: $(VENV)/.test-tools
	@$(BIN)/python -m pytest -m model --timeout 600

format: $(VENV)/.lint-tools
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: $(VENV)/.lint-tools $(VENV)/.test-tools
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/pyright

wheel: $(VENV)/.test-tools
	@rm -rf dist && $(PIP) wheel -q --no-deps -w dist .
	@$(BIN)/python .ci/wheel_size.py dist

bench: $(VENV)/.bench-tools
	@$(BIN)/python benchmarks/retrieval.py
	@$(BIN)/python benchmarks/storage.py
	@$(BIN)/python benchmarks/engine.py

clean:
	@rm -rf $(VENV) dist .play .hypothesis .ruff_cache .import_linter_cache
