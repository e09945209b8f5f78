# Everything runs in a virtual environment that these targets make, check and repair.
#   make demo     the main job on the embedded corpus: generate, train, average, decode, score, export
#   make test     lint and every test
#   make golden   the comparisons with tensor2tensor's recorded outputs, with a table of deviations
#   make format   sorts imports and formats the code
#   make clean    removes the environment and everything made here
# Variables: PYTHON (3.10 to 3.13), VENV, DEMO_DIR, TEST_WORKERS, PYTEST_ARGS.

PYTHON ?= python3
VENV ?= .venv
DEMO_DIR ?= demo_run
# Two workers suit two cores; each test file stays in one worker.
TEST_WORKERS ?= 2
PYTEST_ARGS ?=

BIN := $(VENV)/bin
export TF_CPP_MIN_LOG_LEVEL ?= 2

.PHONY: help environment test-environment demo test lint unit golden format clean

help:
	@grep -E '^#   ' Makefile | cut -c5-

environment:
	@$(PYTHON) scripts/environment.py --venv $(VENV)

test-environment:
	@$(PYTHON) scripts/environment.py --venv $(VENV) --extras test,dev

demo: environment
	$(BIN)/t2t-demo --work_dir=$(DEMO_DIR)

test: lint unit

lint: test-environment
	@echo "== ruff, mypy, import-linter"
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: test-environment
	@echo "== all tests on $(TEST_WORKERS) workers"
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --durations 15 $(PYTEST_ARGS)

golden: test-environment
	@echo "== comparisons with tensor2tensor's recorded results, and a table of the deviations"
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile -m reference $(PYTEST_ARGS)

format: test-environment
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(DEMO_DIR) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
