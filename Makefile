# Needs Python >= 3.11 and make; everything else goes into environments under .venv.
# `make demo` shows the library at work, `make test` runs everything that CI runs.

PYTHON ?= python3
# Processes that run tests side by side.
WORKERS ?= 2
# Real streams; the tests and examples that want them say so and skip where they are absent.
export SKSTREAM_DATA ?= $(abspath ../shared/data)
# One thread per process: the tests themselves run in parallel.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MPLBACKEND := Agg
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Every process that a test starts imports the package: let it be compiled once.
unexport PYTHONDONTWRITEBYTECODE

VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' skstream/utils/_version.py)
# Stamps: an environment is installed again only for another version or another pyproject.toml.
LATEST := .venv/latest/installed-$(VERSION)
PREVIOUS := .venv/previous/installed-$(VERSION)
DEMO := .venv/demo/installed-$(VERSION)
PLAIN := .venv/plain/installed-$(VERSION)
IN_LATEST := .venv/latest/bin/python -m
IN_PREVIOUS := .venv/previous/bin/python -m
# The tests of test-latest in four parts.
PARTS := $(addprefix latest-,files others kernels evaluation)
# One worker would only be told by another process what to do.
SIDE_BY_SIDE = $(if $(filter-out 1,$(WORKERS)),-n $(WORKERS) --dist worksteal)

.PHONY: help demo test lint types package doctest test-previous test-latest test-without-data test-cores \
    docs quick-docs release-check bench fidelity field clean $(PARTS)

help:
	@echo "make demo    install, compare models on a stream, end with a table and a picture"
	@echo "make test    everything CI runs: lint, types, package, doctests, tests with two scikit-learns,"
	@echo "             kernels with the BLAS loops of another processor"
	@echo "make docs    build the site into build/docs, with the gallery (the first time: minutes)"
	@echo "make bench   run every benchmark (long)"
	@echo "make fidelity   run what answers for the tables and figures of the five papers, and write"
	@echo "             docs/fidelity.md (under 90 minutes on two cores; PAPER=bifet: one paper; short are KDD99"
	@echo "             and Tables 2 to 4 of Bifet et al.: FULL=1: as large as in the papers, about a day)"
	@echo "make field   run the field: 26 models on real and generated streams, into build/field, and write"
	@echo "             docs/field.json and docs/what_works.md (forty minutes; again after a stop:"
	@echo "             what is left; SHORT=1: its short form, into build/field-short)"
	@echo "make clean   remove environments, caches and build results"

demo: $(DEMO)
	.venv/demo/bin/skstream demo --out build/demo

# All parts wait in one queue for a processor, the longest first, so that none waits for another: what
# a part prints comes when it ends (before make 4.0, as it comes), and a part that fails stops no other.
# The first two share no environment: what one compiles, packages and kernels, the other does not
# compile at the same time, and later parts find it compiled.
test:
	$(MAKE) -j$(WORKERS) $(LATEST) $(PLAIN) $(PREVIOUS)
	$(MAKE) -k $(if $(filter output-sync,$(.FEATURES)),-O) -j$(WORKERS) WORKERS=1 latest-files test-previous \
	    $(filter-out latest-files,$(PARTS)) quick-docs types test-cores test-without-data doctest lint package

lint: $(LATEST)
	$(IN_LATEST) ruff check .
	$(IN_LATEST) ruff format --check .
	$(IN_LATEST) benchmarks.ratchet

types: $(LATEST)
	$(IN_LATEST) mypy

# The wheel and the sdist it is built from install and import in an environment of their own.
package: $(LATEST) $(PLAIN)
	rm -rf build/dist && mkdir -p build
	$(IN_LATEST) build --no-isolation --outdir build/dist . > build/dist.log || (cat build/dist.log; false)
	.venv/plain/bin/python -m pip install -q --no-deps --force-reinstall build/dist/*.whl
	cd build && ../.venv/plain/bin/python -I -W error ../.ci/check_installed.py $(VERSION)

doctest: $(LATEST)
	CI=1 $(IN_LATEST) pytest -q --doctest-modules skstream

# The oldest supported scikit-learn, numpy, scipy and joblib, without any extra: what calls them, unless
# ALL=1. Hypothesis tries more examples with the newest; what differs by version shows in fewer of them.
# Left out, since no version can change it: what reads answers that are there (comparisons) or compares
# two runs (verification), the order of rows (the engine, held-out rows and warm-ups, which the laws of
# evaluators run anyway), and pages and the command line, but for the models that it names.
CALLERS := $(addprefix tests/,kernels compat model_selection preprocessing) $(filter-out \
    $(addprefix tests/test_,site.py cli.py cli_% docs.py guesses.py),$(wildcard tests/test_*.py)) \
    $(addprefix tests/,test_cli_model_strings.py $(addprefix evaluation/test_,$(addsuffix .py, \
    laws delayed failures kfold live prequential storage)))
test-previous: export SKSTREAM_TEST_EXAMPLES ?= 0.1
test-previous: $(PREVIOUS)
	CI=1 $(IN_PREVIOUS) pytest -q $(SIDE_BY_SIDE) $(if $(ALL),tests,$(wildcard $(CALLERS)))

# The newest scikit-learn, with every extra.
test-latest: export SKSTREAM_TEST_EXAMPLES ?= 0.25
test-latest: $(LATEST)
	CI=1 $(IN_LATEST) pytest -q $(SIDE_BY_SIDE) tests

# The same in parts, for the queue; quick-docs tests the site that it builds.
latest-kernels latest-evaluation: TESTS = tests/$(@:latest-%=%)
latest-files: TESTS = $(filter-out tests/test_site.py,$(wildcard tests/test_*.py))
latest-others: TESTS = $(filter-out %/kernels/ %/evaluation/ %/__pycache__/,$(wildcard tests/*/))
$(PARTS): export SKSTREAM_TEST_EXAMPLES ?= 0.25
$(PARTS): $(LATEST)
	CI=1 $(IN_LATEST) pytest -q $(TESTS)

# What reads real streams, once more as on a machine that has none of them.
READERS = $(shell grep -rlE 'tests\._data|EXAMPLES|PAGES' tests --include='test_*.py')
test-without-data: $(LATEST)
	CI=1 SKSTREAM_TEST_EXAMPLES=0.1 $(IN_LATEST) pytest -q $(SIDE_BY_SIDE) --without-data $(READERS)

# Kernels whose bits depend on the order in which BLAS adds, as on a processor of another kind:
# OpenBLAS chooses its loops by the processor, unless it is told. Elsewhere than on x86 this name is
# not known, and the tests run as they did.
test-cores: $(LATEST)
	CI=1 OPENBLAS_CORETYPE=Nehalem SKSTREAM_TEST_EXAMPLES=0.1 $(IN_LATEST) pytest -q $(SIDE_BY_SIDE) \
	    -k "not test_transformers and not test_scalers and not csr_array" $(addprefix \
	    tests/kernels/test_,$(addsuffix .py, linear linear_long naive_bayes_ties neural_network single ties))

# What has been built before, and has not changed, is not built again: the gallery above all.
docs: $(LATEST)
	$(IN_LATEST) sphinx -q -W --keep-going -b html docs build/docs

# Every page anew (-E), with the examples of the gallery shown and not run: tests run them.
quick-docs: $(LATEST)
	rm -rf build/quick-docs
	SKSTREAM_DOCS=quick $(IN_LATEST) sphinx -q -E -W --keep-going -b html docs build/quick-docs
	CI=1 $(IN_LATEST) pytest -q tests/test_site.py

# What a tag would upload, without uploading: the files are built, checked, installed, tried.
release-check: package
	$(IN_LATEST) twine check --strict build/dist/*
	$(IN_LATEST) towncrier build --draft --version $(VERSION) > build/changes.md
	.venv/plain/bin/skstream evaluate --generator NSGT --n-rows 2000 --model sgd --model nb
	@echo "build/dist is ready to be uploaded as $(VERSION); build/changes.md is what it says"

bench: $(LATEST)
	set -e; for script in benchmarks/bench_*.py; do \
	    name=$$(basename $$script .py); echo "== $$name"; $(IN_LATEST) benchmarks.$$name; done

# Every table and figure of the papers: docs/fidelity.json keeps what came out, the page shows it.
fidelity: $(LATEST)
	$(IN_LATEST) benchmarks.fidelity --n-jobs $(WORKERS) $(if $(PAPER),--paper $(PAPER)) $(if $(FULL),--full)

# What works on streams, and on how many; the folder is what `skstream bench` writes, and resumes.
# docs/field.json keeps what came out, the page shows it.
FIELD = field$(if $(SHORT),-short)
field: $(LATEST)
	PYTHONHASHSEED=0 .venv/latest/bin/skstream bench $(FIELD) --out build/$(FIELD) --n-jobs $(WORKERS)
	$(IN_LATEST) benchmarks.field build/$(FIELD) --out $(if $(SHORT),build/$(FIELD)/field.json,docs/field.json)
	$(if $(SHORT),,$(IN_LATEST) benchmarks.field_page)

clean:
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(LATEST): WANTED := --upgrade --upgrade-strategy eager --editable ".[all,dev]"
# The oldest versions that pyproject.toml admits (Python 3.13 needs a newer numpy).
$(PREVIOUS): WANTED := --editable ".[test]" "scikit-learn==1.8.*" "scipy==1.14.*" "joblib==1.4.*" \
	"numpy==2.0.*; python_version < '3.13'"
$(DEMO): WANTED := --editable ".[plot,frames,progress]"
# The required packages alone; `make package` puts the built wheel in the place of this install.
$(PLAIN): WANTED := .

$(LATEST) $(PREVIOUS) $(DEMO) $(PLAIN): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "skstream needs \
	Python 3.11 or newer, but $(PYTHON) is older. Name another: make PYTHON=python3.12")'
	@echo "Installing into $(@D)"
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install -q --no-compile $(WANTED)
	@touch $@
