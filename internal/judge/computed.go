package judge

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// A computed list is below the path of an endpoint and has its filters and pages. Its records are
// made of the rows that pass.

// computed splits the path of a computed list. The endpoint is nil if the path is of no such list.
func (w *world) computed(path string) (e *endpoint, kind string) {
	cut := strings.LastIndexByte(path, '/')
	if cut < 0 || !slices.Contains([]string{"aggregate", "facets", "changes"}, path[cut+1:]) {
		return nil, ""
	}
	return w.contract.byPath[path[:cut]], path[cut+1:]
}

// records are the answer of a computed list, before it is divided into pages.
type records struct {
	fields []string
	values [][]any
	more   string // X-Facet-More

	changes string // X-Changes
	gone    bool   // the snapshot to compare with is not held
}

func (w *world) answerComputed(e *endpoint, kind string, q query) answer {
	if name := badDate(e, q); name != "" {
		return dateAnswer(name)
	}
	rd := &reader{contract: w.contract, q: q}
	for _, p := range inOrder(w.contract, e) {
		rd.read(p)
		rd.readList(p)
	}
	onlyNewest := rd.readLatest(e)
	var all records
	switch kind {
	case "aggregate":
		all = w.aggregate(e, rd, onlyNewest)
	case "facets":
		all = w.facets(e, rd, onlyNewest)
	default:
		all = w.changes(e, rd)
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
	if format, _ := q.last("output_format"); format == "csv" {
		a.ContentType, a.File, a.Body = csvType, lastPart(e.Path), computedCSV(all.fields, all.values[from:to])
	} else {
		a.Body = computedJSON(all.fields, all.values[from:to])
	}
	a.Total, a.Hint, a.More, a.Check = &total, rd.hint(), all.more, checkSame
	if kind == "changes" {
		a.Changes, a.Check = all.changes, checkChanges
		a.Body, a.Rows = computedJSON(all.fields, all.values), to-from
	}
	return a
}

func computedJSON(fields []string, values [][]any) string {
	records := make([]string, len(values))
	for i, record := range values {
		members := make([]string, len(fields))
		for j, name := range fields {
			members[j] = quoted(name) + ":" + jsonFigure(record[j])
		}
		records[i] = "{" + strings.Join(members, ",") + "}"
	}
	return `{"data":[` + strings.Join(records, ",") + `]}`
}

func computedCSV(fields []string, values [][]any) string {
	lines := strings.Join(fields, ",") + "\r\n"
	for _, record := range values {
		cells := make([]string, len(fields))
		for j := range fields {
			if cells[j] = csvFigure(record[j]); len(fields) == 1 && cells[j] == "" {
				cells[j] = `""`
			}
		}
		lines += strings.Join(cells, ",") + "\r\n"
	}
	return lines
}

// exactText is a sum with all its digits. Sums of decimals end.
func exactText(r *big.Rat) string {
	digits, ends := r.FloatPrec()
	if !ends {
		panic(fmt.Sprintf("the sum %v does not end", r))
	}
	return r.FloatString(digits)
}

func jsonFigure(v any) string {
	switch v := v.(type) {
	case *big.Rat:
		return exactText(v)
	case jsonText:
		return string(v)
	}
	return jsonValue(v)
}

func csvFigure(v any) string {
	if r, ok := v.(*big.Rat); ok {
		return exactText(r)
	}
	return csvValue(v)
}

// aggregate is the figures of the groups of the rows that pass.
func (w *world) aggregate(e *endpoint, rd *reader, onlyNewest bool) records {
	groups, measures := rd.readGroups(e), rd.readMeasures(e)
	rows := rd.passing(w.rows[e.Path])
	if onlyNewest {
		rows = newest(seriesOf(e), rows)
	}
	if len(rd.issues) > 0 {
		return records{}
	}
	if rd.wrongSum(e, groups, measures, rows, onlyNewest) {
		rd.refuse(anyName)
		return records{}
	}
	var all records
	for _, g := range groups {
		all.fields = append(all.fields, g.name)
	}
	for _, m := range measures {
		all.fields = append(all.fields, m.name())
	}
	for _, g := range grouped(groups, rows) {
		record := slices.Clone(g.values)
		for _, m := range measures {
			record = append(record, m.of(g.rows))
		}
		all.values = append(all.values, record)
	}
	return all
}
