# Everything runs in a virtual environment that these targets make and keep up to date.
#   make demo   the main job on the embedded corpus: generate, train, average, decode, score, export
#   make test   lint and every test

PYTHON ?= python3
VENV ?= .venv
DEMO_DIR ?= demo_run
# Two workers suit two cores; each test file stays in one worker.
TEST_WORKERS ?= 2
PYTEST_ARGS ?=

BIN := $(VENV)/bin
export TF_CPP_MIN_LOG_LEVEL ?= 2

.PHONY: demo test lint unit golden format clean help

help:
	@grep -E '^#   ' Makefile | cut -c5-

# A stamp per set of requirements: it is older than pyproject.toml exactly when an install is due.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 10) <= sys.version_info[:2] < (3, 14) else \
	  "Python 3.10 to 3.13 is needed. Received: " + sys.version.split()[0] + ". Set PYTHON=…")'
	@echo "== creating the virtual environment $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "== installing t2t_keras and what it needs into $(VENV) (TensorFlow is about 600 MB)"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	@echo "== installing t2t_keras, its tests' and its linters' packages into $(VENV)"
	$(BIN)/python -m pip install --quiet --editable '.[test,dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/t2t-demo --work_dir=$(DEMO_DIR)

test: lint unit

lint: $(VENV)/.installed-test
	@echo "== ruff, mypy, import-linter"
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.installed-test
	@echo "== all tests on $(TEST_WORKERS) workers"
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --durations 15 $(PYTEST_ARGS)

golden: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m reference $(PYTEST_ARGS)

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(DEMO_DIR) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
