//go:build !race

package browse_test

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/index"
	"hdqs/internal/testkit"
)

var (
	facetPattern = regexp.MustCompile(`(?s)<h3 id="count-([a-z0-9_]+)">.*?</ul>`)
	valuePattern = regexp.MustCompile(
		`<li><a href="([^"]*)"><bdi>[^<]*</bdi></a>.*<span class="count"()>([^<]*)</span>`)
	morePattern   = regexp.MustCompile(`rel="nofollow">and (\S+) more`)
	figurePattern = regexp.MustCompile(`(?s)<section class="figure".*?</section>`)
	rowPattern    = regexp.MustCompile(
		`<tr><td><a href="([^"]*)"[^>]*>.*</a>[^\n]*</td><td class="number[^"]*"(?: title="([^"]*)")?>([^<]*)</td></tr>`)
	sourcePattern = regexp.MustCompile(`<pre class="call"><code>([^<]*)</code></pre></details>`)
	otherPattern  = regexp.MustCompile(`, in place of: |each value of: `) // than the address says
)

// TestBrowseNumbers compares the numbers on pages of random records with answers of the interface
// to the same filters: the total, the counts by value, and the figures of the chart or map. The
// judge proves those answers.
func TestBrowseNumbers(t *testing.T) {
	t.Parallel()
	s := apitest.Sample(t, state.Options{}, 300)
	random := rand.New(rand.NewPCG(testkit.Seed(), 1))
	var counts, figures, brought int
	for i := range testkit.Trials(2000, 150) {
		e := &contract.Endpoints[i%len(contract.Endpoints)]
		values := randomState(t, s, e, random)
		path := "/browse/" + e.Name() + "?" + values.Encode()
		page := apitest.Browse(s, path)
		list := s.Answer("GET", e.Path+"?"+filtersOf(values, "limit", "1"), nil)
		if page.Status == 303 {
			continue // a value with a comma, which is asked in another form
		}
		if page.Status != list.Status {
			t.Fatalf("%s: status %d, the list's is %d", path, page.Status, list.Status)
		}
		total := totalPattern.FindSubmatch(page.Body)
		if want := apitest.Header(list, "X-Total-Count"); total == nil ||
			apitest.PlainNumber(string(total[1])) != apitest.PlainNumber(want) {
			t.Errorf("%s: total %q, want %s", path, total, want)
		}
		for _, m := range facetPattern.FindAllSubmatch(page.Body, -1) {
			field, shown := string(m[1]), valuePattern.FindAllSubmatch(m[0], -1)
			counted := answeredBy(t, s, e.Path+"/facets?"+filtersOf(values, "of", field))
			counts += checkLinked(t, e, path, field, "count", shown, counted)
			for _, m := range shown { // a count is that of its link
				if field != "year" && !isPart(e, field) {
					break
				}
				link := testkit.Value(url.Parse(html.UnescapeString(string(m[1]))))(t)
				found := s.Answer("GET", e.Path+"?"+filtersOf(link.Query(), "limit", "0"), nil)
				if total := apitest.Header(found, "X-Total-Count"); apitest.PlainNumber(
					total) != apitest.PlainNumber(string(m[3])) {
					t.Errorf("%s: %s records of %s, but %s are at %s", path, m[3], field, total, link)
				}
			}
			more := 0
			if m := morePattern.FindSubmatch(m[0]); m != nil {
				more, _ = strconv.Atoi(apitest.PlainNumber(string(m[1])))
			}
			if n := bytes.Count(m[0], []byte(`class="count"`)) + more; n != len(counted) {
				t.Errorf("%s: %d values of %s, want %d", path, n, field, len(counted))
			}
		}
		section := figurePattern.Find(page.Body)
		source := sourcePattern.FindSubmatch(section)
		if source == nil {
			continue
		}
		// The page names the request for its figures, which has the filters of the page, or says
		// that the figure shows other records.
		request := testkit.Value(url.Parse(html.UnescapeString(string(source[1]))))(t)
		asked := request.Query()
		asked.Set("app_identifier", apitest.Identifier)
		first := !values.Has("measure") && !values.Has("by")
		if first && (!strings.HasSuffix(request.Path, "/aggregate") || strings.Contains(asked.Encode(), "%2C")) {
			continue // TestFirstViews of cmd/hdqs compares headline figures
		}
		said := bytes.Contains(section, []byte("This figure shows:"))
		if said && !first {
			brought++
		}
		for name := range values {
			if first && asked.Get(name) != values.Get(name) && !asked.Has(name+"__in") &&
				!otherPattern.Match(section) {
				t.Errorf("%s: the figures are those of %s", path, request)
			}
		}
		if !first && !said && asked.Encode() != filtersOf(values, "group_by", asked.Get("group_by"),
			"measures", asked.Get("measures"), "limit", asked.Get("limit")) {
			t.Errorf("%s: the figures are those of %s", path, request)
		}
		groups := answeredBy(t, s, request.Path+"?"+asked.Encode())
		field, _, _ := strings.Cut(asked.Get("group_by"), ",")
		if field == "admin1_name" && !first { // countries share names of provinces
			t.Errorf("%s: %s adds up provinces of one name", path, request)
		}
		rows := rowPattern.FindAllSubmatch(section, -1)
		figures += checkLinked(t, e, path, field, strings.ReplaceAll(asked.Get("measures"), ":", "_"), rows, groups)
	}
	t.Logf("%d counts, %d figures, %d of other records than the address says", counts, figures, brought)
	if counts < 800 || figures < 100 || brought < 5 {
		t.Error("too little was compared")
	}
}

// randomState draws a measure, a grouping, and filters by fields of one record.
func randomState(t *testing.T, s *api.Server, e *contract.Endpoint, random *rand.Rand) url.Values {
	values := url.Values{}
	records := answeredBy(t, s, e.Path+"?"+filtersOf(nil, "limit", "50"))
	for _, p := range slices.Concat(e.Place, e.Params) {
		if text, ok := records[random.IntN(len(records))][p.Name].(string); ok && text != "" && random.IntN(6) == 0 {
			if p.Type == contract.String {
				text = wildcards.Replace(text)
			}
			values.Set(p.Name, text)
		}
	}
	field := func() string { return e.Fields[random.IntN(len(e.Fields))].Name }
	for name, value := range map[string]string{"measure": field(), "by": field(), "latest": "true"} {
		if random.IntN(3) == 0 && (name != "latest" || e.Group() != "metadata") {
			values.Set(name, value)
		}
	}
	return values
}

// filtersOf is the query of a request with the filters of a page.
func filtersOf(values url.Values, more ...string) string {
	all := url.Values{"app_identifier": {apitest.Identifier}}
	for name, value := range values {
		if name != "measure" && name != "by" {
			all[name] = value
		}
	}
	for i := 0; i < len(more); i += 2 {
		all.Set(more[i], more[i+1])
	}
	return all.Encode()
}

func answeredBy(t *testing.T, s *api.Server, path string) []map[string]any {
	t.Helper()
	records, _ := apitest.Records(t, s, path)
	return records
}

// checkLinked compares numbers beside links of a page with those of records of the interface: a
// link filters by the value that its number is of. It returns how many it has compared.
func checkLinked(
	t *testing.T, e *contract.Endpoint, path, field, figure string, shown [][][]byte, records []map[string]any,
) (compared int) {
	t.Helper()
	want := map[string][]string{}                   // a code of a province can have several names
	figure, most, apart := strings.Cut(figure, ",") // rates have a figure where all records have the same one
	for _, r := range records {
		value := r["value"]
		if figure != "count" || r["field"] == nil {
			value = r[field]
		}
		number := "–" // a group that has no value
		if r[figure] != nil && (!apart || r[figure] == r[most]) {
			number = apitest.PlainNumber(fmt.Sprint(r[figure]))
		}
		want[fmt.Sprint(value)] = append(want[fmt.Sprint(value)], number)
	}
	for _, m := range shown {
		link := testkit.Value(url.Parse(html.UnescapeString(string(m[1]))))(t)
		if !link.Query().Has(field) {
			continue // a null, or a part of a period
		}
		if figure == "count" && isPart(e, field) {
			continue // the filter finds other values too
		}
		value := link.Query().Get(field)
		if isPattern(e, field) {
			text := escapes.Replace(value)
			if value != wildcards.Replace(text) {
				t.Errorf("%s: the link to %s %q has a wildcard: %s", path, field, text, link)
			}
			value = text
		}
		shown := cmp.Or(string(m[2]), string(m[3])) // the exact number, where there is a rounded one
		if compared++; !slices.Contains(want[value], apitest.PlainNumber(shown)) {
			t.Errorf("%s: the page has %s of %s %q, want %q", path, shown, field, value, want[value])
		}
	}
	return compared
}

// isPattern reports whether a filter has wildcards, which a link to a text has to escape.
func isPattern(e *contract.Endpoint, field string) bool {
	return slices.ContainsFunc(slices.Concat(e.Place, e.Params), func(p contract.Param) bool {
		return p.Name == field && (p.Op == index.Like || p.Op == index.Contains)
	})
}

// isPart reports whether a filter takes a part of a text for the whole.
func isPart(e *contract.Endpoint, field string) bool {
	return slices.ContainsFunc(e.Params, func(p contract.Param) bool {
		return p.Name == field && p.Op == index.Contains
	})
}

var (
	wildcards = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	escapes   = strings.NewReplacer(`\\`, `\`, `\%`, `%`, `\_`, `_`)
)
