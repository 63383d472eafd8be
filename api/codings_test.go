//go:build !race

package api

import (
	"bytes"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestCodings checks that a decoded body equals the uncompressed one, for pages and for the lists
// of every endpoint: whole, filtered, and with limit and offset.
func TestCodings(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, trials(1500, 500))
	targets := []string{"/openapi.json", "/docs", "/"}
	for i := range contract.Endpoints {
		for _, rest := range []string{"", "&offset=317&limit=700", "&limit=200", someFilter(&contract.Endpoints[i])} {
			target := contract.Endpoints[i].Path + "?app_identifier=" + goodIdentifier + rest
			targets = append(targets, target, target+"&output_format=csv")
		}
	}
	coded := 0
	for _, target := range targets {
		plain := s.Answer("GET", target, nil)
		for _, accept := range []string{"gzip", "zstd", "gzip;q=0.1, identity;q=0", "gzip, deflate, br, zstd"} {
			got := s.Answer("GET", target, []reply.HeaderField{{Name: "Accept-Encoding", Value: accept}})
			coding, encoded := got.field("Content-Encoding")
			if encoded {
				coded++
			}
			body, err := decodeBody(coding, got.Body)
			total, _ := got.field(contract.HeaderTotal)
			want, _ := plain.field(contract.HeaderTotal)
			vary, _ := got.field("Vary")
			if err != nil || !bytes.Equal(body, plain.Body) || total != want || vary != "Accept-Encoding" ||
				!strings.HasPrefix(accept, coding) {
				t.Errorf("%s, %s: coding %q, %d bytes, want %d: %v", target, accept, coding, len(body), len(plain.Body),
					err)
			}
		}
	}
	if coded < len(targets)*3 {
		t.Errorf("only %d of %d answers were compressed", coded, 4*len(targets))
	}
}
