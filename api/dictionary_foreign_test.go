//go:build !race

package api

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// TestDictionariesForeignDecoder gives random pages in dcz, each with the page of the snapshot
// before as its dictionary, to libzstd, which Python calls. They must be today's plain pages. With
// HDQS_TEST_LONG there are 100,000.
func TestDictionariesForeignDecoder(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 9842))
	decoders := testkit.StartForeignDecoders(t, "encode/testdata/decode.py")
	pages, each := testkit.Trials(100_000, 150), testkit.Trials(20_000, 150)
	for sent := 0; sent < pages; {
		before, after := slightlyChangedTables(t, r, testkit.Trials(1_500, 400))
		s := dictionaryServer(t, before, after)
		for n := 0; n < each && sent < pages; {
			e := &contract.Endpoints[r.IntN(len(contract.Endpoints))]
			target := fmt.Sprintf("%s?limit=%d%s", e.Path, 1+r.IntN(600), randomPage(r, e))
			old := s.Answer("GET", target+"&snapshot=before", nil)
			waitForEqual(t, s, e.Path)
			got := s.Answer("GET", target, offer(old.Body, idOf(t, s, "before", e.Path), withDcz))
			if old.Status != 200 || got.Status != 200 {
				t.Fatalf("%s: %d, %d", target, old.Status, got.Status)
			}
			if coding, _ := got.field("Content-Encoding"); coding != "dcz" {
				continue
			}
			decoders.Send('D', old.Body, nil)
			decoders.Send('d', got.Body, s.Answer("GET", target, nil).Body)
			n, sent = n+1, sent+1
		}
	}
	if got, want := decoders.End(), fmt.Sprintln(0, 0, pages); got != want {
		t.Errorf("decoded %s, want %s", got, want)
	}
}
