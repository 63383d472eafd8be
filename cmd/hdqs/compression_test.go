package main_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestCompressionTiers forces each compression tier. Every endpoint, format and kind of page must
// unpack to the plain body. By default, long pages in gzip take at most 1.3 times as much as at
// level 6 of the library if their rows are adjacent, else as at level 1.
func TestCompressionTiers(t *testing.T) {
	parallel(t)
	const long = 200_000 // bytes
	mustExit(t, 2, "serve", "--compression", "best")
	pages := []string{
		"", "offset=7", "limit=3&offset=2", "location_code=A%25", "location_name=a", "admin_level=1",
		"start_date=2025-06",
		"has_hrp=true&offset=1",
	}
	compared := 0
	for _, tier := range tiers {
		s := serve(t, "--compression", tier, "--body-cache", "0")
		packed := 0
		for _, e := range endpoints(t) {
			for i, page := range pages {
				url := s.base + with(fmt.Sprintf("%s?%s&output_format=%s", e.Path, page, []string{"json", "csv"}[i%2]))
				plain := ask(t, "GET", url)
				for coding, unpack := range unpackers {
					a := ask(t, "GET", url, "Accept-Encoding", coding)
					if a.header.Get("Content-Encoding") != coding {
						continue // too short to be compressed
					}
					packed++
					if !bytes.Equal(unpack(t, a.body), plain.body) {
						t.Errorf("%s: %s unpacked from %s is not the plain body", tier, url, coding)
					}
					level := 1
					if page == "" {
						level = 6
					}
					if coding == "gzip" && tier == tiers[0] && len(plain.body) > long {
						compared++
						if n := gzipLength(t, level, plain.body); len(a.body) > n*13/10 {
							t.Errorf("%s: %s has %d bytes, level %d %d", tier, url, len(a.body), level, n)
						}
					}
				}
			}
		}
		if packed < 100 {
			t.Errorf("%s: only %d bodies were compressed", tier, packed)
		}
	}
	if compared < 10 {
		t.Errorf("only %d bodies were compared", compared)
	}
}

// gzipLength is the length of a text that the library has compressed.
func gzipLength(t *testing.T, level int, text []byte) int {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}
