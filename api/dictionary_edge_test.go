package api

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestEdgeDictionaries puts nginx in front, with the changes that docs/operating.md names. Clients
// with the same page share a copy, and nobody gets a copy for another page.
func TestEdgeDictionaries(t *testing.T) {
	t.Parallel()
	needEdge(t)
	s, address, _, after := listenBefore(t, 4)

	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../deploy/nginx")); err != nil {
		t.Fatal(err)
	}
	text := string(testkit.ReadFile(t, filepath.Join(folder, "hdqs.conf")))
	docs := string(testkit.ReadFile(t, "../docs/operating.md"))
	for old, changed := range map[string]string{
		`	"~*\bzstd\b"    zstd;`:           `	"~*\bdcz\b"     "dcz, zstd";` + "\n" + `	"~*\bzstd\b"    zstd;`,
		`set $hdqs_key "$hdqs_coding $uri`: `set $hdqs_key "$hdqs_coding $http_available_dictionary $uri`,
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("hdqs.conf has no %q", old)
		}
		text = strings.Replace(text, old, changed, 1)
		if line, _, _ := strings.Cut(strings.TrimSpace(changed), "\n"); !strings.Contains(docs, line) {
			t.Errorf("operating.md does not name %q", line)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "hdqs.conf"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	address = testkit.StartNginx(t, folder, address)

	const path = "/api/v2/coordination-context/conflict-events"
	target := path + "?limit=800&app_identifier=" + goodIdentifier
	page := ask(t, address, "GET", target, nil).Body
	if err := s.Swap(Release{Snapshot: storeSnapshot(t, "after", sampleTime, after)}); err != nil {
		t.Fatal(err)
	}
	waitForEqual(t, s, path)
	want := s.Answer("GET", target, nil).Body
	id := idOf(t, s, "before", path)
	for i, c := range []struct {
		header        []HeaderField
		coding, cache string
	}{
		{offer(page, id, withDcz), "dcz", "MISS"},
		{offer(page, id, withDcz), "dcz", "HIT"},
		{offer(page[1:], id, withDcz), "zstd", "MISS"},
		{[]HeaderField{{"Accept-Encoding", "gzip, deflate, br, zstd"}}, "zstd", "MISS"},
		{offer(page, id, withDcz), "dcz", "HIT"},
	} {
		got := ask(t, address, "GET", target, c.header)
		coding, _ := got.field("Content-Encoding")
		cache, _ := got.field("X-Cache")
		if got.Status != 200 || coding != c.coding || cache != c.cache {
			t.Fatalf("request %d: %d in %q, %s; want %q, %s", i, got.Status, coding, cache, c.coding, c.cache)
		}
		body, err := got.Body, error(nil)
		if coding == "dcz" {
			body = undelta(t, body, page)
		} else {
			body, err = decodeBody(coding, body)
		}
		if err != nil || !bytes.Equal(body, want) {
			t.Errorf("request %d: %d bytes, want %d: %v", i, len(body), len(want), err)
		}
	}
}
