module hdqs

go 1.26.0

toolchain go1.26.11

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // latency percentiles of bench
	github.com/RoaringBitmap/roaring/v2 v2.30.0 // posting bitmaps: built by the loader
	github.com/cespare/xxhash/v2 v2.3.0 // digests in the paths of files for browsers
	github.com/coreos/go-systemd/v22 v22.7.0 // sockets passed by systemd, and what it is told (sd_notify)
	github.com/fasthttp/router v1.5.4 // routes of the public listener
	github.com/go-text/typesetting v0.3.5 // letters in pictures, shaped: Arabic is joined and runs from right to left
	github.com/google/flatbuffers v25.12.19+incompatible // messages of Arrow streams
	github.com/google/renameio/v2 v2.0.2 // files replaced in one step, see internal/atomicfile
	github.com/klauspost/compress v1.20.4 // gzip and zstd, several times the speed of the standard library
	github.com/klauspost/crc32 v1.3.0 // checksum of gzip: twice the speed of hash/crc32 with AVX-512, else the same
	github.com/minio/minio-go/v7 v7.4.1 // catalogs and stores in S3-compatible buckets
	github.com/modelcontextprotocol/go-sdk v1.8.0 // agents ask by the Model Context Protocol
	github.com/parquet-go/parquet-go v0.32.0 // whole tables as Parquet
	github.com/prometheus/client_golang v1.25.0 // metrics in the form that Prometheus reads
	github.com/schollz/progressbar/v3 v3.19.1 // the progress bar of a load on a terminal
	github.com/spf13/cobra v1.10.2 // commands, flags, completion
	github.com/spf13/pflag v1.0.10 // cobra's flag sets, into which the environment variables are read
	github.com/valyala/fasthttp v1.78.0 // HTTP server without allocations per request
	github.com/xuri/excelize/v2 v2.11.1 // the workbook of the national risk index
	go.yaml.in/yaml/v3 v3.0.5 // the file of settings; minio-go links it anyway
	golang.org/x/crypto/x509roots/fallback v0.0.0-20261030153154-30a33513ff6d // public authorities, for the image of a container
	golang.org/x/image v0.48.0 // pictures: areas with smooth edges
	golang.org/x/sync v0.25.0 // errgroup: worker pools
	golang.org/x/sys v0.50.0 // mmap, flock, the priority of a thread
	golang.org/x/text v0.44.0 // ill-formed UTF-8 in queries, repaired as in Python; the codes of countries
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/molecule-man/go-brrr v1.3.1 // indirect; brotli of fasthttp
	golang.org/x/exp/typeparams v0.0.0-20260811152304-ee035b5b010f // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect; benchstat
	golang.org/x/tools v0.52.0 // indirect
	honnef.co/go/tools v0.8.2 // indirect
	mvdan.cc/gofumpt v0.12.0 // indirect
)

require (
	github.com/prometheus/client_model v0.6.3 // what a scrape returns, for tests
	github.com/rogpeppe/go-internal v1.16.0 // testscript: commands of the program and their answers, as text
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/bitfield/gotestdox v0.2.2 // indirect
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect; manual pages, which only make release writes
	github.com/dnephin/pflag v1.0.7 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/fatih/color v1.19.0 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/shlex v0.0.0-20191202100458-e7afc7fbc510 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/mattn/go-colorable v0.1.15 // indirect
	github.com/mattn/go-isatty v0.0.22 // indirect
	github.com/minio/crc64nvme v1.1.1 // indirect
	github.com/minio/md5-simd v1.1.2 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/mschoch/smat v0.2.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/parquet-go/bitpack v1.0.0 // indirect
	github.com/parquet-go/jsonlite v1.0.0 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.21 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/richardlehane/mscfb v1.0.9 // indirect
	github.com/richardlehane/msoleps v1.0.6 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/rs/xid v1.6.0 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/savsgio/gotils v0.0.0-20240704082632-aef3928b8a38 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/tiendc/go-deepcopy v1.7.2 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/twpayne/go-geom v1.6.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/xuri/efp v0.0.3-0.20260924042702-217b81952dec // indirect
	github.com/xuri/nfp v0.0.2-0.20250530014748-2ddeb826f9a9 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/term v0.48.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	gopkg.in/ini.v1 v1.67.3 // indirect
	gotest.tools/gotestsum v1.13.0 // indirect
)

tool (
	golang.org/x/perf/cmd/benchstat
	gotest.tools/gotestsum
	honnef.co/go/tools/cmd/staticcheck
	mvdan.cc/gofumpt
)
