# Needs GNU make, git and Python >= 3.11; everything else is installed into .venv.
# `make demo PYTHON=/path/to/python3.12` chooses the interpreter for a new .venv.

VENV := .venv
# Git Bash on Windows, where an environment has Scripts instead of bin.
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(VENV)/$(BIN)/python
LOWEST := .venv-lowest
RUNS := src/pengp/datasets/piston_slap.csv

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-lowest test-all test-packages fuzz lock sbom lint bench docs paper clean \
	new-venv

# Settings of the caller's shell that would lead Python or pip out of .venv.
unexport PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@echo "make demo    fit the piston-slap runs from their CSV in both ways, and write a report"
	@echo "make test    lint, then all tests with coverage"
	@echo "make test-lowest  the tests with the lowest versions that pyproject.toml claims"
	@echo "make test-all     both"
	@echo "make test-packages  wheel and sdist in a clean environment of every Python on the PATH"
	@echo "make fuzz    205,000 generated and hostile inputs, 13 minutes of processor time"
	@echo "make lock    the newest versions with hashes, into requirements/lock.txt"
	@echo "make sbom    the bill of materials of the locked versions, into out/"
	@echo "make lint    ruff, mypy, import layers"
	@echo "make bench   speed and memory as ratios, printed"
	@echo "make docs    run the tutorials, build the documentation into site/ and check it"
	@echo "make paper   run the paper's studies; every figure and table into out/paper/"
	@echo "make clean   remove what the targets above left behind, except .venv"

demo: $(VENV)/.ready-run
	@mkdir -p out
	$(VENV)/$(BIN)/pengp fit $(RUNS) --response noise --force --output out/piston_slap.pengp
	@echo
	$(VENV)/$(BIN)/pengp fit $(RUNS) --response noise --method penalized --force \
		--output out/piston_slap_penalized.pengp
	@echo
	$(VENV)/$(BIN)/pengp report out/piston_slap.pengp --output out/piston_slap.html
	@echo
	@echo "Open $(CURDIR)/out/piston_slap.html in a browser. Predict with:"
	@echo "$(VENV)/$(BIN)/pengp predict out/piston_slap.pengp $(RUNS)"
	@echo "Which inputs matter, and which runs would tell the explanations apart:"
	@$(VENV)/$(BIN)/pengp effects out/piston_slap.pengp --top 2
	@$(VENV)/$(BIN)/pengp next $(RUNS) --response noise --model out/piston_slap.pengp \
		--goal modes -n 2 --brief

test: lint
	OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist worksteal --cov --cov-fail-under=95

# Old packages beside new ones give warnings that are not pengp's; elsewhere they are errors.
test-lowest: $(LOWEST)/.ready
	OPENBLAS_NUM_THREADS=1 $(LOWEST)/$(BIN)/python -m pytest -n 2 --dist worksteal \
		-o filterwarnings=default

test-all: test test-lowest

test-packages: $(VENV)/.ready-dev
	$(PY) requirements/packages.py

fuzz: $(VENV)/.ready-dev
	OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist worksteal -p no:cacheprovider \
		tests/fuzz --hypothesis-profile=long

# Of the oldest Python that is supported, since newer ones may have newer packages.
lock: $(VENV)/.ready-dev
	@mkdir -p out
	@$(PY) requirements/lowest.py --wanted > out/pyproject.toml.in
	$(PY) -m piptools compile -q --generate-hashes --strip-extras --no-header \
		--no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
		-o requirements/lock.txt out/pyproject.toml.in
	@sed -i.old 's|-r out/pyproject.toml.in|pyproject.toml|' requirements/lock.txt
	@rm requirements/lock.txt.old

sbom: $(VENV)/.ready-run
	@mkdir -p out
	$(PY) requirements/sbom.py > out/pengp.cdx.json

lint: $(VENV)/.ready-dev
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(VENV)/$(BIN)/lint-imports --no-logo

bench: $(VENV)/.ready-bench
	$(PY) -m benchmarks.run

# Runs the tutorials, then walks the pages in a browser where there is one.
docs: $(VENV)/.ready-docs
	rm -rf site
	OPENBLAS_NUM_THREADS=1 $(PY) -m sphinx -W --keep-going --quiet -d build/doctrees docs site
	PENGP_SITE=$(CURDIR)/site $(PY) -m pytest tests/site

# The replication: TEST_RUNS names the 100 piston-slap test runs, which the paper does not print.
# Another SEED or TEST_RUNS is for another PAPER folder, as a results file keeps to one.
PAPER := out/paper
JOBS := 2
SEED := 1
TEST_RUNS :=

paper: $(VENV)/.ready-run
	@mkdir -p $(PAPER)
	$(VENV)/$(BIN)/pengp study run all --size paper --jobs $(JOBS) --seed $(SEED) \
		--output $(PAPER)/study.sqlite $(if $(TEST_RUNS),--test-runs $(TEST_RUNS))
	$(VENV)/$(BIN)/pengp study report $(PAPER)/study.sqlite --output-dir $(PAPER)

clean:
	rm -rf build dist out site htmlcov .coverage .coverage.*
	rm -rf docs/tutorials docs/reference docs/backreferences docs/sg_execution_times.rst
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. A stamp .ready-X says that the packages for X are installed; it is stale when
# pyproject.toml is newer. `run` is what the command line needs, the others are extras of that name;
# `dev` holds all that `run` does.
EXTRA_run := [cli,report]
EXTRA_dev := [dev]
EXTRA_bench := [bench]
EXTRA_docs := [docs]
STAMPS := $(addprefix $(VENV)/.ready-,run dev bench docs)

$(STAMPS): $(VENV)/.ready-%: pyproject.toml
	@echo "Installing pengp$(EXTRA_$*) into $(VENV) ..."
	@touch $(VENV)/.unfinished
	@$(PY) -m pip install -qq --editable '.$(EXTRA_$*)'
	@rm $(VENV)/.unfinished
	@touch $@ $(if $(filter dev,$*),$(VENV)/.ready-run)

# The lowest versions have wheels for Python 3.11 and 3.12 only.
$(LOWEST)/.ready: pyproject.toml requirements/lowest.py | $(VENV)/.ready-run
	@echo "Installing the lowest versions into $(LOWEST) ..."
	@$(PY) -m venv --clear $(LOWEST)
	@$(PY) requirements/lowest.py > $(LOWEST)/constraints.txt
	@$(LOWEST)/$(BIN)/python -m pip install -qq --editable '.[test]' \
		--constraint $(LOWEST)/constraints.txt
	@touch $@

# An environment is sound if no installation into it was cut short, it was made at this place
# (pip's script names it; on Windows that is not looked at) and its interpreter runs. Otherwise it
# is built anew.
MADE_HERE := $(if $(filter Scripts,$(BIN)),true,grep -qsF "$(CURDIR)/$(VENV)/bin/" $(VENV)/bin/pip)
SOUND := $(shell test ! -e $(VENV)/.unfinished && $(MADE_HERE) \
	&& $(PY) -c "import pip" 2>/dev/null && echo yes)
ifneq ($(SOUND),yes)
$(STAMPS): new-venv
endif

new-venv:
	@for python in $(PYTHON) python3 python python3.14 python3.13 python3.12 python3.11; do \
		if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
			>/dev/null 2>&1; then exec "$$python" -m venv --clear $(VENV); fi; \
	done; \
	echo "pengp needs Python 3.11 or newer with its venv module, and none was found;" \
		"install one, or name it as in: make test PYTHON=/path/to/python3" >&2; exit 1
