package generator

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fault is an error in a hostile catalog, and its expected effect.
type Fault struct {
	Path  string // relative to the catalog's root
	Line  int    // of the row; 0: the whole file
	What  string
	Fatal bool // the rest of the file cannot be read: its role may be refused
}

// rowFault is a valid row of a role with some cells made invalid.
type rowFault struct {
	role, what string
	cells      map[string]string
}

// rowFaults each make a loader drop exactly one row.
var rowFaults = []rowFault{
	{"conflict-events", "month 13", map[string]string{"reference_period_start": "2024-13-01"}},
	{"conflict-events", "30 February", map[string]string{"reference_period_end": "2024-02-30"}},
	{"conflict-events", "date in another order", map[string]string{"reference_period_start": "01/02/2024"}},
	{"conflict-events", "no start", map[string]string{"reference_period_start": ""}},
	{"conflict-events", "no end", map[string]string{"reference_period_end": ""}},
	{"conflict-events", "end before start", map[string]string{
		"reference_period_start": "2024-03-01",
		"reference_period_end":   "2024-02-01",
	}},
	{"conflict-events", "unknown event type", map[string]string{"event_type": "riot"}},
	{"conflict-events", "event type in capitals", map[string]string{"event_type": "DEMONSTRATION"}},
	{"conflict-events", "negative count", map[string]string{"events": "-3"}},
	{"conflict-events", "fraction of an event", map[string]string{"events": "12.5"}},
	{"conflict-events", "word for a count", map[string]string{"fatalities": "many"}},
	{"conflict-events", "count beyond 64 bits", map[string]string{"events": "99999999999999999999"}},
	{"conflict-events", "unknown country", map[string]string{"location_code": "QQQ"}},
	{"conflict-events", "no country", map[string]string{"location_code": ""}},
	{"conflict-events", "bytes that are not UTF-8", map[string]string{"provider_admin1_name": "bad \xff\xfe bytes"}},
	{"operational-presence", "acronym too long", map[string]string{"org_acronym": strings.Repeat("W", 33)}},
	{"operational-presence", "sector code too long", map[string]string{"sector_code": strings.Repeat("S", 33)}},
	{"funding", "negative money", map[string]string{"funding_usd": "-1"}},
	{"funding", "no funding", map[string]string{"funding_usd": ""}},
	{"funding", "negative share", map[string]string{"funding_pct": "-0.1"}},
	{"funding", "thousands mark", map[string]string{"requirements_usd": "1,000,000"}},
	{"funding", "appeal code too long", map[string]string{"appeal_code": strings.Repeat("H", 65)}},
	{"national-risk", "class 6", map[string]string{"risk_class": "6"}},
	{"national-risk", "class as a word", map[string]string{"risk_class": "Very High"}},
	{"national-risk", "rank 0", map[string]string{"global_rank": "0"}},
	{"national-risk", "rank 251", map[string]string{"global_rank": "251"}},
	{"national-risk", "risk above 10", map[string]string{"overall_risk": "10.1"}},
	{"national-risk", "negative risk", map[string]string{"vulnerability_risk": "-0.1"}},
	{"national-risk", "more than all indicators missing", map[string]string{"meta_missing_indicators_pct": "100.5"}},
	{"humanitarian-needs", "unknown status", map[string]string{"population_status": "HUH"}},
	{"humanitarian-needs", "no population", map[string]string{"population": ""}},
	{"humanitarian-needs", "category too long", map[string]string{"category": strings.Repeat("c", 129)}},
	{"refugees-persons-of-concern", "unknown group", map[string]string{"population_group": "ZZZ"}},
	{"refugees-persons-of-concern", "unknown gender", map[string]string{"gender": "F"}},
	{"refugees-persons-of-concern", "negative age", map[string]string{"min_age": "-1"}},
	{"refugees-persons-of-concern", "unknown asylum", map[string]string{"asylum_location_code": "XXA"}},
	{"returnees", "age range too long", map[string]string{"age_range": strings.Repeat("9", 33)}},
	{"returnees", "unknown origin", map[string]string{"origin_location_code": "STA"}},
	{"idps", "negative round", map[string]string{"reporting_round": "-1"}},
	{"idps", "no round", map[string]string{"reporting_round": ""}},
	{"food-security", "phase 6", map[string]string{"ipc_phase": "6"}},
	{"food-security", "more than everybody", map[string]string{"population_fraction_in_phase": "1.01"}},
	{"food-security", "unknown type", map[string]string{"ipc_type": "past"}},
	{"food-prices-market-monitor", "unknown flag", map[string]string{"price_flag": "forecast"}},
	{"food-prices-market-monitor", "unknown price type", map[string]string{"price_type": "retail"}},
	{"food-prices-market-monitor", "negative price", map[string]string{"price": "-0.01"}},
	{"food-prices-market-monitor", "price that is no number", map[string]string{"price": "NaN"}},
	{"food-prices-market-monitor", "decimal comma", map[string]string{"price": "1,5"}},
	{"poverty-rate", "headcount above 100", map[string]string{"headcount_ratio": "100.0001"}},
	{"poverty-rate", "infinite poverty", map[string]string{"mpi": "inf"}},
	{"rainfall", "no pixels at all", map[string]string{"number_pixels": "0"}},
	{"rainfall", "negative rain", map[string]string{"rainfall": "-0.5"}},
	{"rainfall", "unknown aggregation", map[string]string{"aggregation_period": "weekly"}},
	{"rainfall", "two points", map[string]string{"rainfall_long_term_average": "1.2.3"}},
	{"baseline-population", "unknown gender", map[string]string{"gender": "male"}},
	{"baseline-population", "exponent too large", map[string]string{"population": "1e99"}},
}

// brokenLines make a loader drop one row each. They are lines without their end.
var brokenLines = []struct {
	what string
	make func(good string) string
}{
	{"a cell too few", func(good string) string { return good[:strings.LastIndexByte(good, ',')] }},
	{"a cell too many", func(good string) string { return good + ",more" }},
	{"longer than a mebibyte", func(good string) string { return good + strings.Repeat("x", 1<<20+1) }},
	{"one word", func(string) string { return "word" }},
}

// brokenFiles cannot be read, or not to their end.
var brokenFiles = []struct{ path, what, text string }{
	{"idps/zz_empty.csv", "empty file", ""},
	{"returnees/zz_page.csv", "a page of HTML", "<!DOCTYPE html>\n<html><body>502 Bad Gateway</body></html>\n"},
	{"funding/zz_columns.csv", "key columns are missing", "location_code,appeal_name\nAFG,Nothing\n"},
	{"poverty-rate/zz_cut.csv.gz", "gzip stream cut off", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4a\x2c\x4e"},
	{"food-security/zz_quote.csv", "a quote that never closes", csvHeaders["food-security"] +
		"\nAFG,Y,Y,\"never closed,\nand on it goes\n"},
	{"packages/zz-cut.json", "JSON cut off", `{"id": "zz", "name": "zz", "resources": [{`},
	{"packages/zz-other.json", "JSON that is no package", `["a", "list"]`},
}

// WriteHostile writes the sample (with Small the small catalog) with faults added: a file
// zz_rows.csv with bad rows in every role, and files that are broken as a whole. It returns the
// faults and lists them in faults.json. There is no catalog.json, so that a loader lists the
// folders.
func WriteHostile(dir string, o Options) ([]Fault, error) {
	if _, err := Write(dir, Options{Seed: o.Seed, Small: o.Small}); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, "catalog.json")); err != nil {
		return nil, err
	}
	var faults []Fault
	for _, t := range themes {
		some, err := writeBadRows(dir, t)
		if err != nil {
			return nil, err
		}
		faults = append(faults, some...)
	}
	for _, f := range brokenFiles {
		if _, err := writeWhole(dir, f.path, []byte(f.text)); err != nil {
			return nil, err
		}
		faults = append(faults, Fault{Path: f.path, What: f.what, Fatal: true})
	}
	text, err := json.MarshalIndent(faults, "", " ")
	if err != nil {
		return nil, err
	}
	_, err = writeWhole(dir, "faults.json", append(text, '\n'))
	return faults, err
}

// writeBadRows writes the bad rows of a role, made from the first row of its last file.
func writeBadRows(dir string, t *theme) ([]Fault, error) {
	files, err := filepath.Glob(filepath.Join(dir, t.role, "hdx_*.csv"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("generator: role %s has no files", t.role)
	}
	text, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		return nil, err
	}
	all, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		return nil, err
	}
	header, good := all[0], all[1]
	path := t.role + "/zz_rows.csv"
	l := &line{ends: "\n"}
	l.row(header...)
	var faults []Fault
	at := 1
	for _, f := range rowFaults {
		if f.role != t.role {
			continue
		}
		bad := slices.Clone(good)
		for column, cell := range f.cells {
			i := slices.Index(header, column)
			if i < 0 {
				return nil, fmt.Errorf("generator: role %s has no column %s, of %v", t.role, column,
					slices.Collect(maps.Keys(f.cells)))
			}
			bad[i] = cell
		}
		at++
		l.row(bad...)
		faults = append(faults, Fault{Path: path, Line: at, What: f.what})
	}
	for _, broken := range brokenLines {
		before := len(l.buf)
		l.row(good...)
		whole := broken.make(string(l.buf[before : len(l.buf)-1]))
		l.buf = append(append(l.buf[:before], whole...), '\n')
		at++
		faults = append(faults, Fault{Path: path, Line: at, What: broken.what})
	}
	l.row(good...) // a good row after all bad ones
	_, err = writeWhole(dir, path, l.buf)
	return faults, err
}
