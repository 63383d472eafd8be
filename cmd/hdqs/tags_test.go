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

	"hdqs/internal/testkit"
)

// tags returns the ETag of each endpoint and format. It must be the same in all codings, and strong
// without one.
func (s *server) tags(t *testing.T) map[string]string {
	t.Helper()
	tags := map[string]string{}
	for _, e := range endpoints(t) {
		for _, query := range []string{"?limit=50", "?limit=50&output_format=csv", "?offset=1&limit=1"} {
			for _, coding := range []string{"identity", "gzip", "zstd"} {
				a := ask(t, "GET", s.base+with(e.Path+query), "Accept-Encoding", coding)
				tag := a.header.Get("ETag")
				tag, weak := strings.CutPrefix(tag, "W/")
				if a.status != 200 || !strings.HasPrefix(tag, `"`) || weak == (coding == "identity") {
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

// TestTagsAcrossProcesses: two processes with stores of their own, built from one input, send the
// same tags. A build with one changed figure changes the tags of that table's endpoint only, and
// diff lists that endpoint.
func TestTagsAcrossProcesses(t *testing.T) {
	parallel(t)
	files := newCatalog(t, 1)
	store := sampleStore(t)
	one := serve(t, "--store", store)
	other := serve(t, "--store", newStore(t, files), "--compression", "whole", "--body-cache", "0")
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
	old := testkit.ReadFile(t, names[0])
	lines := bytes.Split(old, []byte("\n"))
	for i, line := range lines {
		cells := bytes.Split(line, []byte(","))
		if len(cells) > 13 && string(cells[11]) == "0" && string(cells[12]) == "0" {
			cells[11] = []byte("7")
			lines[i] = bytes.Join(cells, []byte(","))
			break
		}
	}
	changed := bytes.Join(lines, []byte("\n"))
	testkit.WriteFile(t, names[0], changed)
	list := filepath.Join(files, "catalog.json")
	sum := func(data []byte) []byte { return fmt.Appendf(nil, "%x", sha256.Sum256(data)) }
	testkit.WriteFile(t, list, bytes.ReplaceAll(testkit.ReadFile(t, list), sum(old), sum(changed)))
	mustExit(t, 0, "build", "--catalog", files, "--store", store, "--snapshot-time", buildTime)
	after := serve(t, "--store", store)
	if id := after.snapshotID(t); id == firstID {
		t.Fatalf("the changed catalog gives the same snapshot %s", id)
	}
	retagged := map[string]bool{}
	for request, tag := range after.tags(t) {
		if before[request] != tag {
			retagged[request[:strings.IndexByte(request, '?')]] = true
		}
	}
	if got := slices.Sorted(maps.Keys(retagged)); !slices.Equal(got, []string{conflictPath}) {
		t.Errorf("endpoints with changed tags: %q", got)
	}
	diff := mustExit(t, 0, "diff", "--store", store, "--json", firstID, after.snapshotID(t)).stdout
	purge := decode[struct{ Purge []string }](t, []byte(diff)).Purge
	if !slices.Equal(purge, []string{"landing", "ep-conflict-events"}) {
		t.Errorf("diff purges %q: %.500s", purge, diff)
	}
}
