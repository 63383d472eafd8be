package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/internal/testkit"
	"hdqs/loader"
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

// TestLoadFindings: the counts of a report are metrics, and those of the load before are gone.
func TestLoadFindings(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := newLoadMetrics(registry)
	for _, c := range []struct {
		report loader.Report
		want   string
	}{
		{loader.Report{Resources: []*loader.ResourceReport{{
			Drops:  map[string]*loader.Examples{"bad_date": {Count: 3}, "no_code": {Count: 7, ByRule: true}},
			Faults: []string{"a"},
		}}}, "[bad_date 3 changed_figure 0 different_duplicate 0 fault_in_a_file 1 " +
			"list_without_rows 0 stale_source 0 table_fell 0]"},
		{
			loader.Report{
				Fell:    []loader.Fall{{Countries: []string{"AFG"}}, {Rows: 9, Before: 9}},
				Changed: []string{"a"}, Empty: []string{"idps"}, Stale: make([]loader.Stale, 1),
			},
			"[changed_figure 1 different_duplicate 0 fault_in_a_file 0 list_without_rows 1 stale_source 1 " +
				"table_fell 1]",
		},
	} {
		m.end(t.Context(), time.Now(), &loaded{Report: &c.report}, nil)
		families, err := registry.Gather()
		testkit.Must(t, err)
		var got []string
		for _, f := range families {
			for _, one := range f.GetMetric() {
				if f.GetName() == "hdqs_load_findings" {
					got = append(got, fmt.Sprint(one.GetLabel()[0].GetValue(), " ", one.GetGauge().GetValue()))
				}
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("got %v, want %s", got, c.want)
		}
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
