# The commands of development. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# How long `make fuzz` runs each target.
FUZZTIME ?= 10s
# How many worlds `make sim` simulates, and the seed of the first.
SEEDS ?= 1000
SEED ?= 1
# How many existing polls `make backfill` brings in.
POLLS ?= 10000
# How often `make kills` kills the program at least, and how long a start may take.
N ?= 300
READY ?= 1s
# How long `make soak` keeps the program under load.
MINUTES ?= 30
# The only planted fault that `make mutants` tries; empty: all.
MUTANT ?=
# The packages that `make mutations` changes, separated by commas; empty: those that decide.
PKG ?=
# How many changes of each package `make mutations` tries, drawn at random; 0: all.
SAMPLE ?= 0
# The release's version, its folder, its platforms, and where its binaries are kept.
VERSION ?= $(shell git describe --tags --always --dirty)
DIST ?= dist
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
BINARIES ?= bin/binaries
# The race detector needs a C compiler; without one no test runs under it.
# SQLite's own code is excluded: it is C translated to Go, which manages its own memory
# and takes four times as long under the detector.
RACE := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 && echo -race -gcflags={modernc.org/sqlite/lib,modernc.org/libc/...}=-race=false)
# Where goroutines meet: packages below the whole program that start one (internal/test/layout
# checks that), and those whose tests call them from several at once.
CONCURRENT := questscheduler/(api/streams|availability|demo|demo/sim/discord|feed|internal/(accounts|bodylimit|config/keyfile|outbox|outbox/cloudtasks|signin|store/(changes|firestore|sqlite)|test/memorystore)|mirrors|notify|web-hooks/documentchanges)
# By default a program waits a second at its end for reports of the race detector.
export GORACE := atexit_sleep_ms=0
# Tests wait for the disk at each commit of SQLite, so their files are in memory if it
# has 4 GB for them and allows programs to run. Go's build files stay on disk.
MEMORY := $(shell [ "$$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] 2>/dev/null && \
	! grep -qE '^\S+ /dev/shm \S+ \S*noexec' /proc/mounts && echo TMPDIR=/dev/shm GOTMPDIR=$${TMPDIR:-/tmp})
# The tests of the whole program.
PROGRAM := bin/questscheduler.test
# The programs that `make check` runs are built here, from tools/go.mod.
LINT := bin/golangci-lint
VULNERABILITIES := bin/govulncheck
OPENAPI := bin/vacuum
# The parser of diagrams. diagrams_test.go has the checksum of this version.
MERMAID := bin/mermaid-11.17.2.js

.PHONY: help
help: ## Lists the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

# In the foreground of a terminal the demo gets a process group of its own, so that Ctrl-C
# ends it alone: make would end by the signal, and not with 0.
.PHONY: demo
demo: ## Runs everything on this machine against simulators; no settings needed; ADDR=127.0.0.1:9090 for another address
	@echo "building the demo; from an empty cache that takes two to four minutes of a processor"
	@$(GO) build -tags demo -o bin/demo ./cmd/questscheduler
	@demo=(bin/demo demo $(if $(ADDR),--addr $(ADDR))); \
	if [[ $$(ps -o stat= -p $$$$ 2>/dev/null) == *+* ]]; then set -m; "$${demo[@]}" || exit; else exec "$${demo[@]}"; fi

# The program's own tests are compiled first and once for both sets of them, of which
# the second mostly waits and runs beside the first. A second build of everything, for the
# race detector, would take longer than all tests.
.PHONY: test
test: ## Runs every test
	@$(if $(RACE),,echo "skipped: the race detector, since there is no C compiler")
	@$(MAKE) --no-print-directory -j2 webapp $(PROGRAM)
	@$(MAKE) --no-print-directory emulators
	@$(MAKE) --no-print-directory -j2 test-cloud test-here test-race

# The package of the program is first, since it takes longest. Most of that it waits for
# calendars to be synced, so three packages and four of its tests run at once.
.PHONY: test-here
test-here: # Every test on the embedded parts
	$(MEMORY) $(GO) test -p 3 -shuffle=on -timeout 40m -parallel 4 ./cmd/questscheduler ./...

# Large numbers are left to test-here (-short), and so is go vet. Tests in a bubble of fake
# time get one processor: on several, the detector itself crashes at times, since timers of
# one bubble that fire at once share one of its contexts: a known fault of Go 1.26.
RACED = $(MEMORY) $(GO) test $(RACE) -vet=off -short -shuffle=on -timeout 40m -parallel 4
.PHONY: test-race
test-race: # Those of CONCURRENT once more, under the race detector
	$(if $(RACE),@packages=$$($(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | grep -E '^$(CONCURRENT) '); \
	bubbles=$$(grep testing/synctest <<<"$$packages" | cut -d' ' -f1); rest=$$(grep -v testing/synctest <<<"$$packages" | cut -d' ' -f1); \
	set -x; $(RACED) $$rest && $(RACED) -cpu 1 $$bubbles)

# The main job over HTTP, and its cases of concurrency, repetition and loss, on emulators
# of production's parts; what the other cases decide is the same there. They mostly wait:
# the emulator of Firestore delays conflicting transactions for seconds.
.PHONY: test-cloud
test-cloud: $(PROGRAM) ## Runs the main job and its cases of races and losses on emulators of Firestore, Cloud Tasks and Firebase sign-in
	@names=$$(grep -ohE '^func Test\w+' cmd/questscheduler/{mainjob,killed,cases_{gap,idempotency,lost_answer,race}}_test.go | cut -d' ' -f2 | paste -sd'|'); \
	cd cmd/questscheduler && $(MEMORY) QUESTSCHEDULER_TESTS_ON=cloud $(CURDIR)/$(PROGRAM) -test.timeout 40m -test.parallel 8 -test.run "^($$names)\$$"

.PHONY: $(PROGRAM)
$(PROGRAM):
	@$(GO) test -c -ldflags='-s -w' -o $@ ./cmd/questscheduler

.PHONY: emulators
emulators: # Lists the missing programs without which tests are skipped
	@$(GO) test -v -run '^TestFind_' ./internal/test/emulator ./internal/test/webapp ./internal/test/chromium | grep -o 'skipped: .*' || true

# npm writes this file last. The installations run at once: one waits for the network
# while the other unpacks.
WHOLE := node_modules/.package-lock.json

.PHONY: webapp
webapp: ## Installs the official Firebase client and Auth emulator, by which tests play the web app, and the parser of diagrams
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory -j3 bin/webapp/$(WHOLE) bin/emulators/$(WHOLE) $(MERMAID); fi

bin/webapp/$(WHOLE): internal/test/webapp/package.json internal/test/webapp/package-lock.json
	@echo "installing the official Firebase client"
	$(INSTALL)

bin/emulators/$(WHOLE): tools/emulators/package.json tools/emulators/package-lock.json
	@echo "installing the official Firebase Auth emulator"
	$(INSTALL)

# Without its dependencies, which are in the one file that a browser loads.
bin/mermaid-%.js:
	@if ! command -v npm >/dev/null; then echo "skipped: the diagrams of pages, since there is no npm"; exit; fi; \
	echo "fetching the official parser of Mermaid"; mkdir -p $(@D); unpacked=$$(mktemp -d); trap 'rm -rf '"$$unpacked" EXIT; \
	npm pack --silent --pack-destination "$$unpacked" mermaid@$* >/dev/null; \
	tar -xzf "$$unpacked/mermaid-$*.tgz" -C "$$unpacked" package/dist/mermaid.min.js; mv "$$unpacked/package/dist/mermaid.min.js" $@

# Installed below bin, so no tool treats it as part of this module. npm runs no
# installation scripts.
define INSTALL
@mkdir -p $(@D) && cp $^ $(@D)/..
@cd $(@D)/.. && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --no-progress >/dev/null && touch $(WHOLE)
endef

.PHONY: check
check: format vet lint layout generated openapi tidy vulnerabilities ## Runs every static check

.PHONY: format
format: ## Finds files that gofmt would change
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt these: $$unformatted"; exit 1; fi

.PHONY: vet
vet: ## Runs go vet, over the files of other systems too
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...

.PHONY: lint
lint: $(LINT) ## Runs the linters; .golangci.yaml says what is off and why
	$(LINT) run ./...

.PHONY: layout
layout: ## Checks the direction of imports, names, and that exported names are documented
	$(GO) test ./internal/test/layout/

.PHONY: generated
generated: $(MERMAID) ## Checks that generated pages are current, that pages name only what exists, and that Mermaid reads their diagrams
	$(GO) test -run '^Test(Page|Every|What)' ./internal/test/docs/ ./cmd/questscheduler/

.PHONY: openapi
openapi: $(OPENAPI) ## Lints the OpenAPI document; docs/openapi.rules.yaml says what is off and why
	@$(OPENAPI) lint --ruleset docs/openapi.rules.yaml --fail-severity info --no-update-check --remote=false --details --no-banner --no-style --no-clip docs/openapi.json

.PHONY: generate
generate: ## Writes the generated pages of docs/ anew
	$(GO) test -count=1 -run '^TestPage_Examples_' ./cmd/questscheduler/ -update # the next build embeds them
	$(GO) test -count=1 -run '^TestPage_' ./internal/test/docs/ ./cmd/questscheduler/ -update

.PHONY: merge-rules
merge-rules: bin/merge-rules ## Prints firestore.rules merged with the web app's own rules, the file APP
	@bin/merge-rules -ours firestore.rules "$(APP)"

# The tests in a browser take more pictures than pages show.
.PHONY: pictures
pictures: ## Takes the pictures of docs/pictures from the real pages
	@shots=$$(mktemp -d) && trap 'rm -rf '"$$shots" EXIT && \
	CI=1 QUESTSCHEDULER_TEST_SHOTS=$$shots $(GO) test -count=1 -run '^Test(Dashboard|DemoPage)_InABrowser$$' ./cmd/questscheduler/ && \
	for picture in docs/pictures/*.png; do cp "$$shots/$${picture##*/}" "$$picture"; done

.PHONY: tidy
tidy: ## Checks that go.mod and go.sum hold what the code needs
	$(GO) mod tidy -diff

# If the vulnerability database cannot be reached, the check is skipped with a message.
.PHONY: vulnerabilities
vulnerabilities: $(VULNERABILITIES) ## Checks what the code calls for known vulnerabilities
	@if said=$$($(VULNERABILITIES) ./... 2>&1); then echo "no known vulnerabilities"; \
	elif grep -q 'fetching vulnerabilities' <<<"$$said"; then echo "skipped: vulnerabilities, since their database cannot be reached"; \
	else echo "$$said"; exit 1; fi

.PHONY: fuzz
fuzz: ## Fuzzes every target for FUZZTIME (10s); what fails is kept in testdata/fuzz
	@for file in $$(grep -rlE --include='*_test.go' '^func Fuzz' . | sort); do \
		for target in $$(grep -oE '^func Fuzz\w+' $$file | cut -d' ' -f2); do \
			printf '%-28s %-24s ' "$$(dirname $$file)" "$$target"; \
			if said=$$($(GO) test "$$(dirname $$file)" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s 2>&1); then \
				grep -o 'execs: [0-9]*' <<<"$$said" | tail -n 1 || echo 'the seeds alone'; \
			else echo; echo "$$said"; exit 1; fi; \
		done; \
	done

.PHONY: sim
sim: ## Simulates SEEDS (1000) random worlds from SEED (1) on and checks the invariants
	@$(GO) run ./internal/test/simulate -seeds $(SEEDS) -first $(SEED)

# Every call of a flow has a point before it and one after it. The tests of STRIKES have the
# program die, or a call fail, at each of them in turn, without leaving one out.
STRIKES := -count=1 -v -run 'Any(where|Point|Call|Step)'

.PHONY: points
points: ## Has the program die or a call fail at every point of each flow, and prints how many points each has
	@{ $(GO) test $(STRIKES) ./scheduler -stride 1; \
		$(GO) test $(STRIKES) ./attendees/... ./calendarsync ./mirrors ./notify ./web-hooks/timers; } | awk ' \
		/ points: / { sub(/.* points: /, ""); print; sum += $$1; flows++ } \
		/--- FAIL|_test.go:.*(struck|problem)|^(FAIL|panic)/ { print; failed = 1 } \
		END { printf "%d points in %d flows\n", sum, flows; exit failed || flows == 0 }'

# Acts and moments are drawn from SEED, or by the clock: how far the program is by then
# depends on the machine.
.PHONY: kills
kills: SEED =
kills: ## Kills the real program N (300) times at random under the load of all consumers, and checks that nothing is lost or doubled
	@$(GO) run ./internal/test/kills -n $(N) -ready $(READY) $(if $(SEED),-seed $(SEED))

# The load without kills: what grows without an end shows within MINUTES.
.PHONY: soak
soak: SEED =
soak: ## Runs the real program under the steady load of all consumers for MINUTES (30) and shows by how much memory, descriptors and file grow
	@$(GO) run ./internal/test/kills -soak $(MINUTES)m $(if $(SEED),-seed $(SEED))

# Finding a planted fault needs more worlds than checking the tree.
.PHONY: mutants
mutants: SEEDS = 10000
mutants: ## Plants each fault in turn, or MUTANT alone, and shows the first of SEEDS (10000) worlds that finds it
	@$(GO) run ./internal/test/mutants -seeds $(SEEDS) -mutant "$(MUTANT)"

.PHONY: mutations
mutations: ## Changes the packages that decide, or PKG, in many small ways, or SAMPLE of them, and shows what no test notices
	@$(GO) run ./internal/test/mutations -pkg "$(PKG)" -sample $(SAMPLE) -seed $(SEED)

# The emulator of Firestore scans whole collections for a query, and keeps the locks of
# a killed process for a minute.
.PHONY: backfill
backfill: ## Backfills POLLS (10000) existing polls on the emulator of Firestore, killed five times at random
	QUESTSCHEDULER_BACKFILL_POLLS=$(POLLS) $(GO) test -count=1 -v -timeout 240m -run '^TestBackfill_OnFirestore_' ./cmd/questscheduler/

.PHONY: bench
bench: bin/decoders ## Prints one line per result: name, value, unit, ratio to what
	@$(GO) run ./internal/test/bench

# Times are the commit's, so the same commit gives the same bytes with the same Go and
# the same certificate authorities, which the image takes from this machine.
RELEASE = bin/release $(1) -version "$(VERSION)" -commit-time "$$(git log -1 --format=%ct)" -binaries $(BINARIES)

.PHONY: release
release: bin/release ## Builds archives, images, bills of materials and their sums into dist
	@rm -rf $(DIST) $(BINARIES) && mkdir -p $(DIST)
	@for platform in $(PLATFORMS); do \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/} CGO_ENABLED=0; \
		echo "building questscheduler $(VERSION) for $$platform"; \
		$(GO) build -trimpath -buildvcs=true -tags timetzdata -ldflags "-s -w -X main.version=$(VERSION)" \
			-o "$(BINARIES)/$${GOOS}_$$GOARCH/" ./cmd/questscheduler; \
	done
	@$(call RELEASE,pack) -out $(DIST)
	@ls $(DIST)

.PHONY: release-smoke
release-smoke: ## Tries the release in dist: its sums, this machine's archive and image, and a second build
	@tools/release/smoke.sh $(DIST) "$(VERSION)"

.PHONY: release-push
release-push: bin/release ## Pushes the image of the last release to the repository IMAGE, for both processors
	@$(call RELEASE,push) -image "$(IMAGE)"

# A module of its own. Its tests need no other part, so they run where it is built.
bin/release: $(wildcard tools/release/*.go) tools/release/go.mod tools/release/go.sum
	@echo "building $@"
	@cd tools/release && $(GO) test ./... && $(GO) build -o ../../bin/ .

bin/merge-rules: $(wildcard tools/merge-rules/*.go) tools/go.mod
	@echo "building $@" >&2
	@cd tools && $(GO) test ./merge-rules >&2 && $(GO) build -o ../bin/ ./merge-rules

bin/decoders: tools/decoders/main.go tools/go.mod tools/go.sum
	@echo "building $@"
	@cd tools && $(GO) build -o ../bin/ ./decoders

# Tests build it if it is missing (internal/test/emulator).
bin/cloud-tasks-emulator: tools/emulators/go.mod tools/emulators/go.sum
	@echo "building $@"
	@cd tools/emulators && $(GO) build -o ../../bin/ github.com/aertje/cloud-tasks-emulator
	@touch $@

bin/%: tools/go.mod tools/go.sum
	@echo "building $@"
	@cd tools && $(GO) build -o ../bin/ $$(grep -oE '\S+/$*$$' go.mod)
	@touch $@
