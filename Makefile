.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
# Instant times of tables on a LOCAL timeline are in their writers' zone; ours, and the tests' JVMs, are in UTC.
export TZ := UTC
# Tests start processes by the thousand: where this is set each of them compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
SLOWEST := --durations=12 --durations-min=20
# Without groups: each test goes, in order, to the process that is free, so that the tests of a release stay together.
ONE_BY_ONE := -n 2 --dist loadgroup
QUICK := tests/unit tests/repository tests/rfc tests/scenarios tests/crash tests/worlds

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{sub(/:.*/, "", $$1); printf "  make %-7s %s\n", $$1, $$2}'

setup: .venv/ready ## the Python environment; all that follows does this first
.venv/ready: requirements.lock pyproject.toml tools/setup
	tools/setup
	@touch $@

demo: setup ## an index built, guarded and rebuilt beside a real Hudi writer (Java): a few minutes
	$(PYTHON) -m tools.demo

check: setup ## format, lint, types, layers and quick tests: no JVM, under a minute
	.venv/bin/ruff format --check --quiet .
	.venv/bin/ruff check --quiet .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache
	$(PYTHON) -m pytest -q -n 2 -m "not thorough" $(QUICK)

test: check ## all tests, with real Hudi, Kubernetes, ZooKeeper and S3 servers, Spark, faults and a bounded fuzz run
	$(PYTHON) -m pytest -q -n 2 $(SLOWEST) -m thorough $(QUICK)
	$(PYTHON) -m pytest -q $(ONE_BY_ONE) $(SLOWEST) tests/install
	$(PYTHON) -m pytest -q -n 2 $(SLOWEST) tests/cli tests/zookeeper tests/operator
	$(PYTHON) -m tests.cluster.parts
	$(PYTHON) -m pytest -q -n 2 $(SLOWEST) --dist loadfile tests/cluster
	$(PYTHON) -m pytest -q $(ONE_BY_ONE) $(SLOWEST) tests/s3 tests/spark tests/faults tests/interop
	$(PYTHON) -m tests.fuzz --seconds 60

bench: setup ## side by side with Spark+Hudi, hudi-rs and the physical floor; writes benchmarks/out/
	$(PYTHON) -m benchmarks.read
	$(PYTHON) -m benchmarks.lookup
	$(PYTHON) -m benchmarks.record_index
	$(PYTHON) -m benchmarks.indexes
	$(PYTHON) -m benchmarks.writer_beside
	$(PYTHON) -m benchmarks.operator

fuzz: setup ## damage every format for a minute
	$(PYTHON) -m tests.fuzz --seconds 60

soak: setup ## the whole matrix, a hundred million keys and an hour of fuzzing
	HUDI_SOAK=1 $(PYTHON) -m pytest -q tests
	$(PYTHON) -m benchmarks.many_keys --validate
	$(PYTHON) -m tests.fuzz --seconds 3600

lock: setup ## pin the newest versions that pyproject.toml allows
	.venv/bin/uv pip compile --quiet --group dev pyproject.toml --generate-hashes --python-version 3.11 \
	    --no-header --no-annotate --upgrade -o requirements.lock

.PHONY: help setup demo check test bench fuzz soak lock
