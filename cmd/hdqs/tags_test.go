package main_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tags asks all endpoints of a server, in each format and coding, and gives the tag of each. All codings must have the same.
func (s *server) tags(t *testing.T) map[string]string {
	t.Helper()
	tags := map[string]string{}
	for _, e := range endpoints(t) {
		for _, query := range []string{"?limit=50", "?limit=50&output_format=csv", "?offset=1&limit=1"} {
			for _, coding := range []string{"identity", "gzip", "zstd"} {
				a := ask(t, "GET", s.base+with(e.Path+query), "Accept-Encoding", coding)
				tag := a.header.Get("ETag")
				if a.status != 200 || !strings.HasPrefix(tag, `W/"`) {
					t.Fatalf("%s%s: %d, tag %q", e.Path, query, a.status, tag)
				}
				if first, known := tags[e.Path+query]; known && first != tag {
					t.Errorf("%s%s: tag %s in %s, %s in another coding", e.Path, query, tag, coding, first)
				}
				tags[e.Path+query] = tag
			}
		}
	}
	return tags
}

// TestTagsAcrossProcesses: two processes that serve stores of their own, built from one input, send the same tags. After a build in which one figure of
// one table is another, the tags of exactly that table's endpoint are others, and diff says so.
func TestTagsAcrossProcesses(t *testing.T) {
	files := newCatalog(t, 1)
	store := newStore(t, files)
	one, other := serve(t, "--store", store), serve(t, "--store", newStore(t, files), "--compression", "whole", "--body-cache", "0")
	before := one.tags(t)
	for request, tag := range other.tags(t) {
		if before[request] != tag {
			t.Errorf("%s: %s and %s in two processes", request, before[request], tag)
		}
	}
	firstID := one.snapshotID(t)

	pattern := filepath.Join(files, "conflict-events", "*_2025.csv")
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %q, %v", pattern, names, err)
	}
	old := readFile(t, names[0])
	lines := bytes.Split(old, []byte("\n"))
	for i, line := range lines {
		if cells := bytes.Split(line, []byte(",")); len(cells) > 13 && string(cells[11]) == "0" && string(cells[12]) == "0" {
			cells[11] = []byte("7")
			lines[i] = bytes.Join(cells, []byte(","))
			break
		}
	}
	changed := bytes.Join(lines, []byte("\n"))
	writeFile(t, names[0], changed)
	list := filepath.Join(files, "catalog.json")
	writeFile(t, list, bytes.ReplaceAll(readFile(t, list), fmt.Appendf(nil, "%x", sha256.Sum256(old)), fmt.Appendf(nil, "%x", sha256.Sum256(changed))))
	wants(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", buildTime)
	after := serve(t, "--store", store)
	if id := after.snapshotID(t); id == firstID {
		t.Fatalf("the changed catalog is the same snapshot %s", id)
	}
	others := map[string]bool{}
	for request, tag := range after.tags(t) {
		if before[request] != tag {
			others[request[:strings.IndexByte(request, '?')]] = true
		}
	}
	if got := slices.Sorted(maps.Keys(others)); !slices.Equal(got, []string{"/api/v2/coordination-context/conflict-events"}) {
		t.Errorf("endpoints with other tags: %q", got)
	}
	diff := wants(t, 0, "diff", "--store", store, "--json", firstID, after.snapshotID(t)).out
	purge := decode[struct{ Purge []string }](t, []byte(diff)).Purge
	if !slices.Equal(purge, []string{"landing", "ep-conflict-events"}) {
		t.Errorf("diff purges %q: %.500s", purge, diff)
	}
}
