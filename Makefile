# make demo and make test work on a fresh clone: both make .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HELDOUT_DATA ?= $(abspath ../shared/data)

.PHONY: install demo test check clean

install: $(VENV)/installed

# pip 23.0 (Debian 12's) would build seqeval, which comes as source only, the old way and with tools that may not fit.
$(VENV)/installed: pyproject.toml constraints.txt requirements-demo.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt --use-pep517 -e '.[dev]'
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-demo.txt
	touch $@

demo: install
	$(BIN)/heldout demo --out demo

test: install
	$(BIN)/python -m pytest

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) demo build dist
