package load

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTrend(t *testing.T) {
	r := Report{
		Date: "2026-01-02", Commit: "abc", Machine: Machine{CPU: `A "fast", new one`},
		Targets: []Verdict{{Query: "q", Encoding: Gzip, Control: "nginx, same", Micros: 123.4, Got: Ratio{1.5, 1, 2}}},
		Cells: []Cell{
			{Query: "q", Encoding: Gzip, Server: "ours", CPUMicros: 9},
			{Query: "q", Encoding: Identity, Server: "ours", CPUMicros: 1000.25},
			{Query: "q", Encoding: Identity, Server: "nginx", CPURatio: Ratio{3, 2, 4}},
			{Query: "q", Encoding: Zstd, Server: "ours", CPUMicros: 7},
			{Query: "q", Encoding: Zstd, Server: "configured", CPUMicros: 8},
		},
	}
	run := r.Trend("1.2.3")
	if len(run) != 3 || run[0].Ratio.Median != 1.5 || run[1].Ratio.High != 4 || run[2].Control != "" ||
		run[2].Micros != 7 {
		t.Fatalf("%+v", run)
	}
	older, other := run[0], run[0]
	older.Version, other.Processor = "1.2.2", "B"
	replaced := run[0]
	replaced.Query = "gone"
	all := Supersede([]Trend{older, other, replaced}, run)
	if len(all) != 5 || slices.ContainsFunc(all, func(t Trend) bool { return t.Query == "gone" }) {
		t.Errorf("%+v", all)
	}
	if got := Supersede(all, nil); !reflect.DeepEqual(got, all) {
		t.Errorf("a run without results changed the trend: %+v", got)
	}
	var b bytes.Buffer
	if err := WriteTrend(&b, all); err != nil {
		t.Fatal(err)
	}
	written := b.String()
	read, err := ReadTrend(strings.NewReader(written))
	if err != nil || len(read) != len(all) {
		t.Fatalf("%+v, %v", read, err)
	}
	b.Reset()
	if err := WriteTrend(&b, read); err != nil || b.String() != written {
		t.Errorf("%v, written again:\n%s\nwant\n%s", err, b.String(), written)
	}
	if !slices.Contains(read, run[0]) {
		t.Errorf("%+v is not in %+v", run[0], read)
	}
	head := strings.Join(trendHead, ",") + "\n"
	for _, bad := range []string{
		"", "a,b\n", head + "1,2\n", head + "v,c,d,p,q,gzip,x,,,,\n", head + "v,c,d,p,q,gzip,1,n,y,,\n",
	} {
		if got, err := ReadTrend(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: %+v, no error", bad, got)
		}
	}
}

// TestTrendOfTheRepository checks that the committed file is one that the next run can add to.
func TestTrendOfTheRepository(t *testing.T) {
	text, err := os.ReadFile("../results/trend.csv")
	if err != nil {
		t.Fatal(err)
	}
	all, err := ReadTrend(bytes.NewReader(text))
	if err != nil || len(all) < 100 {
		t.Fatalf("%d lines, %v", len(all), err)
	}
	var b bytes.Buffer
	if err := WriteTrend(&b, all); err != nil || b.String() != string(text) {
		t.Errorf("%v: the file is not in the form and order that the harness writes", err)
	}
}
