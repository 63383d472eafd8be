# The two commands of a fresh machine are `make run` and `make test`; the rest are parts of them or tools.
GO       ?= go
BIN      := bin/hdqs
PACKAGES := ./...
VERSION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

.PHONY: build run test check unit race whole bucket clients edge api-conformance fuzz golden bench bench-store bench-micro bench-catalog bench-peers bench-incumbent bench-compare bench-overload soak clean

build: ## the static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN) ./cmd/hdqs

run: build ## build, load the embedded sample catalog, serve it, print URLs to try
	$(BIN) serve

test: check race whole bucket clients edge api-conformance ## everything, from nothing

check: ## vet, staticcheck, gofumpt, module file
	$(GO) vet $(PACKAGES)
	$(GO) tool staticcheck $(PACKAGES)
	@unformatted=$$($(GO) tool gofumpt -l .); test -z "$$unformatted" || { echo "gofumpt: $$unformatted"; exit 1; }
	$(GO) mod verify >/dev/null

# What starts the program or generates catalogs is run by whole, once and without the race detector; soak runs it with.
WHOLE := ./cmd/... ./internal/judge/... ./internal/generator/...
PARTS  = $(shell $(GO) list $(PACKAGES) | grep -v -E '^hdqs/(cmd/hdqs|internal/judge|internal/generator)$$')

unit: ## package tests, without the race detector: allocation budgets are checked here
	$(GO) test -short -timeout 30m $(PARTS)

race: unit ## package tests under the race detector
	$(GO) test -race -short -timeout 30m $(PARTS)

whole: build ## whole-program tests: the binary, over HTTP
	HDQS_BINARY=$(abspath $(BIN)) $(GO) test -count=1 -timeout 30m $(WHOLE)

bucket: build ## whole-program tests of stores and catalogs in a bucket, against a real S3 server
	sh .ci/moto.sh
	HDQS_BINARY=$(abspath $(BIN)) HDQS_MOTO=$(abspath .cache/moto/bin/moto_server) $(GO) test -count=1 -timeout 30m -run '^TestBucket' ./cmd/hdqs

clients: build ## curl, Chromium, requests, httpx, Node and Go read compressed pages whole
	sh .ci/clients.sh
	HDQS_BINARY=$(abspath $(BIN)) HDQS_CLIENTS=$(abspath .cache/clients/bin/python) $(GO) test -count=1 -timeout 15m -run '^TestClients' ./cmd/hdqs

api-conformance: build ## schemathesis against the running server
	sh .ci/schemathesis.sh $(BIN)

edge: ## the cache of deploy/nginx in front of the service, and a browser's view from another origin
	HDQS_EDGE=1 $(GO) test -count=1 -timeout 15m -run 'Edge|Browser' ./api

FUZZTIME ?= 20s
fuzz: ## every fuzz test for FUZZTIME
	@$(GO) list $(PACKAGES) | while read -r pkg; do \
	  $(GO) test -list '^Fuzz' "$$pkg" | grep '^Fuzz' | while read -r name; do \
	    echo "$$pkg $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" || exit 1; \
	  done || exit 1; \
	done

SOAK ?= 10
soak: ## the long form: whole-program tests under the race detector, property tests SOAK times with other seeds, fuzzing
	$(GO) test -race -count=1 -timeout 60m $(WHOLE)
	$(GO) test -count=$(SOAK) -timeout 120m $(PARTS)
	$(MAKE) fuzz FUZZTIME=5m

golden: ## rewrite golden files and the embedded sample; read the diff before committing it
	$(GO) test ./snapshot ./api/... -run 'Golden|Bytes' -update
	rm -rf loader/sample/catalog
	$(GO) run ./cmd/generate catalog --scale 0 --seed 1 --out loader/sample/catalog

bench-catalog: ## the full-scale catalog: twelve million rows, about 170 MB
	$(GO) run ./cmd/generate catalog --scale 1 --seed 1 --gzip --out tmp/catalog

BENCHSTORE := tmp/store
# Without the cache of finished bodies: what is measured is making them.
BENCHSERVE := --listen {listen} --log-format off --body-cache 0
BENCHNOTE := Catalog at scale 1; the server on one core, without its cache of bodies, so that each answer is made anew; the clients on another core.
bench-store: build
	test -d tmp/catalog || $(MAKE) bench-catalog
	$(BIN) build --catalog tmp/catalog --store $(BENCHSTORE) >/dev/null

bench: bench-store ## ours and nginx's static files in turn at full scale: bench/results/<date>-<commit>.*
	mkdir -p bench/results
	$(GO) build -o bin/bench ./bench
	for scale in 0.1 0.3; do $(GO) run ./cmd/generate catalog --scale $$scale --seed 1 --gzip --out tmp/catalog-$$scale && \
	  $(BIN) build --catalog tmp/catalog-$$scale --store $(BENCHSTORE)-$$scale >/dev/null || exit 1; done
	taskset -c 1 bin/bench run --mix bench/mixes/typical.txt,bench/mixes/targets.txt --encodings identity,gzip,zstd --wrap 'taskset -c 0' --out bench/results \
	  --start '$(BIN) serve --store $(BENCHSTORE) $(BENCHSERVE)' \
	  --also-start '$(BIN) serve --store $(BENCHSTORE)-0.1 $(BENCHSERVE);$(BIN) serve --store $(BENCHSTORE)-0.3 $(BENCHSERVE)' \
	  --note '$(BENCHNOTE)'

bench-overload: bench-store ## three times the load that the server can take, and 10,000 connections that wait: seven minutes
	$(GO) build -o bin/bench ./bench
	taskset -c 1 bin/bench overload --start '$(BIN) serve --store $(BENCHSTORE) $(BENCHSERVE)' \
	  --wrap 'env GOMAXPROCS=1 taskset -c 0' \
	  --note '$(BENCHNOTE)'

PEERS := tmp/peers
bench-peers: build .cache/peers/installed ## DuckDB, chDB, Datasette, ROAPI and ours in turn on two million rows, nothing pinned: ten minutes or less
	$(GO) build -o bin/bench ./bench
	test -f $(PEERS)/views/catalog.json || $(GO) run ./cmd/generate views --scale 0.65 --gzip --out $(PEERS)/views
	$(BIN) build --catalog $(PEERS)/views --store $(PEERS)/store >/dev/null
	$(MAKE) $(PEERS)/tables/events.sqlite
	bin/bench peers --mix bench/mixes/peers.txt --tables $(PEERS)/tables \
	  --start '$(BIN) serve --store $(PEERS)/store $(BENCHSERVE) --queue-wait 30s' \
	  --note 'Conflict events of generate views --scale 0.65; ours with --body-cache 0, so that every answer is made anew, and --queue-wait 30s: nobody is turned away, as with the peers. ours-gzip is the same server, asked for gzip. Nothing is pinned.'

$(PEERS)/tables/events.sqlite: bench/peers/make_tables.py bench/peers/events.py
	.cache/peers/bin/python bench/peers/make_tables.py $(PEERS)/views $(PEERS)/tables

.cache/peers/installed: bench/peers/requirements.txt
	python3 -m venv .cache/peers
	.cache/peers/bin/pip install -q -r bench/peers/requirements.txt
	touch $@

bench-incumbent: bench-store ## ours against recorded figures of the public service's program: four minutes
	$(GO) build -o bin/bench ./bench
	bin/bench incumbent --start '$(BIN) serve --store $(BENCHSTORE) $(BENCHSERVE) --queue-wait 30s' \
	  --note 'Generated catalog at scale 1, no coding, --body-cache 0, --queue-wait 30s so that nobody is turned away, nothing pinned; client and server share the cores, as they did when theirs was measured.'

BENCH      ?= .
BENCHCOUNT ?= 5
bench-micro: ## micro benchmarks of the packages
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) ./snapshot ./index ./api/... ./loader

bench-compare: ## BASE=rev: alternates base and working tree, ten rounds each, through benchstat
	sh bench/compare.sh "$(BASE)" "$(BENCH)"

clean:
	rm -rf bin tmp .cache
