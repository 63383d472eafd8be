package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hdqs/internal/testkit"
	"hdqs/loader"
)

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
