# The two commands of a fresh machine are `make run` and `make test`; `make quick` is for between
# two edits. The rest are parts of them or tools: `make help` lists them.
GO       ?= go
BIN      := bin/hdqs
PACKAGES := ./...
VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

# Without the folder's name in what is compiled, another checkout finds it in the build cache.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

# Registries may be away for a minute: npm tries again after 10 s and then each minute, pip after 1, 2,
# 4 and up to 64 s. By themselves they give up sooner, pip after 8 s, and Go at once: see .ci/again.
export npm_config_fetch_retries := 4
export PIP_RETRIES := 9

.PHONY: build help run install release release-check quick test parts nightly downloads alerts check unit race \
  whole bucket clients engines edge edge-short api-conformance fuzz golden bench drill drill-short \
  soak soak-whole soak-units soak-rest pictures vendor vendored vulnerabilities clean

# Programs and libraries that tests use. `downloads` fetches them below .cache. Python's are in .ci/python.txt.
NFPM_PROGRAM := .cache/nfpm/v2.43.4/nfpm
VERSITYGW := .cache/versitygw/v1.8.0/versitygw
KUSTOMIZE := .cache/kustomize/v5.7.1/kustomize
GENERATORS := .cache/oapi-codegen/oapi-codegen .cache/ogen/ogen
AXE := .cache/axe-core/4.14.1/package/axe.min.js
VNU := .cache/vnu-jar/26.9.27/package/build/dist/vnu.jar
CLIENTS := $(patsubst %,.cache/%/packages,clients polars2 engines catalogs typed agents strict)
EDGE := $(AXE) $(VNU) $(KUSTOMIZE) .cache/kubernetes/packages .cache/workerd/packages

build: ## the static binary
	@.ci/install ca-certificates # which downloads of modules need
	CGO_ENABLED=0 $(GO) build -ldflags "-s -w -X main.commit=$(VERSION)" -o $(BIN) ./cmd/hdqs

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | while IFS='	' read -r name text; do \
	  printf '%-16s %s\n' "$$name" "$$text"; done

run: build ## build, load the embedded sample catalog, serve it, print URLs to try
	$(BIN) serve

install: build ## the program, and the samples of deploy for systemd, nginx and Prometheus, below DESTDIR
	DESTDIR='$(DESTDIR)' deploy/install.sh $(BIN)

# RELEASE_KEY names the private key.
release release-check: export NFPM = $(abspath $(NFPM_PROGRAM))
release: $(NFPM_PROGRAM) ## archives, deb, rpm, images, lists of modules, checksums and signature, into dist
	.ci/release $(abspath dist) $$(.ci/packing)

release-check: $(NFPM_PROGRAM) ## as root: two builds are equal, packages and image answer and can be removed: minutes
	@.ci/install curl python3 openssl cpio rpm2cpio systemd-nspawn debootstrap
	.ci/release-check $$(.ci/packing)

# A minute or two of CPU once the build cache is warm. BASE=revision compares with another revision than the
# merge base with the default branch. Whole-program tests start only a few of their servers with
# -short.
quick: ## vet and short tests of the packages that changed, and of those that depend on them
	@.ci/quick

test: ## everything, from nothing
	@GO='$(GO)' .ci/test

# The longest first. What the parts need is made before them: while a long part waited for it, make
# would start shorter ones in all slots.
parts: whole race unit edge-short bucket api-conformance check vendored alerts

# Without vet, which check runs once for all.
PART   = @.ci/part $@
EVENTS = tmp/parts/$@.events
GOTEST = $(GO) tool gotestsum --format=pkgname --format-icons=text --format-hide-empty-pkg \
  --jsonfile-timing-events=$(EVENTS) --post-run-command='.ci/skips $(EVENTS)' -- -timeout=60m -vet=off

# Programs of tests live shortly. Without this, servers with little memory in use collect garbage all
# the time: a third of the CPU of whole. Tests of memory set it back.
race unit whole bucket clients edge edge-short api-conformance: export GOGC := 400

alerts: ## the alert rules of deploy/prometheus
	$(PART) promtool promtool test rules deploy/prometheus/hdqs.test.yml

check: ## vet, staticcheck, gofumpt, module file
	$(PART) '' .ci/lint

# What starts the program or generates catalogs runs once, in whole, without the race detector; soak
# runs it with.
WHOLE := ./cmd/... ./internal/judge/... ./internal/generator/... ./loader/sample
UNITS  = $(filter-out hdqs/cmd hdqs/cmd/% hdqs/internal/judge hdqs/internal/generator hdqs/loader/sample,\
  $(shell $(GO) list $(PACKAGES)))

# Left to edge, and a test of a store that HDQS_TEST_STORE names.
ELSEWHERE := ^Test(Edge|Browser|SelectOnStore)

# Many calls at once of code that other tests share under the race detector, which would take minutes.
FLOODS := TestAgentsFlood|TestAgentsHostile

# Packages that start no goroutines, in their tests neither, and the tools of benchmarks.
SEQUENTIAL := $(addprefix hdqs/,bench bulk bulk/iceberg columnar loader/catalogfile rowdiff \
  $(addprefix api/,additivity boundary chart contract picture textual) \
  $(addprefix internal/,history memory nearest threshold))

# Five to ten times slower than without. Files whose tests it would change, or which are long and have
# no goroutines, are not built with it.
race: ## package tests under the race detector
	$(PART) gcc $(GOTEST) -race -short -skip '$(ELSEWHERE)|^($(FLOODS))$$' $(filter-out $(SEQUENTIAL),$(UNITS))

# What race has run is not run again.
unit: ## package tests that the race detector would change or slow down
	$(PART) '' $(GOTEST) -short -skip '$(ELSEWHERE)' $(shell .ci/unit '$(SEQUENTIAL)' '$(FLOODS)' $(UNITS))

whole bucket clients edge-short: export HDQS_BINARY := $(abspath $(BIN))

# JudgeFixtures, AddingAList, AddingAField and faults of disks under bulk files and copies, like
# BrowserPictures below, are long and run nightly, in soak. So do the long forms of the others, of
# which ExportKillPoints has each step killed or failed in turn, and BrowserPages each page twice.
NIGHTLY := Bucket|Clients|Edge|Browser|JudgeFixtures|AddingA(List|Field)|(DiskFaults|KillPoints)Of
whole: build ## whole-program tests: the binary, over HTTP
	$(PART) 'curl' $(GOTEST) -count=1 -parallel=4 -skip '^Test($(NIGHTLY))' $(WHOLE)

downloads: .cache/moto/packages $(VERSITYGW) .cache/schemathesis/packages

.cache/%/packages: .ci/venv .ci/python.txt .ci/constraints.txt
	@.ci/venv $(@D)

# Clients of agents are of both languages.
.cache/agents/packages: .ci/venv .ci/python.txt cmd/hdqs/testdata/clients/agents/package-lock.json
	@.ci/venv $(@D) && .ci/npm ci $(@D) $(lastword $^)

.cache/typed/packages: cmd/hdqs/testdata/clients/typed/package-lock.json
	@.ci/npm ci $(@D) $<

.cache/workerd/packages: api/edge/testdata/worker/package-lock.json
	@.ci/npm ci $(@D) $< --ignore-scripts

# What checks the pages for accessibility, and their HTML, which needs Java.
$(AXE) $(VNU):
	@.ci/npm pack $@

MODULE_nfpm         := github.com/goreleaser/nfpm/v2/cmd/nfpm
MODULE_versitygw    := github.com/versity/versitygw/cmd/versitygw
MODULE_kustomize    := sigs.k8s.io/kustomize/kustomize/v5
MODULE_oapi-codegen := github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
MODULE_ogen         := github.com/ogen-go/ogen/cmd/ogen@v1.25.0
$(NFPM_PROGRAM) $(VERSITYGW) $(KUSTOMIZE) $(GENERATORS):
	GOBIN=$(abspath $(@D)) GOFLAGS= CGO_ENABLED=0 .ci/again $(GO) install $(MODULE_$(@F))$(addprefix @,$(filter v%,$(notdir $(@D))))

bucket: export HDQS_MOTO := $(abspath .cache/moto/bin/moto_server)
bucket clients: export HDQS_VERSITYGW := $(abspath $(VERSITYGW))
bucket: build .cache/moto/packages $(VERSITYGW) ## tests of stores and catalogs in a bucket, against two S3 servers
	$(PART) python3-venv $(GOTEST) -count=1 -parallel=3 -run '^TestBucket' ./cmd/hdqs

# Programs of other projects are many, and they change when those change: nightly.
CLIENTS_NEED := python3-venv node npm chromium Rscript mvn javac
clients: export HDQS_CLIENTS := $(abspath .cache)
clients: build $(CLIENTS) $(GENERATORS) $(VERSITYGW) ## foreign clients: libraries, tables by URL, generated clients
	for kind in oapi ogen; do (cd cmd/hdqs/testdata/clients/$$kind && $(abspath .ci/again) $(GO) mod download) || exit; done
	$(PART) '$(CLIENTS_NEED)' $(GOTEST) -count=1 -run '^TestClients' ./cmd/hdqs

engines: build $(VERSITYGW) ## Spark and chDB read every table of bulk files: minutes, with Java 17 or newer
	HDQS_BINARY=$(abspath $(BIN)) HDQS_VERSITYGW=$(abspath $(VERSITYGW)) .ci/engines

api-conformance: build .cache/schemathesis/packages ## schemathesis against the running server
	$(PART) python3-venv .ci/schemathesis.sh $(BIN)

EDGE_NEEDS := nginx varnishd gcc chromium systemd-analyze prometheus python3-venv node npm java
edge edge-short: export HDQS_EDGE := 1
edge: export HDQS_AXE := $(abspath $(AXE))
edge: export HDQS_VNU := $(abspath $(VNU))
edge: export HDQS_WORKERD := $(abspath .cache/workerd)
edge: export HDQS_KUSTOMIZE := $(abspath $(KUSTOMIZE))
edge: export HDQS_KUBERNETES := $(abspath .cache/kubernetes/bin/kubernetes-validate)
edge: $(EDGE) ## the samples of deploy together, caches in front of the service, pages in a browser
	$(PART) '$(EDGE_NEEDS)' $(GOTEST) -count=1 -run '^Test(Edge|Browser)' -skip '^TestBrowserPictures$$' ./api/edge ./api/site ./internal/browser ./cmd/hdqs

# The cache that most operators have, and the way of a reader from page to page.
edge-short: build ## nginx in front of the service, and one journey in a browser
	$(PART) 'nginx chromium' $(GOTEST) -count=1 \
	  -run '^Test(Edge(Answers|Forms|Head|Key|Poison|Range|Stale|Unavailable)|BrowserJourney)$$/^(nginx|with.scripts)$$' ./api/edge ./cmd/hdqs

pictures: build ## take the pictures of the documents again
	HDQS_EDGE=1 HDQS_BINARY=$(abspath $(BIN)) $(GO) test -count=1 -run '^TestBrowserPictures$$' ./cmd/hdqs -update

vendor: ## fetch what browsers load from other projects again (api/web/vendor.lock)
	@.ci/vendor

vendored: ## what is in api/web/npm is what npm has
	$(PART) 'npm openssl' .ci/vendor --check

# Part of soak and not of test: what becomes known tomorrow is no fault of a change of today.
VULNDB ?= https://vuln.go.dev
vulnerabilities: ## known vulnerabilities in code that is called, of modules and of Go, if the database can be reached
	@if curl -sf --max-time 20 -o /dev/null $(VULNDB)/index/db.json; then \
	  $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db $(VULNDB) $(PACKAGES); \
	else echo "vulnerabilities: left out, since $(VULNDB) cannot be reached"; fi

# Tests that do to real replicas what operators meet. They are part of whole and edge too.
DRILL := ^Test(SwapUnderLoad|MemoryUnderBombs|PassedSocket|EdgeRestarts)$$
drill: export HDQS_TEST_LONG := 1
drill: drill-short ## swaps, restarts, kills and little memory on real replicas, and their latencies: ten minutes
	env -u HDQS_TEST_LONG bench/run swaps # of which the program would warn

drill-short: export HDQS_BINARY := $(abspath $(BIN))
drill-short: export HDQS_EDGE := 1
drill-short: build ## the same with fewer repetitions and without latencies: a minute
	@.ci/install nginx
	$(GO) test -count=1 -timeout 60m -run '$(DRILL)' ./cmd/hdqs

fuzz: export FUZZTIME ?= 20s
fuzz: ## every fuzz test for FUZZTIME
	.ci/fuzz

# The long form: all tests under the race detector, property tests SOAK times with other seeds, 2,000
# questions of each kind to the judge, more of schemathesis. The race detector checks pointers as well; the pass
# for them is for what is not built with it.
SOAK ?= 3
soak: export HDQS_TEST_LONG := 1
soak: export GOGC := 400
soak: soak-whole soak-units vulnerabilities bucket clients edge engines soak-rest fuzz ## all tests in their long form

soak-whole:
	$(GO) test -race -count=1 -timeout 60m $(WHOLE)

soak-units:
	$(GO) test -race -count=1 -timeout 120m $(filter-out $(filter-out hdqs/bench%,$(SEQUENTIAL)),$(UNITS))
	HDQS_TEST_LONG= $(GO) test -short -count=1 -timeout 60m -gcflags=hdqs/...=-d=checkptr $(UNITS)
	$(GO) test -count=$(SOAK) -timeout 120m $(UNITS)
	HDQS_TEST_QUERIES=2000 $(GO) test -count=1 -timeout 120m -run '^TestJudge' ./internal/judge

soak-rest: build .cache/schemathesis/packages
	HDQS_EDGE=1 $(GO) test -count=1 -run '^TestBrowserPictures$$' ./cmd/hdqs
	.ci/schemathesis.sh $(BIN) 5

# Of 90 minutes on two quiet cores, fuzz tests take 14, and each of SOAK passes three. A longer night:
# make nightly FUZZTIME=5m SOAK=10
nightly: ## an hour and a half: drill, soak and release-check, with the long forms of all tests
	@.ci/install $(sort $(CLIENTS_NEED) $(EDGE_NEEDS)); status=0; for part in drill soak release-check; do $(MAKE) --keep-going $$part || status=1; done; exit $$status

golden: ## rewrite golden files and the embedded sample; read the diff before committing it
	$(GO) test $$(grep -rl --include='*_test.go' '"update", false' . | xargs -n 1 dirname | sort -u) \
	  -run 'Golden|Bytes|Reference' -update
	rm -rf loader/sample/catalog
	$(GO) run ./cmd/generate catalog --scale 0 --seed 1 --out loader/sample/catalog

NAME ?= targets
bench: build ## measure NAME, one of those that bench/run prints without a name; targets if there is none
	bench/run $(NAME)

clean:
	rm -rf bin tmp .cache
