.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
# Instant times of tables on a LOCAL timeline are in their writers' zone; ours, and the tests' JVMs, are in UTC.
export TZ := UTC
# Tests start processes by the thousand: where this is set each of them compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{sub(/:.*/, "", $$1); printf "  make %-11s %s\n", $$1, $$2}'

setup: .venv/ready ## the Python environment; all that follows does this first
.venv/ready: requirements.lock pyproject.toml tools/setup
	tools/setup
	@touch $@

demo: setup ## an index built, guarded and rebuilt beside a real Hudi writer (Java): a few minutes
	$(PYTHON) -m tools.demo

check: setup ## format, lint, types, layers and quick tests: no JVM, under a minute
	@$(PYTHON) -m tests.gate check

test: setup ## all parts of the gate, or ONLY="PART …": real Hudi, Kubernetes, ZooKeeper and S3 servers, Spark, faults
	@$(PYTHON) -m tests.gate $(ONLY)

bench: setup ## side by side with Spark+Hudi, hudi-rs and the physical floor; writes benchmarks/out/
	$(PYTHON) -m benchmarks.read
	$(PYTHON) -m benchmarks.lookup
	$(PYTHON) -m benchmarks.record_index
	$(PYTHON) -m benchmarks.indexes
	$(PYTHON) -m benchmarks.writer_beside
	$(PYTHON) -m benchmarks.operator

fuzz: setup ## damage every format for a minute
	$(PYTHON) -m tests.fuzz --seconds 60

soak: setup ## one part of at most 45 minutes, the oldest of tests/soak/ledger.json, or PART=… MINUTES=… SEED=…
	@$(PYTHON) -m tests.soak $(PART) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

images: ## both container images, by buildah or docker, or with BASE=… SPARK=… TAG=…
	@python3 -m tools.images $(if $(BASE),--base $(BASE)) $(if $(SPARK),--spark $(SPARK)) $(if $(TAG),--tag $(TAG))

test-images: setup ## builds both images from Debian's packages and runs them: minutes, not part of the gate
	$(PYTHON) -m pytest -q tests/images

test-node: setup ## pods of both images on a kubelet of the tests' own: minutes for the first time, not part of the gate
	$(PYTHON) -m pytest -q -p no:xdist tests/node

lock: setup ## pin the newest versions that pyproject.toml allows
	.venv/bin/uv pip compile --quiet --group dev pyproject.toml --generate-hashes --python-version 3.11 \
	    --no-header --no-annotate --upgrade -o requirements.lock

.PHONY: help setup demo check test bench fuzz soak images test-images test-node lock
