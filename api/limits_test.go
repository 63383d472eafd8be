//go:build !race

package api

import (
	"bytes"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// TestCachesFollowLimit: the caches of all tables together get what a snapshot's part has left, and
// answers do not depend on them.
func TestCachesFollowLimit(t *testing.T) {
	t.Parallel()
	wide := sampleServer(t, state.Options{Identifier: state.IgnoreIdentifier}, 600)
	narrow := sampleServer(t, state.Options{Identifier: state.IgnoreIdentifier, MemoryLimit: 96 << 20}, 600)
	bound := narrow.Current.Load().Bound
	caches, texts := int64(0), int64(0)
	for _, l := range bound.Lists {
		caches += l.Need.Blocks + l.Need.Filters
		texts += l.Need.Texts
	}
	most := max(narrow.Shares.Caches, narrow.Shares.Snapshots/2-texts)
	if caches > most || caches < most*9/10 {
		t.Errorf("caches of %d bytes, want about %d", caches, most)
	}
	for i := range contract.Endpoints {
		for _, rest := range []string{"?limit=500", "?limit=500&output_format=csv", "?limit=90&offset=301"} {
			target := contract.Endpoints[i].Path + rest
			want := wide.Answer("GET", target, nil)
			for _, coding := range []string{"identity", "gzip", "gzip"} { // the second time from stored blocks
				got := narrow.Answer("GET", target, []reply.HeaderField{{Name: "Accept-Encoding", Value: coding}})
				if field, _ := got.field("Content-Encoding"); field == "gzip" {
					got.Body = unzip(t, got.Body)
				}
				if want.Status != 200 || !bytes.Equal(got.Body, want.Body) {
					t.Fatalf("%s, %s: other bytes with narrow caches (%d, %d)", target, coding, want.Status, got.Status)
				}
			}
		}
	}
}
