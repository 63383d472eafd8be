package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// maker generates requests. The same world and seed give the same requests.
type maker struct {
	w   *world
	rng *rand.Rand

	waiting [2][]request // of telling and of odd values, still to be sent
}

func (m *maker) endpoint() *endpoint { return pick(m, m.w.contract.Paths) }

func pick[T any](m *maker, of []T) T { return of[m.rng.IntN(len(of))] }

func (m *maker) chance(percent int) bool { return m.rng.IntN(100) < percent }

// The kinds of requests, and how many of 100 requests of all kinds are of each.
var requestKinds = map[string]struct {
	share int
	make  func(*maker) request
}{
	"boundary":  {25, func(m *maker) request { return m.next(0) }},
	"odd":       {15, func(m *maker) request { return m.next(1) }},
	"combined":  {20, (*maker).combined},
	"in":        {5, (*maker).severalValues},
	"fields":    {3, (*maker).fewerFields},
	"latest":    {5, (*maker).newestOnly},
	"ndjson":    {2, func(m *maker) request { return m.formatted("ndjson", func(*endpoint) bool { return true }) }},
	"geojson":   {2, func(m *maker) request { return m.formatted("geojson", hasPlaces) }},
	"aggregate": {9, (*maker).aggregated},
	"facets":    {5, (*maker).counted},
	"changes":   {5, (*maker).changed},
	"long":      {5, (*maker).long},
}

// The kinds that need nothing but rows: changes need an earlier state, long ones many rows.
const (
	extensionKinds = "in,fields,latest,ndjson,geojson,aggregate,facets"
	allKinds       = "boundary,odd,combined," + extensionKinds
)

// requests returns n requests of the named kinds.
func (m *maker) requests(kinds string, n int) ([]request, error) {
	var makers []func(*maker) request
	for name := range strings.SplitSeq(kinds, ",") {
		kind, known := requestKinds[name]
		if !known {
			return nil, fmt.Errorf("--kinds %s: there is no kind %q", kinds, name)
		}
		makers = append(makers, slices.Repeat([]func(*maker) request{kind.make}, kind.share)...)
	}
	all := make([]request, n)
	for i := range all {
		all[i] = pick(m, makers)(m)
	}
	return all, nil
}

// next sends a value at which similar rules differ (0), or one that is unusual or wrong (1): it
// takes a request from a shuffled list of one for each endpoint, parameter and value. A few hundred
// of the first kind send most such values of all parameters.
func (m *maker) next(kind int) request {
	list := &m.waiting[kind]
	if len(*list) == 0 {
		for _, e := range m.w.contract.Paths {
			*list = append(*list, m.list(e, nil))
			for _, p := range slices.Concat(e.Params, m.w.contract.Common) {
				telling, odd := m.values(e, p)
				for _, value := range [2][]string{telling, odd}[kind] {
					*list = append(*list, m.list(e, []pair{{p.Name, value}}))
				}
			}
		}
		m.rng.Shuffle(len(*list), func(i, j int) { (*list)[i], (*list)[j] = (*list)[j], (*list)[i] })
	}
	r := (*list)[0]
	*list = (*list)[1:]
	return r
}

// long is a request for many rows: for neighbours, or for rows that share a value.
func (m *maker) long() request {
	const least = 600
	e := m.fittingEndpoint(func(e *endpoint) bool { return len(m.w.rows[e.Path]) >= least })
	limit := least + m.rng.IntN(2500)
	if m.chance(5) {
		limit = 10000
	}
	pairs := []pair{{"limit", strconv.Itoa(limit)}, {"output_format", pick(m, []string{"json", "csv"})}}
	if m.chance(50) {
		pairs = append(pairs, pair{"offset", strconv.Itoa(m.rng.IntN(max(1, len(m.w.rows[e.Path])-least)))})
	} else {
		p := pick(m, e.Params)
		pairs = append(pairs, pair{p.Name, m.fitting(p, m.anyRow(e))})
	}
	return m.list(e, pairs)
}

// combined is a list request with up to four filters, all from one row, so that some answers are
// not empty. Bounds are that row's values or just above, and one request in eight has bad values.
func (m *maker) combined() request {
	e := m.endpoint()
	row := m.anyRow(e)
	bad := m.chance(12)
	var pairs []pair
	for range m.rng.IntN(5) {
		p := pick(m, e.Params)
		value := m.fitting(p, row)
		near := around(p, row.stored[storedColumn(p.Columns[0])])
		switch {
		case bad && m.chance(60):
			_, odd := m.values(e, p)
			value = pick(m, odd)
		case isBound(p) && len(near) > 0 && m.chance(50):
			value = pick(m, near)
		}
		pairs = append(pairs, pair{p.Name, value})
	}
	if bad && m.chance(50) {
		name := pick(m, []string{"limit", "offset", "output_format"})
		pairs = append(pairs, pair{name, pick(m, oddValues[name])})
	}
	if m.chance(10) {
		name := pick(m, []string{
			"foo", "LOCATION_CODE", "Limit", "sort_by", "reference_period_start_min", "location_code[]", "", "é",
		})
		pairs = append(pairs, pair{name, "x"})
	}
	if len(pairs) > 0 && m.chance(10) { // a repeated parameter: the last one counts
		if p := e.param(pick(m, pairs).name); p != nil {
			telling, odd := m.values(e, p)
			pairs = append(pairs, pair{p.Name, pick(m, append(telling, odd...))})
		}
	}
	return m.list(e, pairs)
}

// list completes a request for records: page, format, identifier, method and how its values are
// encoded.
func (m *maker) list(e *endpoint, pairs []pair) request {
	has := func(name string) bool {
		return slices.ContainsFunc(pairs, func(p pair) bool { return p.name == name })
	}
	if !has("limit") && !has("offset") && m.chance(80) {
		pairs = append(pairs, pair{"limit", strconv.Itoa(m.rng.IntN(60))})
		if m.chance(40) {
			most := len(m.w.rows[e.Path]) * (1 + m.rng.IntN(5)) / 4
			pairs = append(pairs, pair{"offset", strconv.Itoa(m.rng.IntN(1 + most))})
		}
	}
	if !has("output_format") && m.chance(25) {
		pairs = append(pairs, pair{"output_format", pick(m, []string{"csv", "csv", "json"})})
	}
	r := request{Method: "GET", Path: e.Path, Headers: map[string]string{}}
	switch {
	case m.chance(30):
		r.Headers[pick(m, []string{identifierHeader, "x-catalog-api-app-identifier"})] = goodOne
	case !has("app_identifier"):
		pairs = append(pairs, pair{"app_identifier", goodOne})
	}
	m.rng.Shuffle(len(pairs), func(i, j int) {
		if pairs[i].name != pairs[j].name { // the order of repeats matters
			pairs[i], pairs[j] = pairs[j], pairs[i]
		}
	})
	if m.chance(4) {
		r.Method = "HEAD"
	}
	if m.chance(30) {
		r.Headers["Accept-Encoding"] = pick(m, []string{"gzip", "zstd"})
	}
	r.Path += m.query(pairs)
	return r
}

// query encodes parameters in one of the ways clients do.
func (m *maker) query(pairs []pair) string {
	if len(pairs) == 0 {
		return ""
	}
	style := m.rng.IntN(4)
	parts := make([]string, 0, len(pairs)+1)
	for _, p := range pairs {
		part := escape(p.name, 0) + "=" + escape(p.value, style)
		if style == 2 && p.name != "" { // names may be escaped too
			part = fmt.Sprintf("%%%02x", p.name[0]) + escape(p.name[1:], 0) + "=" + escape(p.value, style)
		}
		if p.value == "" && style == 1 {
			part = escape(p.name, 0)
		}
		parts = append(parts, part)
		if m.chance(1) {
			parts = append(parts, "") // an empty part is ignored
		}
	}
	return "?" + strings.Join(parts, "&")
}

// escape percent-encodes. Style 0 is strict, 1 writes + for blanks, 2 uses lower-case hex, 3 keeps
// what a query may contain.
func escape(text string, style int) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0:
			b.WriteByte(c)
		case style == 1 && c == ' ':
			b.WriteByte('+')
		case style == 3 && strings.IndexByte("/:,;=?@!$'()*", c) >= 0:
			b.WriteByte(c)
		case style == 2:
			fmt.Fprintf(&b, "%%%02x", c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
