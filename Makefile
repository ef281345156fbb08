# Every target does its own set-up: a fresh clone needs python3 (3.11 or newer), pip, make and a
# C++ compiler. ARGS is handed on: make test ARGS="-k window"; make serve ARGS="--port 9000".

PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

# What a shell has set for other projects' Pythons would also be read by this one's.
unexport PYTHONHOME PYTHONPATH PYTHONSAFEPATH PYTHONPLATLIBDIR PYTHONEXECUTABLE PYTHONUSERBASE \
	PYTHONSTARTUP PYTHONOPTIMIZE PYTHONINSPECT VIRTUAL_ENV

.NOTPARALLEL: # make -j: targets may install system packages, one after the other
.DEFAULT_GOAL := help
.PHONY: help install demo serve test lint format bench bench-full bench-docs soak sanitize screenshots dist clean setup setup-dev servers peers

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: setup-dev ## set up only: .venv with the toprung command and all development tools
	@echo "toprung is installed: $(BIN)/toprung --help"

demo: setup ## run a live leaderboard with simulated players on http://127.0.0.1:8080
	@exec $(BIN)/toprung demo $(ARGS)

serve: setup ## run the service on http://127.0.0.1:8080
	@exec $(BIN)/toprung serve $(ARGS)

test: setup-dev servers ## run every test, in several processes at once
	@exec $(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: setup-dev ## check style, types and import direction
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(wildcard src tests benchmarks)
	$(BIN)/lint-imports --no-logo

format: setup-dev ## apply automatic style fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup-dev peers ## run the benchmarks against peers, in about half an hour
	@exec $(BIN)/python -m benchmarks --quick $(ARGS)

bench-docs: setup-dev peers ## the same with more growth, and write the results to docs/benchmarks.md
	@$(BIN)/python -m benchmarks --docs --results benchmarks/results $(ARGS); code=$$?; \
		$(BIN)/python -m benchmarks.page && exit $$code

bench-full: setup-dev peers ## the same with 10M and 50M players, too; ARGS=--resume continues
	@$(BIN)/python -m benchmarks --full --results benchmarks/results $(ARGS); code=$$?; \
		$(BIN)/python -m benchmarks.page && exit $$code

soak: setup-dev servers ## run property tests and outages for long, with a new seed each time
	@TOPRUNG_SOAK=1 exec $(BIN)/python -m pytest --hypothesis-profile=soak \
		--hypothesis-seed=$$($(BIN)/python -c 'import secrets; print(secrets.randbits(32))') $(ARGS)

sanitize: setup-dev ## run the native core's tests under the address and undefined-behaviour sanitizers
	@exec scripts/sanitize $(ARGS)

screenshots: setup-dev ## recreate the pictures in docs/images
	@scripts/system-packages chromium fonts-inter
	@exec $(BIN)/python -m tests.web.screenshots

dist: setup-dev ## build a source archive and a wheel in dist/
	@exec $(BIN)/python -m build $(ARGS)

clean: ## remove everything that make created
	rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

setup:
	@$(PYTHON) scripts/setup

setup-dev:
	@$(PYTHON) scripts/setup --dev

servers:
	@scripts/system-packages redis-server postgresql chromium wrk curl

peers:
	@scripts/system-packages redis-server postgresql wrk
