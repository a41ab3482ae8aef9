# `make help` lists the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install engine demo test lint format types bench sample clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## virtualenv in .venv, with the development tools

$(STAMP): pyproject.toml
	@scripts/virtualenv.sh $(PYTHON) $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

engine: ## use a running Docker or Podman; else install and start Docker (root on Debian or Ubuntu)
	@scripts/engine.sh

demo: install engine ## twelve proven tasks, from nothing
	@$(BIN)/envgen run --run demo --n 12 --author procedural

test: install engine lint types ## everything: style, types, and the whole test suite on real containers
	@$(BIN)/envgen bases build
	@$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

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
