//go:build !race

package api

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// listed writes a value as a list has it. In a pattern a backslash keeps its meaning.
func listed(value string, pattern bool) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && pattern && i+1 < len(value):
			i++
			b.WriteString(`\` + value[i:i+1])
		case c == '\\' || c == ',':
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// severalParams are the contract's parameters of an endpoint that have a list.
func severalParams(e testkit.ContractEndpoint) []testkit.ContractParam {
	var all []testkit.ContractParam
	for i := range contract.Endpoints {
		for _, p := range contract.Endpoints[i].Filters() {
			for _, own := range e.Params {
				if contract.Endpoints[i].Path == e.Path && p.Name == own.Name && p.Several {
					all = append(all, own)
				}
			}
		}
	}
	return all
}

// TestListsAgainstPlainMatch queries random lists of every endpoint, alone, together, and with
// plain parameters. It compares bodies and totals with the rows that match at least one value of
// each list by the rules of the plain parameter, and the tag with that of the permuted query.
func TestListsAgainstPlainMatch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(20261122, 0))
	tables := sampleTables(t, 40)
	s := testServer(t, state.Options{}, tables)
	c := testkit.ReadContract(t, "../testdata/contract.json")
	found := 0
	for range trials(5000, 400) {
		i := random.IntN(len(c.Paths))
		e, table := c.Paths[i], tables[i]
		params := severalParams(e)
		if len(params) == 0 {
			continue // idps and others by place have some
		}
		query, permuted := "app_identifier="+goodIdentifier, "app_identifier="+goodIdentifier
		rows := table.rows
		keep := func(passes func(row map[string]any) bool) {
			var kept []map[string]any
			for _, row := range rows {
				if passes(row) {
					kept = append(kept, row)
				}
			}
			rows = kept
		}
		used := map[string]bool{}
		for range 1 + random.IntN(2) {
			p := params[random.IntN(len(params))]
			if used[p.Name] {
				continue
			}
			used[p.Name] = true
			pattern := strings.HasPrefix(p.Match, "i")
			pool := filterValues(c, p, table, random)
			var values, written []string
			for range 1 + random.IntN(5) {
				value := pool[random.IntN(len(pool))]
				if value == "" {
					continue
				}
				values = append(values, value)
				written = append(written, listed(value, pattern))
			}
			if len(values) == 0 {
				continue
			}
			query += "&" + p.Name + "__in=" + url.QueryEscape(strings.Join(written, ","))
			random.Shuffle(len(written), func(i, k int) { written[i], written[k] = written[k], written[i] })
			cut := random.IntN(len(written))
			for _, part := range [][]string{written[:cut], written[cut:], written[:1]} {
				if len(part) > 0 {
					permuted += "&" + p.Name + "__in=" + url.QueryEscape(strings.Join(part, ","))
				}
			}
			keep(func(row map[string]any) bool {
				for _, value := range values {
					if plainMatch(e.Path, paramValue{p, value}, row) {
						return true
					}
				}
				return false
			})
			if random.IntN(3) == 0 { // the plain parameter too
				value := values[random.IntN(len(values))]
				query += "&" + p.Name + "=" + url.QueryEscape(value)
				permuted += "&" + p.Name + "=" + url.QueryEscape(value)
				keep(func(row map[string]any) bool { return plainMatch(e.Path, paramValue{p, value}, row) })
			}
		}
		total := len(rows)
		if random.IntN(3) == 0 {
			offset, limit := random.IntN(8), random.IntN(8)
			page := fmt.Sprintf("&offset=%d&limit=%d", offset, limit)
			query, permuted = query+page, permuted+page
			rows = rows[min(offset, len(rows)):]
			rows = rows[:min(limit, len(rows))]
		}
		found += total
		got := s.Answer("GET", e.Path+"?"+query, nil)
		if want := plainJSON(t, e, rows); got.Status != 200 || string(got.Body) != want {
			t.Fatalf("%s?%s: %d\n%s\nwant\n%s", e.Path, query, got.Status, got.Body, want)
		}
		if count, _ := got.field("X-Total-Count"); count != strconv.Itoa(total) {
			t.Fatalf("%s?%s: X-Total-Count %s, want %d", e.Path, query, count, total)
		}
		csv := s.Answer("GET", e.Path+"?"+query+"&output_format=csv", nil)
		if want := plainCSV(t, e, rows); csv.Status != 200 || string(csv.Body) != want {
			t.Fatalf("%s?%s as CSV: %d\n%q\nwant\n%q", e.Path, query, csv.Status, csv.Body, want)
		}
		other := s.Answer("GET", e.Path+"?"+permuted, nil)
		tag, _ := got.field("ETag")
		if otherTag, _ := other.field("ETag"); tag != otherTag {
			t.Fatalf("%s?%s has the tag %s, %s has %s", e.Path, query, tag, permuted, otherTag)
		}
	}
	if found == 0 {
		t.Error("no list matched a row")
	}
}

// TestListKeys checks the purge keys and file names of lists.
func TestListKeys(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{SurrogateKey: true}, 30)
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprint("C", i))
	}
	for query, want := range map[string]struct{ key, file string }{
		"location_code__in=afg":                              {"loc-AFG", "conflict-events_afg_"},
		"location_code__in=SDN,AFG":                          {"", "conflict-events_AFG_SDN_"},
		"location_code__in=SDN,AFG&location_code=SDN":        {"loc-SDN", "conflict-events_SDN_AFG_SDN_"},
		"location_code__in=A%25,AFG":                         {"", "conflict-events_AFG_"},
		"location_code__in=" + strings.Join(many, ","):       {"", "conflict-events_20-codes_"},
		"location_code__in=x%22%0D%0A,AFG&admin_level__in=0": {"", "conflict-events_AFG_"},
	} {
		got := s.Answer("GET", "/api/v2/coordination-context/conflict-events?output_format=csv&app_identifier="+
			goodIdentifier+"&"+query, nil)
		keys, _ := got.field("Surrogate-Key")
		file, _ := got.field("Content-Disposition")
		if got.Status != 200 || strings.Contains(keys, "loc-") != (want.key != "") ||
			!strings.HasSuffix(keys, want.key) || !strings.Contains(file, `"`+want.file) {
			t.Errorf("%s: %d, keys %q, file %q", query, got.Status, keys, file)
		}
	}
}
