package main_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hdqs/internal/testkit"
)

// scatteredQueries select rows that are mostly not adjacent, of the endpoints with many rows.
var scatteredQueries = map[string]string{
	"admin2":                      "name=ka",
	"data-availability":           "category=food-security-nutrition-poverty",
	"operational-presence":        "sector_name=e",
	"conflict-events":             "event_type=political_violence",
	"refugees-persons-of-concern": "population_group=ASY",
	"humanitarian-needs":          "population_status=INN",
	"returnees":                   "gender=f",
	"food-security":               "classification_phase=3",
	"food-prices-market-monitor":  "commodity_category=cereals%20and%20tubers",
	"rainfall":                    "aggregation_period=1-month",
	"baseline-population":         "gender=f",
}

// libraryLevels are the library's compression levels that lengths are compared with.
var libraryLevels = []struct {
	coding, name string
	compress     func(t *testing.T, text []byte) int
}{
	{"gzip", "level 6", gzipLength(6)},
	{"gzip", "level 1", gzipLength(1)},
	{"zstd", "default", zstdLength(zstd.SpeedDefault)},
	{"zstd", "fastest", zstdLength(zstd.SpeedFastest)},
}

func gzipLength(level int) func(*testing.T, []byte) int {
	return func(t *testing.T, text []byte) int {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, level)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Len()
	}
}

func zstdLength(level zstd.EncoderLevel) func(*testing.T, []byte) int {
	return func(t *testing.T, text []byte) int {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		return len(e.EncodeAll(text, nil))
	}
}

// TestFixturesShapes measures pages of real data: the length of a row, plain and in a segment, and
// the length of compressed pages relative to the library's. `go test -v` prints the table. Pages of
// 1,000 rows or more have bounds: adjacent rows 1.3 times level 6, others 1.3 times level 1.
func TestFixturesShapes(t *testing.T) {
	parallel(t)
	const long, bound = 1000, 1.3
	store := fixtureStore(t)
	segment := segmentBytes(t, store)
	servers := map[string]*server{}
	for _, tier := range tiers {
		servers[tier] = serve(t, "--store", store, "--body-cache", "0", "--compression", tier)
	}
	var report strings.Builder
	report.WriteString("| page | rows | segment | JSON |")
	for _, l := range libraryLevels {
		fmt.Fprintf(&report, " %s %s | %s |", l.coding, l.name, strings.Join(tiers, " | "))
	}
	report.WriteString("\n|---|" + strings.Repeat("---:|", 3+len(libraryLevels)*(1+len(tiers))) + "\n")
	for _, e := range endpoints(t) {
		name := e.Path[strings.LastIndexByte(e.Path, '/')+1:]
		queries := []string{""}
		if query := scatteredQueries[name]; query != "" {
			queries = append(queries, query)
		}
		for _, query := range queries {
			page := measurePage(t, servers, e.Path+"?limit=10000&"+query)
			fmt.Fprintf(&report, "| %s | %d | %.1f | %s |\n",
				strings.TrimSuffix(name+" "+query, " "), page.rows, segment[tableOf(e.Path)], page)
			if page.rows == 0 {
				t.Errorf("%s %s: no rows", name, query)
			}
			level := 0
			if query != "" {
				level = 1
			}
			if ratio := page.ratio(level, 0); page.rows >= long && ratio > bound {
				t.Errorf("%s %s: gzip is %.2f of %s, want %.1f or less",
					name, query, ratio, libraryLevels[level].name, bound)
			}
		}
	}
	t.Logf("bytes a row by the library's levels, and the tiers' lengths relative to them:\n%s", report.String())
}

// segmentBytes returns the bytes a row of each table of a store.
func segmentBytes(t *testing.T, store string) map[string]float64 {
	t.Helper()
	view := decode[struct {
		Tables []struct {
			Table       string  `json:"table"`
			BytesPerRow float64 `json:"bytes_per_row"`
		} `json:"tables"`
	}](t, []byte(mustExit(t, 0, "inspect", "--store", store, "--json").stdout))
	all := map[string]float64{}
	for _, table := range view.Tables {
		all[table.Table] = table.BytesPerRow
	}
	return all
}

// pageLengths are the lengths of a page: plain, by the library's levels, and by coding and tier.
type pageLengths struct {
	rows, plain int
	library     []int
	ours        map[string][]int
}

func (p *pageLengths) ratio(level, tier int) float64 {
	return float64(p.ours[libraryLevels[level].coding][tier]) / float64(p.library[level])
}

// String returns the page's cells of the table.
func (p *pageLengths) String() string {
	rows := float64(max(p.rows, 1))
	text := fmt.Sprintf("%.0f", float64(p.plain)/rows)
	for level := range libraryLevels {
		text += fmt.Sprintf(" | %.1f", float64(p.library[level])/rows)
		for tier := range tiers {
			text += fmt.Sprintf(" | %.2f", p.ratio(level, tier))
		}
	}
	return text
}

// measurePage asks for a page in every coding and tier.
func measurePage(t *testing.T, servers map[string]*server, path string) *pageLengths {
	t.Helper()
	plain := ask(t, "GET", servers[tiers[0]].base+with(path)).body
	rows := len(decode[struct{ Data []any }](t, plain).Data)
	p := &pageLengths{rows: rows, plain: len(plain), ours: map[string][]int{}}
	for _, l := range libraryLevels {
		p.library = append(p.library, l.compress(t, plain))
	}
	for coding, unpack := range unpackers {
		for _, tier := range tiers {
			requests := 1
			if tier == "stored" {
				requests = testkit.Trials(25, 6) // each makes some of the stored blocks
			}
			var body []byte
			for range requests {
				body = ask(t, "GET", servers[tier].base+with(path), "Accept-Encoding", coding+", identity;q=0").body
			}
			if !bytes.Equal(unpack(t, body), plain) {
				t.Errorf("%s: %s %s is not the plain body", path, tier, coding)
			}
			p.ours[coding] = append(p.ours[coding], len(body))
		}
	}
	return p
}
