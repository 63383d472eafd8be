//go:build !race

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

const goodManifest = `{
  "format": 2,
  "id": "s1",
  "snapshot_time": "2024-03-01T12:00:00Z",
  "catalog_url": "https://catalog.example",
  "tables": [
    {"table": "a", "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "rows": 7,
	"bytes": 100}
  ],
  "sources": [
    {"table": "a", "updated": "2024-02-29T06:07:08Z", "stale_since": "2024-03-01T00:00:00Z", "stale_why": "cut off",
	"datasets": ["d1", "d3"]}
  ],
  "datasets": [{"id": "d1", "publisher": "Some Office", "license": "CC BY"}, {"id": "d2"}],
  "state": {"any": [1, {"thing": null}]}
}`

// firstManifest has the form of format 1.
const firstManifest = `{"format": 1, "id": "s1", "snapshot_time": "2024-03-01T12:00:00Z", "catalog_url": "", "tables": [
  {"table": "a", "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "rows": 7, "bytes": 100}]}`

// TestSources finds the sources of a table and the description of a dataset, and nothing in a
// manifest that has none.
func TestSources(t *testing.T) {
	t.Parallel()
	m := testkit.Value(ParseManifest([]byte(goodManifest)))(t)
	s := m.Source("a")
	updated := time.Date(2024, 2, 29, 6, 7, 8, 0, time.UTC)
	if !s.Updated.Equal(updated) || s.StaleWhy != "cut off" || s.StaleSince.IsZero() {
		t.Errorf("the sources of a are %+v", s)
	}
	if d, ok := m.Dataset("d1"); !ok || d.Publisher != "Some Office" || d.License != "CC BY" {
		t.Errorf("dataset d1 is %+v, %t", d, ok)
	}
	for _, id := range []string{"", "d3", "d0"} {
		if d, ok := m.Dataset(id); ok {
			t.Errorf("dataset %q is %+v", id, d)
		}
	}
	m = testkit.Value(ParseManifest([]byte(firstManifest)))(t)
	if s := m.Source("a"); s.Table != "a" || !s.Updated.IsZero() || !s.StaleSince.IsZero() || s.Datasets != nil {
		t.Errorf("without sources they are %+v", s)
	}
	testkit.Lacks(t, testkit.Value(m.encode())(t), "sources", "written again")
}

// TestMalformedManifests makes one fault at a time in a valid manifest.
func TestMalformedManifests(t *testing.T) {
	t.Parallel()
	testkit.Value(ParseManifest([]byte(goodManifest)))(t)
	for _, c := range testkit.Cases(t, "testdata/manifests.txt", " | ", 4) {
		text := strings.Replace(goodManifest, strings.ReplaceAll(c[1], `\n`, "\n"), c[2], 1)
		if text == goodManifest {
			t.Fatalf("%s: %q is not in the manifest", c[0], c[1])
		}
		if _, err := ParseManifest([]byte(text)); !errors.Is(err, snapshot.ErrCorrupt) ||
			!strings.Contains(err.Error(), c[3]) {
			t.Errorf("%s: %v, want an error with %q", c[0], err, c[3])
		}
	}
}

// FuzzParseManifest: any bytes give a manifest that can be written again, or snapshot.ErrCorrupt.
func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(goodManifest))
	f.Add([]byte(firstManifest))
	f.Add([]byte(`{"format": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			if !errors.Is(err, snapshot.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		text, err := m.encode()
		if err != nil {
			t.Fatalf("cannot write a parsed manifest: %v", err)
		}
		if _, err := ParseManifest(text); err != nil {
			t.Fatalf("cannot parse a written manifest: %v", err)
		}
	})
}

func FuzzParseChannel(f *testing.F) {
	f.Add([]byte(`{"id": "s1", "published_at": "2024-03-01T12:00:00Z", "sha256": "` + strings.Repeat("00", 32) + `"}`))
	pointer := `"id": "s1", "published_at": "2024-03-01T12:00:00Z", "sha256": "` + strings.Repeat("00", 32) + `"`
	f.Add([]byte(`{` + pointer + `, "canary": {"percent": 10, "of": {` + pointer + `}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseChannel(data)
		switch {
		case err == nil && (CheckID(p.ID) != nil || checkHash(p.SHA256) != nil):
			t.Fatalf("pointer %+v", p)
		case err == nil && p.Canary != nil &&
			(p.Canary.Percent < 1 || p.Canary.Percent > 100 || p.Canary.Of.check() != nil):
			t.Fatalf("canary %+v", p.Canary)
		case err != nil && !errors.Is(err, snapshot.ErrCorrupt):
			t.Fatal(err)
		}
	})
}

// TestHistory: a channel keeps its previous pointers, latest first, each snapshot once, up to a
// limit.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 25 {
		putSnapshot(t, s, fmt.Sprint("s", i), smallTable("table", int64(i)))
	}
	show := func(id string, want string) {
		t.Helper()
		testkit.Must(t, s.Channels.Publish("channel", id, noon.Add(time.Hour)))
		c := testkit.Value(s.Channels.History("channel"))(t)
		got := []string{c.ID}
		for _, p := range c.Previous {
			got = append(got, p.ID)
		}
		if want != "" && strings.Join(got, " ") != want {
			t.Errorf("after %s: %s, want %s", id, strings.Join(got, " "), want)
		}
	}
	show("s0", "s0")
	show("s0", "s0")
	show("s1", "s1 s0")
	show("s2", "s2 s1 s0")
	show("s1", "s1 s2 s0")
	show("s2", "s2 s1 s0")
	for i := range 25 {
		show(fmt.Sprint("s", i), "")
	}
	c, err := s.Channels.History("channel")
	if err != nil || len(c.Previous) != maxPrevious || c.Previous[0].ID != "s23" {
		t.Errorf("%d previous pointers, %v", len(c.Previous), err)
	}
	// Reading a damaged channel is an error, but it can be published to.
	path := filepath.Join(s.Dir(), channelsDir, "channel.json")
	testkit.Must(t, os.WriteFile(path, []byte("{"), 0o644))
	if _, err := s.Channels.Channel("channel"); err == nil {
		t.Error("a damaged channel was read")
	}
	show("s3", "s3")
}

// TestChannelOfBefore: channels without previous pointers, as first written, are read.
func TestChannelOfBefore(t *testing.T) {
	t.Parallel()
	text := `{"id":"s1","published_at":"2024-03-01T12:00:00Z","sha256":"` + strings.Repeat("00", 32) + `"}`
	c, err := ParseChannel([]byte(text))
	if err != nil || c.ID != "s1" || !c.PublishedAt.Equal(noon) {
		t.Fatalf("%+v, %v", c, err)
	}
	if data, err := c.Encode(); err != nil || string(data) != text+"\n" {
		t.Errorf("written again: %s, %v", data, err)
	}
}
