module hdqs

go 1.26.0

// fasthttp 1.76+ names a go-brrr release that the public module proxy does not serve; 1.0.1 has the same API.
exclude github.com/molecule-man/go-brrr v1.3.0

require (
	github.com/RoaringBitmap/roaring/v2 v2.30.0 // builds the posting bitmaps; oracle of the evaluator's tests
	github.com/fasthttp/router v1.5.4 // routes of the public and the admin listener
	github.com/klauspost/compress v1.20.3 // gzip and zstd, several times the speed of the standard library
	github.com/molecule-man/go-brrr v1.0.1 // indirect; pinned for fasthttp
	github.com/schollz/progressbar/v3 v3.19.1 // the progress bar of a load on a terminal
	github.com/spf13/cobra v1.10.2 // commands, flags, completion
	github.com/valyala/fasthttp v1.77.0 // HTTP server without allocations per request
	golang.org/x/sys v0.49.0 // mmap
)
