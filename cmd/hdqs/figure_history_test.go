package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// historyOf is what a figure of a country was before, the newest first: day and value.
func historyOf(t *testing.T, s *server, figure, country string) (lines []string) {
	t.Helper()
	a := ask(t, "GET", s.base+with("/api/v2/figures/"+figure+"/history?location_code="+country))
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, r := range jsonRows(t, a.body) {
		value := "none"
		if n, is := r["value"].(json.Number); is {
			value = n.String()
		}
		lines = append(lines, r["published"].(string)[:10]+" "+value)
	}
	return lines
}

// fiveNights publishes the sample five times, the last time by a rollback, with known edits of the
// displaced people of Aruba (ABW) and Afghanistan.
func fiveNights(t *testing.T, dir string) {
	t.Helper()
	for i, edit := range []func(cell func(string) *string) bool{
		func(func(string) *string) bool { return true },
		func(cell func(string) *string) bool {
			if *cell("location_code") == "ABW" {
				*cell("population") += "0"
			}
			return true
		},
		func(cell func(string) *string) bool { return *cell("location_code") != "AFG" },
		func(cell func(string) *string) bool {
			if *cell("location_code") == "AFG" {
				*cell("population") = "7"
			}
			return true
		},
	} {
		buildSample(t, 0, sampleCatalog(t, edit), dir, fmt.Sprintf("2026-11-2%dT00:00:00Z", i+1))
	}
	mustExit(t, 0, "rollback", "--store", dir)
}

// TestFigureHistory: each publication keeps what the figures were before, also after the snapshots
// have been removed, and another channel has a history of its own. Figures of the file are those
// that are computed without it.
func TestFigureHistory(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "store")
	fiveNights(t, dir)
	today := time.Now().UTC().Format(time.DateOnly)
	mustExit(t, 0, "publish", "--store", dir, "--channel", "other", "--from", "stable")
	mustExit(t, 0, "gc", "--store", dir, "--keep", "0", "--grace", "0s")
	mustExit(t, 0, "verify", "--store", dir)
	kept, other := serve(t, "--store", dir), serve(t, "--store", dir, "--channel", "other")
	for country, want := range map[string]string{
		"ABW": "2026-11-23 91267, 2026-11-22 912670, 2026-11-21 91267",
		"AFG": today + " none, 2026-11-24 7, 2026-11-23 none, 2026-11-21 0",
		"TCD": "", // never had a value
	} {
		if got := strings.Join(historyOf(t, kept, "internally_displaced", country), ", "); got != want {
			t.Errorf("%s: %s, want %s", country, got, want)
		}
	}
	if got := historyOf(t, other, "internally_displaced", "ABW"); len(got) != 1 || got[0] != today+" 91267" {
		t.Errorf("a new channel: %s", got)
	}
	st, err := store.Open(dir)
	testkit.Must(t, err)
	p, err := st.Channels.Channel("stable")
	testkit.Must(t, err)
	file := filepath.Join(dir, store.FiguresName(p.Figures))
	data := testkit.ReadFile(t, file)
	data[len(data)/2] ^= 1
	testkit.ReplaceFile(t, file, data)
	mustExit(t, 4, "verify", "--store", dir)
	computed := serve(t, "--store", dir)
	if !computed.logged("are computed") {
		t.Error("a damaged file is not reported")
	}
	for _, country := range []string{"AFG", "SDN", "UKR"} {
		lines := regexp.MustCompile(`(?s)<svg class="spark".*?</svg>`)
		drawn := lines.FindAllString(string(ask(t, "GET", kept.base+"/country/"+country).body), -1)
		again := lines.FindAllString(string(ask(t, "GET", computed.base+"/country/"+country).body), -1)
		if len(drawn) == 0 || !slices.Equal(drawn, again) {
			t.Errorf("lines of %s: %q, computed %q", country, drawn, again)
		}
	}
	a, b := figuresOf(t, kept, ""), figuresOf(t, computed, "")
	for name := range a {
		if !maps.Equal(a[name], b[name]) {
			t.Errorf("%s: %v, computed %v", name, a[name], b[name])
		}
	}
	if got := historyOf(t, computed, "internally_displaced", "ABW"); got != nil {
		t.Errorf("the history of a damaged file: %s", got)
	}
	testkit.Must(t, os.Remove(file))
	mustExit(t, 4, "verify", "--store", dir)
	files := sampleCatalog(t, func(func(string) *string) bool { return true })
	o := buildSample(t, 0, files, dir, "2026-11-26T00:00:00Z")
	if !strings.Contains(o.stderr, "the history of the headline figures begins with 20261126T000000Z-") {
		t.Errorf("a history that begins anew: %s", o.stderr)
	}
}
