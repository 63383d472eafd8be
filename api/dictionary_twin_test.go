//go:build !race

package api

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"hdqs/api/contract"
)

// TestDictionariesAgainstPlain asks for pages of random queries of every endpoint as a client that
// has yesterday's page of the same query. What it decodes must be today's page.
func TestDictionariesAgainstPlain(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 9842))
	before, after := slightlyChangedTables(t, r, trials(3000, 900))
	s := dictionaryServer(t, before, after)
	asked, coded, plainBytes, codedBytes := 0, 0, 0, 0
	for range trials(4000, 600) {
		e := &contract.Endpoints[r.IntN(len(contract.Endpoints))]
		query := randomPage(r, e)
		path := e.Path
		if r.IntN(3) == 0 && s.handlerOf(contract.HAPIPrefix+path) != nil {
			path, query = contract.HAPIPrefix+path, ""
		}
		old := s.Answer("GET", path+"?limit=10000&snapshot=before"+query, nil)
		now := s.Answer("GET", path+"?limit=10000"+query, nil)
		if old.Status != 200 || now.Status != 200 {
			t.Fatalf("%s?%s: %d, %d %s", path, query, old.Status, now.Status, now.Body)
		}
		id := idOf(t, s, "before", e.Path)
		waitForEqual(t, s, e.Path)
		got := s.Answer("GET", path+"?limit=10000"+query, offer(old.Body, id, withDcz))
		coding, _ := got.field("Content-Encoding")
		if asked++; coding == "dcz" {
			coded++
			plainBytes, codedBytes = plainBytes+len(now.Body), codedBytes+len(got.Body)
			if body := undelta(t, got.Body, old.Body); !bytes.Equal(body, now.Body) {
				t.Fatalf("%s?%s: %d bytes decoded, want %d", path, query, len(body), len(now.Body))
			}
		} else if body, err := decodeBody(coding, got.Body); err != nil || !bytes.Equal(body, now.Body) {
			t.Fatalf("%s?%s: %s differs: %v", path, query, coding, err)
		}
		for _, name := range []string{"Etag", contract.HeaderTotal, "Link", "Use-As-Dictionary", "Vary"} {
			if a, _ := got.field(name); a != first(now.field(name)) {
				t.Errorf("%s?%s: %s is %q, in the plain answer %q", path, query, name, a, first(now.field(name)))
			}
		}
	}
	t.Logf("%d of %d in dcz, %d bytes for %d", coded, asked, codedBytes, plainBytes)
	if coded < asked/4 {
		t.Errorf("only %d of %d answers are in dcz", coded, asked)
	}
}

func first(value string, _ bool) string { return value }
