package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/snapshot/store"
)

// TestCompareSnapshots compares tables by content, including those of one side only, and lists the
// keys of the endpoints that read them.
func TestCompareSnapshots(t *testing.T) {
	ref := func(table, hash string, rows int) store.SegmentRef {
		return store.SegmentRef{Table: table, SHA256: strings.Repeat(hash, 64), Rows: rows, Bytes: int64(rows) * 10}
	}
	a := &store.Manifest{ID: "a", Tables: []store.SegmentRef{
		ref("sector", "1", 3), ref("food_price", "2", 100), ref("idps", "3", 7), ref("commodity", "4", 5),
	}}
	b := &store.Manifest{ID: "b", Tables: []store.SegmentRef{
		ref("sector", "1", 3), ref("food_price", "5", 120), ref("commodity", "4", 5), ref("rainfall", "6", 9),
	}}
	d := compareSnapshots(a, b)
	want := []tableDiff{{"food_price", 100, 120, 1000, 1200}, {"idps", 7, 0, 70, 0}, {"rainfall", 0, 9, 0, 90}}
	if !slices.Equal(d.Tables, want) || d.Same != 2 {
		t.Errorf("%+v, %d unchanged", d.Tables, d.Same)
	}
	keys := []string{"landing", "ep-idps", "ep-food-prices-market-monitor", "ep-rainfall"}
	if !slices.Equal(d.Purge, keys) {
		t.Errorf("purge %q, want %q", d.Purge, keys)
	}
	var text bytes.Buffer
	const line = "food_price  100          120         +20"
	if err := d.print(&text); err != nil || !strings.Contains(text.String(), line) {
		t.Errorf("%v\n%s", err, text.String())
	}
	stale := *a
	stale.ID, stale.Sources = "c", []store.TableSource{{Table: "idps", StaleSince: time.Unix(1e9, 0)}}
	d = compareSnapshots(a, &stale)
	if keys := []string{"landing", "ep-idps"}; len(d.Tables) > 0 || d.Same != 4 ||
		!slices.Equal(d.Sources, []string{"idps"}) || !slices.Equal(d.Purge, keys) {
		t.Errorf("a table that became stale: %+v", d)
	}
	text.Reset()
	if err := d.print(&text); err != nil || !strings.Contains(text.String(), "other dates:\n  idps\n\npurge: ") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if d := compareSnapshots(a, a); len(d.Tables)+len(d.Endpoints)+len(d.Purge) > 0 {
		t.Errorf("a snapshot compared with itself: %+v", d)
	}
}
