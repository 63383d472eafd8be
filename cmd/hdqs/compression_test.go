package main_test

import (
	"bytes"
	"fmt"
	"testing"
)

// TestCompressionTiers forces each compression tier. Every endpoint, format and kind of page must
// unpack to the plain body.
func TestCompressionTiers(t *testing.T) {
	parallel(t)
	mustExit(t, 2, "serve", "--compression", "best")
	pages := []string{
		"", "offset=7", "limit=3&offset=2", "location_code=A%25", "location_name=a", "admin_level=1",
		"start_date=2025-06",
		"has_hrp=true&offset=1",
	}
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
				}
			}
		}
		if packed < 100 {
			t.Errorf("%s: only %d bodies were compressed", tier, packed)
		}
	}
}
