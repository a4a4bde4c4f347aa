# Two commands do everything from a fresh clone: `make audit` and `make test`.
PYTHON ?= python3
VENV ?= .venv
# The versions that the project is developed against. Any torch >= 2.5 and Triton 3.2 to 3.9 do.
TORCH ?= torch==2.13.0
TRITON ?= triton==3.9.0
JOBS ?= auto
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: audit audit-libraries test check format gpu clean help

help: ## show this help
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH) $(TRITON) numpy
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

audit: $(STAMP) ## run the whole catalogue on the interpreter
	$(BIN)/tritaudit run --backend interpreter --fast-interpreter --jobs $(JOBS)

audit-libraries: $(STAMP) ## audit published libraries with the case files in examples/
	$(BIN)/python scripts/audit_libraries.py

test: $(STAMP) ## run all tests
	$(BIN)/python -m pytest -n auto --dist loadfile

check: $(STAMP) ## formatting, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/unit/test_layers.py

format: $(STAMP) ## format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

gpu: $(STAMP) ## the tests that need a GPU, and the catalogue on it
	$(BIN)/python -m pytest -m gpu
	$(BIN)/tritaudit run --backend gpu

clean: ## remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
