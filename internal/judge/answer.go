package judge

import (
	"slices"
	"strings"
)

// answer is the answer that the contract requires. Check selects how its body is compared with the
// server's.
type answer struct {
	Status      int
	ContentType string
	Total       *int
	File, End   string // start and end of the name of the file in which it is saved
	Hint        string // a text that X-Hint has
	More        string // X-Facet-More
	Changes     string // X-Changes
	Rows        int    // of the page, if the body has all rows
	Check       string
	Body        string
}

const (
	checkExact   = "exact"   // the same bytes
	checkReasons = "reasons" // the same except the reason why a date is bad
	checkSome    = "some"    // any body that is not empty
	checkRefused = "refused" // an error of the same parameters
	checkChanges = "changes" // a page of the same changes
	checkSame    = "same"    // the same values in the same order; numbers may be written otherwise
)

const jsonType = "application/json"

// fileFormats are the formats of answers that are saved as files, by output_format.
var fileFormats = map[string]struct {
	contentType, end string
	body             func(names []string, records [][]any, points [][2]any) string
}{
	"csv":     {"text/csv; charset=utf-8", ".csv", csvBody},
	"ndjson":  {"application/x-ndjson", ".ndjson", linesBody},
	"geojson": {"application/geo+json", ".geojson", pointsBody},
}

func jsonAnswer(status int, body string) answer {
	return answer{Status: status, ContentType: jsonType, Check: checkExact, Body: body}
}

// answer answers a request for a list, or for what is computed from one.
func (w *world) answer(r request) answer {
	path, text, _ := strings.Cut(r.Path, "?")
	e, kind := w.listOf(path)
	a := w.answerList(e, kind, readQuery(text))
	if r.Method == "HEAD" {
		a.Body, a.Check = "", checkExact
	}
	return a
}

// listOf is the endpoint of a path, and what is computed from its rows: empty for the rows.
func (w *world) listOf(path string) (e *endpoint, kind string) {
	if e = w.contract.byPath[path]; e != nil {
		return e, ""
	}
	cut := strings.LastIndexByte(path, '/')
	return w.contract.byPath[path[:cut]], path[cut+1:]
}

// records are the answer of a list, before it is divided into pages.
type records struct {
	fields []string
	values [][]any
	points [][2]any // longitude and latitude of rows
	more   string   // X-Facet-More

	changes string // X-Changes
	gone    bool   // the snapshot to compare with is not held
}

// answerList answers a list of records, or one that is computed from the rows that pass.
func (w *world) answerList(e *endpoint, kind string, q query) answer {
	if name := badDate(e, q); name != "" {
		return jsonAnswer(400, `{"detail":"Invalid `+name+
			` format. Use YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS"}`)
	}
	rd := &reader{contract: w.contract, q: q, formats: formatsOf(e, kind), levels: e.series != nil}
	rd.readAll(e)
	var all records
	switch kind {
	case "aggregate":
		all = w.aggregate(e, rd)
	case "facets":
		all = w.facets(e, rd)
	case "changes":
		all = w.changes(e, rd)
	default:
		all = w.rowsOf(e, rd)
	}
	switch {
	case len(rd.issues) > 0:
		return rd.unprocessable()
	case all.gone:
		a := jsonAnswer(410, "")
		a.Check = checkSome
		return a
	}
	total := len(all.values)
	from, to := rd.bounds(total)
	a := jsonAnswer(200, "")
	if name, _ := q.last("output_format"); fileFormats[name].body != nil {
		format, points := fileFormats[name], all.points
		if points != nil {
			points = points[from:to]
		}
		a.ContentType, a.File, a.End = format.contentType, lastPart(e.Path), format.end
		a.Body = format.body(all.fields, all.values[from:to], points)
	} else {
		a.Body = jsonBody(all.fields, all.values[from:to])
	}
	a.Total, a.Hint, a.More = &total, rd.hint(), all.more
	switch kind {
	case "":
	case "changes":
		a.Changes, a.Check = all.changes, checkChanges
		a.Body, a.Rows = jsonBody(all.fields, all.values), to-from
	default:
		a.Check = checkSame
	}
	return a
}

// rowsOf is the rows that pass, with the fields that are asked for.
func (w *world) rowsOf(e *endpoint, rd *reader) (all records) {
	fields := rd.readFields(e)
	if len(rd.issues) > 0 {
		return all
	}
	for _, f := range fields {
		all.fields = append(all.fields, f.Name)
	}
	for _, r := range w.passing(e, rd) {
		var values []any
		for _, f := range fields {
			values = append(values, r.at(f.Name))
		}
		all.values = append(all.values, values)
		all.points = append(all.points, [2]any{r.at("lon"), r.at("lat")})
	}
	return all
}

// passing is the rows that pass all filters, or those of them that are kept.
func (w *world) passing(e *endpoint, rd *reader) []row {
	return rd.keep(e, rd.passing(w.rows[e.Path]), w.rows[e.Path])
}

// passing keeps the rows that pass all filters.
func (rd *reader) passing(rows []row) []row {
	var matches []row
	for _, r := range rows {
		if !slices.ContainsFunc(rd.filters, func(keeps filter) bool { return !keeps(r) }) {
			matches = append(matches, r)
		}
	}
	return matches
}

// unprocessable is a 422. One with an error whose words are not fixed names all parameters.
func (rd *reader) unprocessable() answer {
	items := make([]string, len(rd.issues))
	check := checkExact
	var names []string
	for i, item := range rd.issues {
		items[i] = item.json()
		switch {
		case item.own:
			check = checkRefused
		case item.loose && check == checkExact:
			check = checkReasons
		}
		names = append(names, item.loc[1])
	}
	a := jsonAnswer(422, `{"detail":[`+strings.Join(items, ",")+`]}`)
	if a.Check = check; check == checkRefused {
		slices.Sort(names)
		a.Body = strings.Join(slices.Compact(names), " ")
	}
	return a
}
