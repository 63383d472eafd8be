//go:build !race

package list_test

import (
	"bytes"
	"fmt"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

// TestCachedAnswersAreTheSame compares the answers of servers with and without a cache, several
// times each, in all codings.
func TestCachedAnswersAreTheSame(t *testing.T) {
	t.Parallel()
	with, without := apitest.Sample(t, state.Options{}, 500), apitest.Sample(t, state.Options{CacheBytes: -1}, 500)
	for i := apitest.Trials(0, 2); i < len(contract.Endpoints); i += apitest.Trials(1, 3) {
		for _, query := range []string{"", "&limit=2&offset=1", "&limit=0", "&output_format=csv", "&offset=1000"} {
			target := contract.Endpoints[i].Path + "?app_identifier=" + apitest.Identifier + query
			for _, accept := range []string{"identity", "gzip", "zstd", "gzip, identity;q=0"} {
				header := apitest.Fields("Accept-Encoding", accept)
				want := without.Answer("GET", target, header)
				for turn := range 3 {
					got := with.Answer("GET", target, header)
					if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) && accept == "identity" ||
						fmt.Sprint(got.Header) != fmt.Sprint(want.Header) && accept == "identity" {
						t.Fatalf("%s, %s, turn %d:\n got %v\nwant %v", target, accept, turn, got.Header, want.Header)
					}
					if accept != "identity" && !bytes.Equal(apitest.Body(t, got), apitest.Body(t, want)) {
						t.Fatalf("%s, %s, turn %d: the decoded bodies differ", target, accept, turn)
					}
				}
			}
		}
	}
}
