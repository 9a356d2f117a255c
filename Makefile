# Targets set up .venv if it does not exist. PYTHON is Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN = $(VENV)/bin
# two processes on two cores: one thread of BLAS each
PYTEST = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -q

# The folder with real data. Default: ../shared/data, if it exists.
INVARLEARN_DATA ?= $(realpath ../shared/data)
ifneq ($(strip $(INVARLEARN_DATA)),)
export INVARLEARN_DATA
else
unexport INVARLEARN_DATA
endif

.PHONY: demo test test-oldest lint format bench fuzz results docs links dist clean

$(VENV)/.test: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "invarlearn needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,dask]"
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

demo: $(VENV)/.test
	$(BIN)/python -m invarlearn demo

test: $(VENV)/.test
	$(PYTEST)

# run the tests with the oldest version of each dependency that pyproject.toml allows; needs Python 3.11
test-oldest: VENV := .venv-oldest
test-oldest:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python scripts/oldest.py > $(VENV)/constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  -c $(VENV)/constraints.txt -e ".[test,dask,parquet]"
	$(PYTEST)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test
	$(BIN)/python benchmarks/run.py

fuzz: $(VENV)/.test
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n 2 -q -m fuzz tests

# check stored results, pages of results and numbers of the documentation
results: $(VENV)/.test
	$(BIN)/python docs/results.py --check

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# check links to other sites; needs a network
links: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -b linkcheck -D sphinx_gallery_conf.plot_gallery=0 docs docs/_build/links

# build the wheel and the sdist, install each into a fresh environment of PYTHON, and test it
dist: $(VENV)/.test
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(PYTHON) scripts/smoke.py dist/*

clean:
	rm -rf $(VENV) .venv-oldest dist docs/_build .pytest_cache .mypy_cache .ruff_cache
