# Needs Python 3.11 or newer with its headers, a C compiler and make; the rest goes into .venv.
# chemin is installed there as a user would have it, not editable, and again when a source changes.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip -qq --disable-pip-version-check
PYTEST := $(PY) -m pytest -n 2

# The folders too: their dates tell that a file has gone.
SOURCES := $(shell find src -name __pycache__ -prune -o -print) meson.build pyproject.toml LICENSE

# Two workers, one thread of BLAS each.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
unexport PYTHONPATH

.PHONY: help demo test docs lint stress sanitize bench clean
.NOTPARALLEL:

help:
	@echo "make demo      a tour of chemin"
	@echo "make test      the test suite, on the installed package"
	@echo "make docs      the manual, into docs/_build/html; a warning is an error"
	@echo "make lint      style, types, layers, spelling"
	@echo "make stress    the long tests, and what each tolerance does"
	@echo "make sanitize  the compiled core under gcc's address and undefined-behaviour sanitizers"
	@echo "make bench     speed against the usual tools, into benchmarks/results.md"
	@echo "make clean     remove .venv and the caches"

demo: $(VENV)/installed-plot
	@$(PY) examples/demo.py

test: $(VENV)/installed-test
	@$(ONE_THREAD) $(PYTEST) tests

stress: $(VENV)/installed-test
	@CHEMIN_STRESS=1 $(ONE_THREAD) $(PYTEST) tests -m stress --timeout=3600
	@$(PY) benchmarks/tolerances.py

sanitize: $(VENV)/installed-test
	@$(PIP) install --no-build-isolation --no-deps --upgrade --target=$(VENV)/sanitized \
	    --config-settings=setup-args=-Db_sanitize=address,undefined \
	    --config-settings=setup-args=-Db_lundef=false .
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 PYTHONMALLOC=malloc \
	    PYTHONPATH=$(VENV)/sanitized $(ONE_THREAD) $(PY) -m pytest -s \
	    tests/test_engines.py tests/test_small_blocks.py tests/test_block_coupling.py \
	    tests/test_threads.py tests/test_leave_one_out.py

bench: $(VENV)/installed-test $(VENV)/installed-bench
	@$(PY) benchmarks/run.py

docs: $(VENV)/installed-docs
	@$(ONE_THREAD) $(PY) -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

lint: $(VENV)/linters
	@ruff check .
	@ruff format --check .
	@mypy
	@PYTHONPATH=src lint-imports --no-logo
	@cython-lint src
	@codespell

clean:
	rm -rf docs/_build docs/auto_api docs/auto_examples
	rm -rf $(VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# What builds chemin stays in .venv with the build itself: after a change only what it touches is
# compiled again, against the SciPy that will run it.
INSTALL := $(PIP) install --no-build-isolation --config-settings=build-dir=$(VENV)/build

$(VENV)/installed-%: $(VENV)/builders $(SOURCES)
	@echo "installing chemin[$*]"
	@$(INSTALL) ".[$*]"
	@touch $@

$(VENV)/linters: $(VENV)/builders pyproject.toml
	@echo "installing chemin[dev]"
	@$(INSTALL) ".[dev]"
	@touch $@

$(VENV)/builders: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "chemin needs Python 3.11")'
	@echo "preparing $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb")); \
	    print(*project["build-system"]["requires"], "ninja", sep="\n")' > $(VENV)/builders.txt
	@$(PIP) install --requirement $(VENV)/builders.txt
	@touch $@

.SECONDARY:
.DELETE_ON_ERROR:
