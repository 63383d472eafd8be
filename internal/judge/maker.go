package judge

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// maker generates requests. The same world and seed give the same requests.
type maker struct {
	w         *world
	rng       *rand.Rand
	endpoints []*endpoint
}

func newMaker(w *world, seed uint64) *maker {
	return &maker{w: w, rng: rand.New(rand.NewPCG(seed, 0x6a75646765)), endpoints: w.contract.Paths}
}

// only keeps the endpoints whose path contains a text.
func (m *maker) only(text string) {
	m.endpoints = slices.DeleteFunc(slices.Clone(m.endpoints),
		func(e *endpoint) bool { return !strings.Contains(e.Path, text) })
}

func pick[T any](m *maker, of []T) T { return of[m.rng.IntN(len(of))] }

func (m *maker) chance(percent int) bool { return m.rng.IntN(100) < percent }

// requests returns n requests: first the edge cases of every endpoint and parameter, then random
// ones. Two in five of these come from the shuffled list of every endpoint with every parameter and
// every kind of value, so that a few seeds cover it. The others combine parameters. For n = 0 it
// returns that list, for a negative n requests for all rows of every endpoint.
func (m *maker) requests(n int) []request {
	single := m.singles()
	switch {
	case n == 0:
		return single
	case n < 0:
		return m.everything()
	}
	m.rng.Shuffle(len(single), func(i, j int) { single[i], single[j] = single[j], single[i] })
	out := m.edges()
	if most := n * 2 / 3; len(out) > most {
		m.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:most]
	}
	for len(out) < n {
		switch k := m.rng.IntN(100); {
		case k < 40 && len(single) > 0:
			out = append(out, single[0])
			single = single[1:]
		case k < 85:
			out = append(out, m.combined())
		case k < 91:
			out = append(out, m.identified())
		case k < 96:
			out = append(out, m.routed())
		default:
			out = append(out, m.encoding())
		}
	}
	return out
}

// everything requests all rows, page by page, in both formats and all codings.
func (m *maker) everything() []request {
	var out []request
	for _, e := range m.endpoints {
		for _, format := range []string{"json", "csv"} {
			for offset := 0; offset <= len(m.w.rows[e.Path]); offset += 10000 {
				for _, coding := range []string{"identity", "gzip", "zstd"} {
					headers := map[string]string{identifierHeader: goodOne, "Accept-Encoding": coding}
					out = append(out, request{
						Method: "GET", Headers: headers,
						Path: fmt.Sprintf("%s?output_format=%s&offset=%d", e.Path, format, offset),
					})
				}
			}
		}
	}
	return out
}

// long returns n requests for many rows: half for neighbouring rows, half for rows that share a
// value with some row.
func (m *maker) long(n int) []request {
	const least = 600
	var large []*endpoint
	for _, e := range m.endpoints {
		if len(m.w.rows[e.Path]) >= least {
			large = append(large, e)
		}
	}
	var out []request
	for len(large) > 0 && len(out) < n {
		e := pick(m, large)
		rows := len(m.w.rows[e.Path])
		limit := least + m.rng.IntN(2500)
		if m.chance(5) {
			limit = 10000
		}
		pairs := []pair{{"limit", strconv.Itoa(limit)}, {"output_format", pick(m, []string{"json", "csv"})}}
		if m.chance(50) {
			pairs = append(pairs, pair{"offset", strconv.Itoa(m.rng.IntN(rows - least + 1))})
		} else {
			p := pick(m, e.Params)
			pairs = append(pairs, pair{p.Name, m.fitting(p, m.anyRow(e))})
		}
		out = append(out, m.list(e, pairs))
	}
	return out
}

// singles returns one request for every endpoint, parameter and kind of value.
func (m *maker) singles() []request {
	var out []request
	for _, e := range m.endpoints {
		for _, p := range e.Params {
			for _, draw := range m.kinds(e, p) {
				out = append(out, m.list(e, []pair{{p.Name, draw()}}))
			}
		}
		for _, p := range m.w.contract.Common {
			for _, value := range commonValues[p.Name] {
				out = append(out, m.list(e, []pair{{p.Name, value}}))
			}
		}
		out = append(out, m.list(e, nil))
	}
	return out
}

var commonValues = map[string][]string{
	"limit": {
		"0", "1", "7", "100", "10000", "10001", "-1", "", "1.0", "1.5", "1e2", " 5 ", "+5", "005", "1_0", "1__0",
		"_1", "abc", "99999999999999999999",
		"-99999999999999999999", "-0", "10000.0", "\x00", "5 5", "１",
	},
	"offset": {
		"0", "1", "10", "1000000", "-1", "", "3.0", "3.1", " 2", "99999999999999999999",
		"-99999999999999999999", "x", "+3", "0_3", "-0",
	},
	"output_format": {"csv", "json", "", "CSV", "xml", "csv ", "json,csv", "\x00"},
}

// combined is a list request with up to four filters.
func (m *maker) combined() request {
	e := pick(m, m.endpoints)
	var pairs []pair
	row := m.anyRow(e)
	bad := m.chance(12)
	for range m.rng.IntN(5) {
		p := pick(m, e.Params)
		switch {
		case bad && m.chance(60):
			pairs = append(pairs, pair{p.Name, pick(m, m.kinds(e, p))()})
		default: // all from one row, so that some answers are not empty
			pairs = append(pairs, pair{p.Name, m.fitting(p, row)})
		}
	}
	if bad {
		for _, name := range []string{"limit", "offset", "output_format"} {
			if m.chance(25) {
				pairs = append(pairs, pair{name, pick(m, commonValues[name])})
			}
		}
	}
	if m.chance(10) {
		pairs = append(pairs, pair{pick(m, []string{
			"foo", "LOCATION_CODE", "Limit", "sort_by",
			"reference_period_start_min", "location_code[]", "", "é",
		}), "x"})
	}
	if len(pairs) > 0 && m.chance(10) { // a repeated parameter: the last one counts
		p := pairs[m.rng.IntN(len(pairs))]
		for _, known := range e.Params {
			if known.Name == p.name {
				pairs = append(pairs, pair{p.name, pick(m, m.kinds(e, known))()})
			}
		}
	}
	return m.list(e, pairs)
}

var codings = []string{
	"gzip", "gzip", "zstd", "gzip, deflate, br, zstd", "gzip;q=0.8, zstd;q=0.2", "GZIP", "*", "br", "identity",
	"gzip;q=0", "gzip;q=0.5,identity;q=1", "deflate , gzip ; q=1.0",
}

// list completes a request for records: page, format, identifier, method and how its values are
// encoded.
func (m *maker) list(e *endpoint, pairs []pair) request {
	has := func(name string) bool {
		for _, p := range pairs {
			if p.name == name {
				return true
			}
		}
		return false
	}
	if !has("limit") && !has("offset") && m.chance(80) {
		pairs = append(pairs, pair{"limit", strconv.Itoa(m.rng.IntN(60))})
		if m.chance(60) {
			most := len(m.w.rows[e.Path]) * (1 + m.rng.IntN(5)) / 4
			pairs = append(pairs, pair{"offset", strconv.Itoa(m.rng.IntN(1 + most))})
		}
	}
	if !has("output_format") && m.chance(25) {
		pairs = append(pairs, pair{"output_format", pick(m, []string{"csv", "csv", "json"})})
	}
	r := request{Method: "GET", Headers: map[string]string{}}
	if m.chance(30) {
		r.Headers[pick(m, []string{identifierHeader, "x-catalog-api-app-identifier"})] = goodOne
	} else {
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
		r.Headers["Accept-Encoding"] = pick(m, codings)
	}
	r.Path = e.Path + m.query(pairs)
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
	const upper, lower = "0123456789ABCDEF", "0123456789abcdef"
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
			b.WriteString("%" + lower[c>>4:c>>4+1] + lower[c&15:c&15+1])
		default:
			b.WriteString("%" + upper[c>>4:c>>4+1] + upper[c&15:c&15+1])
		}
	}
	return b.String()
}

func identifierOf(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

var goodOne = identifierOf("judge-app:judge@example.org")

// identified returns a request that tests the identifier.
func (m *maker) identified() request {
	e := pick(m, m.endpoints)
	value := pick(m, identifiers)
	r := request{Method: pick(m, []string{"GET", "GET", "GET", "HEAD"}), Path: e.Path, Headers: map[string]string{}}
	pairs := []pair{{"limit", "2"}}
	switch m.rng.IntN(6) {
	case 0: // no identifier
	case 1, 2:
		pairs = append(pairs, pair{"app_identifier", value})
	case 3:
		if ok := printable(value); ok {
			r.Headers[identifierHeader] = value
		}
	case 4: // in both: the query wins unless it is empty
		pairs = append(pairs, pair{"app_identifier", value})
		r.Headers[identifierHeader] = pick(m, []string{goodOne, "nonsense"})
	case 5: // the last of several
		pairs = append(pairs, pair{"app_identifier", pick(m, identifiers)}, pair{"app_identifier", value})
	}
	if m.chance(10) {
		pairs = append(pairs, pair{"start_date", "bad"}, pair{"limit", "x"})
	}
	r.Path += m.query(pairs)
	return r
}

func printable(text string) bool {
	return text == strings.TrimSpace(text) && strings.Trim(text, " ") != "" &&
		!strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r > 0x7e })
}

// routed returns a request that tests paths and methods.
func (m *maker) routed() request {
	path := pick(m, m.endpoints).Path
	r := request{Method: "GET", Headers: map[string]string{}}
	if m.chance(75) {
		r.Headers[identifierHeader] = goodOne
	}
	query := pick(m, []string{"", "?limit=1", "?a=b%20c&d=%C3%A9", "?limit=1&app_identifier=" + goodOne})
	switch m.rng.IntN(8) {
	case 0:
		r.Path = pick(m, []string{
			"/api", "/api/", "/api/v2", "/api/v2/nothing", "/api/v1/metadata/location", "/api/metadata/location",
			"/apix", "/nothing", "/api/v2/metadata",
			"/API/v2/metadata/location", "/api/v2/metadata/Location", "/api/v2/metadata/location/x",
			"/api/v2/climate/hazards-rainfall", "/openapi.yaml",
			"/api/v2/util/verify-request", "/api/v2/encode_app_identifier/x", "/api/v2/metadata/wfp-market",
		}) + query
	case 1, 2:
		r.Path = path + "/" + query
	case 3:
		r.Path = pick(m, m.w.contract.Other).Path
		r.Method = pick(m, []string{"GET", "HEAD", "POST", "OPTIONS"})
	case 4, 5:
		r.Path = path + query
		r.Method = pick(m, []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"})
	case 6: // a CORS preflight request
		r = request{Method: "OPTIONS", Path: path + query, Headers: map[string]string{
			"Origin": "https://example.org", "Access-Control-Request-Method": "GET",
			"Access-Control-Request-Headers": strings.ToLower(identifierHeader),
		}}
	case 7:
		r.Path = pick(m, []string{
			"/api/v2/util/version/", "/api/v2/encode_app_identifier/", "/docs/",
			"/api/v2/nothing/", "/nothing/",
		}) + query
	}
	return r
}
