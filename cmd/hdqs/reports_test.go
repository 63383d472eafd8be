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
// keys of the endpoints that read them. testdata/scripts has what diff prints, and other dates.
func TestCompareSnapshots(t *testing.T) {
	ref := func(table, hash string, rows int) store.SegmentRef {
		return store.SegmentRef{Table: table, SHA256: strings.Repeat(hash, 64), Rows: rows, Bytes: int64(rows) * 10}
	}
	a := []store.SegmentRef{ref("sector", "1", 3), ref("food_price", "2", 100), ref("idps", "3", 7)}
	b := []store.SegmentRef{ref("sector", "1", 3), ref("food_price", "5", 120), ref("rainfall", "6", 9)}
	d := compareSnapshots(&store.Manifest{ID: "a", Tables: a}, &store.Manifest{ID: "b", Tables: b})
	want := []tableDiff{{"food_price", 100, 120, 1000, 1200}, {"idps", 7, 0, 70, 0}, {"rainfall", 0, 9, 0, 90}}
	keys := []string{"landing", "ep-idps", "ep-food-prices-market-monitor", "ep-rainfall"}
	if !slices.Equal(d.Tables, want) || d.Same != 1 || !slices.Equal(d.Purge, keys) {
		t.Errorf("%+v", d)
	}
}

// TestPace checks the text for progress, speed and time left.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		took        time.Duration
		want        string
	}{
		{0, 0, time.Second, "0 B"},
		{0, 1 << 20, time.Second, "0 B of 1.0 MiB"},
		{1 << 20, 4 << 20, 2 * time.Second, "1.0 MiB of 4.0 MiB, 512.0 KiB/s, 6s left"},
		{4 << 20, 4 << 20, 2 * time.Second, "4.0 MiB of 4.0 MiB, 2.0 MiB/s"},
		{3 << 20, 0, time.Second, "3.0 MiB, 3.0 MiB/s"},
	} {
		if got := rateText(c.done, c.total, c.took); got != c.want {
			t.Errorf("%d of %d in %s: %q, want %q", c.done, c.total, c.took, got, c.want)
		}
	}
}

// TestPlainProgress: without a terminal there is one line in a while.
func TestPlainProgress(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, "downloading")
	p.update("idps/a.csv", 10, 100)
	if out.Len() > 0 {
		t.Errorf("a line at once: %q", out.String())
	}
	p.last, p.began = time.Now().Add(-plainEvery), time.Now().Add(-10*time.Second)
	for range 3 {
		p.update("idps/a.csv", 50<<20, 100<<20)
	}
	p.finish()
	got := out.String()
	if strings.Count(got, "\n") != 1 || !strings.Contains(got, "left") ||
		!strings.HasPrefix(got, "downloading idps/a.csv: 50.0 MiB of 100.0 MiB, ") {
		t.Errorf("printed %q", got)
	}
}
