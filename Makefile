# The commands a person needs. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# The race detector needs a C compiler; without one the tests run without it.
RACE := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race)

.PHONY: help
help: ## Lists the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: demo
demo: ## Runs everything on this machine against simulators; no settings needed
	$(GO) run ./cmd/questscheduler demo

.PHONY: test
test: ## Runs every test
	@$(if $(RACE),,echo "skipped: the race detector, since there is no C compiler")
	$(GO) test $(RACE) -shuffle=on ./...

.PHONY: check
check: ## Formatting, vet, and the direction of imports
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt these: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) test ./internal/layout/
