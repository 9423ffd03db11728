# Every step that CI takes is a target here. The tools come from .venv, which is made on first use from the lock file.

PYTHON ?= python3
# More words for pytest, such as PYTEST_FLAGS="-n auto -k fold".
PYTEST_FLAGS ?=
# More words for the benchmarks, such as BENCH_FLAGS="--sizes 2000".
BENCH_FLAGS ?=
# More words for the soaks, such as SOAK_FLAGS="--hypothesis-seed=7 -k kafka".
SOAK_FLAGS ?=
# How many kills `make crash` and `make soak` are for.
KILLS ?= 300
# How many long versions `make soak-short` draws: as many as five minutes have room for on two cores.
DRAW ?= 16
# `make lock LOCK_FLAGS=--upgrade` takes the newest versions; without it, pins stay as they are where they can.
LOCK_FLAGS ?=

BIN := .venv/bin
# Nothing is compiled and no package's own script is run: wheels whose hashes are in a lock file, or nothing.
INSTALL := -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes
# What is built here from this checkout needs no network: setuptools comes from the lock file.
INSTALL_LOCAL := -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.10 --no-python-downloads --only-binary :all: \
	--generate-hashes --custom-compile-command "make lock" $(LOCK_FLAGS)
COMPILE_PEERS := $(BIN)/uv pip compile --quiet --no-python-downloads --only-binary :all: --generate-hashes \
	--custom-compile-command "make lock" $(LOCK_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help venv demo dense test test-fast test-clients test-cookbook lint types wheel bench bench-scale one-day crash soak soak-short mutants \
	schemas docs site screenshots bench-page bench-peers lock clean

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target text; do \
		printf '  make %-13s %s\n' "$$target" "$$text"; done

venv: .venv/.installed ## Make .venv from both lock files, with Memtape in it as an editable install.

# Three stamps: the demo needs the libraries of Memtape alone, and a change of pyproject.toml fetches nothing again.
.venv/.base: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 10) <= sys.version_info < (3, 13) else \
		"Memtape needs Python 3.10, 3.11 or 3.12, for example: make PYTHON=python3.12")'
	@echo "Installing $< into .venv: it fetches 160 MB, takes 610 MB, and half a minute on a fast line."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python $(INSTALL) -r $<
	@touch $@

.venv/.locked: .venv/.base requirements-dev.lock
	@echo "Adding requirements-dev.lock for tests: it fetches 330 MB, takes 1,010 MB, and half a minute on a fast line."
	@$(BIN)/python $(INSTALL) -r requirements-dev.lock
	@touch $@

.venv/.installed: .venv/.locked pyproject.toml
	@echo "Installing Memtape into .venv."
	@$(BIN)/python $(INSTALL_LOCAL) --editable .
	@touch $@

demo: .venv/.base ## Show Memtape at work, in a throw-away home, with the libraries of requirements.lock alone.
	@PYTHONPATH="$(CURDIR)" $(BIN)/python -m memtape demo

# The files are shared out over the cores; a file's tests stay together, so that what they start is started once.
# Four at once on two cores, since many tests wait for a broker or another process.
# What is compiled is kept, also where the environment says otherwise: most tests start processes.
test soak soak-short: export PYTHONDONTWRITEBYTECODE =
test: venv ## Run a short version of every test, the fast ones of each file first.
	$(BIN)/python -m pytest --durations=10 -n 4 --dist loadfile --no-loadscope-reorder $(PYTEST_FLAGS)

# Torch is no part of any lock file: its CPU build is asked for by itself, before what needs it.
dense: venv ## Add the extra `dense` to .venv, by which tests compare vectors.
	@$(BIN)/python -m pip freeze --exclude-editable > .venv/constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --constraint .venv/constraints.txt \
		torch==2.13.0 sentence-transformers==6.2.0

test-fast: venv ## Run the fast tests only, on every core.
	$(BIN)/python -m pytest -m "not slow and not soak" -n auto $(PYTEST_FLAGS)

test-clients: venv ## Let the real hosts, installed by npm, share one memory over a model on loopback.
	$(BIN)/python tests/clients.py

test-cookbook: venv ## Run the recipes of docs/python.md with the frameworks, in an environment of their own (210 MB).
	@$(PYTHON) -m venv .venv-cookbook
	@.venv-cookbook/bin/python -c 'import pathlib, sysconfig; \
		own = pathlib.Path(sysconfig.get_path("purelib")); of_venv = pathlib.Path(".venv").resolve() / own.relative_to(own.parents[2]); \
		(own / "venv.pth").write_text(f"import site; site.addsitedir({str(of_venv)!r})\n")'
	@.venv-cookbook/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		-r tests/data/cookbook.txt
	.venv-cookbook/bin/python -m pytest tests/test_cookbook.py $(PYTEST_FLAGS)

lint: venv ## Check style and format.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: venv ## Check types.
	$(BIN)/mypy -p memtape

# The wheel is built from the sdist, so both are shown to be whole; then it runs on the base lock file and nothing else.
wheel: venv ## Build the wheel and the sdist, and try the wheel in a scratch environment.
	@rm -rf build dist .venv-wheel
	$(BIN)/python -m build --quiet --no-isolation
	@echo "Trying the wheel in .venv-wheel, with what requirements.lock names."
	@$(PYTHON) -m venv .venv-wheel
	@.venv-wheel/bin/python $(INSTALL) -r requirements.lock
	@.venv-wheel/bin/python $(INSTALL_LOCAL) dist/*.whl
	cd dist && ../.venv-wheel/bin/python -I -c \
		"import memtape.schemas, memtape.state, memtape.flows, memtape.sinks, memtape.tools"
	cd dist && ../.venv-wheel/bin/memtape --help
	@rm -rf .venv-wheel

bench: venv ## Run the benchmarks.
	$(BIN)/python tests/bench/scale.py --sizes 20000 $(BENCH_FLAGS)

bench-scale: venv ## Measure at 2,000 to 100,000 texts, and print each figure.
	$(BIN)/python tests/bench/scale.py $(SCALE_FLAGS)

crash: venv ## Kill projectors at KILLS points and see that what they leave comes right.
	$(BIN)/python tests/crash.py --kills $(KILLS)

# Every case, 5,000 new examples of each property, and KILLS kills: for a night.
soak: venv ## Run the long versions of all tests.
	$(BIN)/python -m pytest -m soak --durations=10 -n auto --maxprocesses 4 --dist loadfile $(SOAK_FLAGS)
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -m hypothesis -n auto --maxprocesses 4 $(SOAK_FLAGS)
	$(BIN)/python tests/crash.py --kills $(KILLS)

# What it draws is new each time, also where CI is set, and it says how to draw the same again.
soak-short: venv ## Run DRAW tests that have long versions, one case each, and new examples of each law.
	$(BIN)/python -m pytest -m soak --draw $(DRAW) -n auto --maxprocesses 4 --dist loadfile $(SOAK_FLAGS)
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -m hypothesis tests/test_laws.py tests/test_erasures.py -n auto --maxprocesses 4 \
		$(SOAK_FLAGS)

one-day: venv ## Take the stored day in, before and after, and write the table of docs/quickstart.md.
	$(BIN)/python examples/one_day/replay.py --page

mutants: venv ## Break the product on purpose, and see that the tests notice each time.
	$(BIN)/python tests/mutants.py

# It needs chromium, as Debian has it, and Pillow, which the lock of development has.
screenshots: venv ## Take pictures of the demo and of the page into docs/pictures, or all of it into EVERY=FOLDER.
ifdef EVERY
	$(BIN)/python tests/page_pictures.py every $(EVERY)
else
	$(BIN)/python tests/demo_picture.py docs/pictures/demo.svg
	$(BIN)/python tests/page_pictures.py docs/pictures
endif

bench-page: venv ## Measure what each view of the page costs on 20,000 texts, and on 20,000 memories.
	$(BIN)/python tests/bench/page_costs.py
	$(BIN)/python tests/bench/page_costs.py --texts 4000 --memories 20000

# Each product runs on its own libraries, and never in .venv. Vectors in SQLite want a Python whose `sqlite3` loads
# extensions, as Debian's does and pyenv's does not: make bench-peers PEERS_PYTHON=/usr/bin/python3.
PEERS := tests/bench/peers
PEERS_PYTHON ?= python3.11
BASIC_MEMORY_PYTHON ?= python3.12

build/peers-venv/.installed: $(PEERS)/peers.lock
	@echo "Installing $< into build/peers-venv: it takes 2 GB."
	@$(PEERS_PYTHON) -m venv --clear build/peers-venv
	@build/peers-venv/bin/python $(INSTALL) --no-deps -r $<
	@build/peers-venv/bin/python -m pip freeze > build/peers-venv/constraints.txt
	@build/peers-venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		--constraint build/peers-venv/constraints.txt torch==2.13.0
	@touch $@

# Two of its libraries come as source alone. Without this Python the table names what is missing.
build/basic-memory-venv/.installed: $(PEERS)/basic-memory.lock
	-@$(BASIC_MEMORY_PYTHON) -m venv --clear build/basic-memory-venv && \
		build/basic-memory-venv/bin/python $(INSTALL) --no-binary pybars3,pymeta3 --no-deps -r $< && touch $@

bench-peers: venv build/peers-venv/.installed build/basic-memory-venv/.installed ## Measure other products too, into docs/comparison.md.
	$(BIN)/python $(PEERS)/run.py $(CORPUS) $(UPDATES) $(PEERS_FLAGS)

schemas: venv ## Write schemas/json again from the types.
	@$(BIN)/python tests/json_schemas.py

docs: venv ## Write the parts of docs, the stub of the client and the published plugins that follow from the code.
	@PYTHONPATH=. $(BIN)/python tests/written_pages.py
	@PYTHONPATH=. $(BIN)/python tests/published_files.py
	@PYTHONPATH=. $(BIN)/python tests/client_stub.py

# The pages keep their places, so that links between them hold on the site as in the checkout.
site: venv ## Build the site from docs/ into build/site; a broken link fails.
	@rm -rf build/pages && mkdir -p build/pages
	@tar cf - *.md LICENSE docs docker tests/mutants.toml | tar xf - -C build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The resolver is pinned too, so that the same pins are always written in the same way.
lock: venv ## Write the lock files again from pyproject.toml.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.8
	$(COMPILE) --extra kafka --output-file requirements.lock pyproject.toml
	$(COMPILE) --constraint requirements.lock --extra dev --extra documents --extra entailment --extra kafka --extra meaning --extra s3 \
		--output-file requirements-dev.lock pyproject.toml
	$(COMPILE_PEERS) --python-version 3.11 --override $(PEERS)/without-torch.txt \
		--output-file $(PEERS)/peers.lock $(PEERS)/peers.in
	$(COMPILE_PEERS) --python-version 3.12 --no-binary pybars3 --no-binary pymeta3 \
		--output-file $(PEERS)/basic-memory.lock $(PEERS)/basic-memory.in

clean: ## Remove everything that make made.
	rm -rf .venv .venv-wheel build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
