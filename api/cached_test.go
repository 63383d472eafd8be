//go:build !race

package api

import (
	"bytes"
	"fmt"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestCachedAnswersAreTheSame compares the answers of servers with and without a cache, several
// times each, in all codings.
func TestCachedAnswersAreTheSame(t *testing.T) {
	t.Parallel()
	with, without := sampleServer(t, state.Options{}, 500), sampleServer(t, state.Options{CacheBytes: -1}, 500)
	for i := trials(0, 2); i < len(contract.Endpoints); i += trials(1, 3) {
		for _, query := range []string{"", "&limit=2&offset=1", "&limit=0", "&output_format=csv", "&offset=1000"} {
			target := contract.Endpoints[i].Path + "?app_identifier=" + goodIdentifier + query
			for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
				header := []reply.HeaderField{{Name: "Accept-Encoding", Value: accept}}
				want := without.Answer("GET", target, header)
				for turn := range 3 {
					got := with.Answer("GET", target, header)
					if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) && accept == "identity" ||
						fmt.Sprint(got.Header) != fmt.Sprint(want.Header) && accept == "identity" {
						t.Fatalf("%s, %s, turn %d:\n got %v\nwant %v", target, accept, turn, got.Header, want.Header)
					}
					if accept != "identity" && !bytes.Equal(plainBody(t, got), plainBody(t, want)) {
						t.Fatalf("%s, %s, turn %d: the decoded bodies differ", target, accept, turn)
					}
				}
			}
		}
	}
}
