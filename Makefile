.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
export TZ := UTC

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: .venv/ready ## the Python environment (everything else does this first)
.venv/ready: requirements.lock pyproject.toml tools/setup
	tools/setup
	@touch $@

.PHONY: help setup
