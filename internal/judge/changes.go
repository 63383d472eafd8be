package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// jsonText is a value that is JSON already.
type jsonText string

// changes is what is different from an earlier state of the rows: of rows with one key, equal ones
// go together first, then the others in the order of the tables.
func (w *world) changes(e *endpoint, rd *reader) records {
	fields := rd.readFields(e)
	since, sent := rd.q.last("since")
	if !sent || since == "" || strings.Trim(since, idLetters) != "" || len(since) > 128 {
		rd.refuse("since")
	}
	var all records
	all.fields = []string{"change"}
	for _, f := range fields {
		all.fields = append(all.fields, f.Name)
	}
	all.fields = append(all.fields, "was")
	if len(rd.issues) > 0 || since != w.since {
		all.gone = since != w.since
		return all
	}
	old, current := rd.passing(w.before.rows[e.Path]), rd.passing(w.rows[e.Path])
	waiting := map[string][]int{} // positions in old, by key
	equal := map[string][]int{}   // by all values
	for i, r := range old {
		key, record := r.compared(e)
		waiting[key] = append(waiting[key], i)
		equal[record] = append(equal[record], i)
	}
	was := make([]*row, len(current))
	matched, same := make([]bool, len(old)), make([]bool, len(current))
	for i, r := range current {
		_, record := r.compared(e)
		if found := equal[record]; len(found) > 0 {
			matched[found[0]], same[i], equal[record] = true, true, found[1:]
		}
	}
	for i, r := range current {
		key, _ := r.compared(e)
		for !same[i] && was[i] == nil && len(waiting[key]) > 0 {
			at := waiting[key][0]
			waiting[key] = waiting[key][1:]
			if !matched[at] {
				matched[at], was[i] = true, &old[at]
			}
		}
	}
	counts := map[string]int{}
	add := func(kind string, r row, before *row) {
		counts[kind]++
		record := []any{kind}
		for _, f := range fields {
			record = append(record, r.at(f.Name))
		}
		all.values = append(all.values, append(record, wasText(fields, r, before)))
	}
	for i, r := range current {
		switch {
		case same[i]:
		case was[i] == nil:
			add("added", r, nil)
		default:
			add("changed", r, was[i])
		}
	}
	for i, r := range old {
		if !matched[i] {
			add("removed", r, nil)
		}
	}
	all.changes = fmt.Sprintf("added=%d, removed=%d, changed=%d", counts["added"], counts["removed"], counts["changed"])
	return all
}

const idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

// wasText is the old values that differ, as JSON.
func wasText(fields []*field, r row, before *row) any {
	if before == nil {
		return nil
	}
	var members []string
	for _, f := range fields {
		if old := before.at(f.Name); valueKey(old) != valueKey(r.at(f.Name)) {
			members = append(members, quoted(f.Name)+":"+jsonValue(old))
		}
	}
	return jsonText("{" + strings.Join(members, ",") + "}")
}

// changesDifference compares a page of changes. Where rows that are gone stand among the others is
// not fixed; each of both kinds come in the order of their table.
func changesDifference(want, got string) string {
	a, errA := divided(want)
	b, errB := divided(got)
	if errA != nil || errB != nil {
		return fmt.Sprintf("body: %v, %v in %s", errA, errB, clip(got))
	}
	for i, name := range []string{"removed", "other"} {
		if !isStretch(b[i], a[i]) {
			return fmt.Sprintf("body: %s rows\n    want (among) %s\n    got  %s", name, clip(fmt.Sprint(a[i])),
				clip(fmt.Sprint(b[i])))
		}
	}
	return ""
}

func isStretch(part, all []string) bool {
	if len(part) == 0 {
		return true
	}
	for from := range all {
		if from+len(part) <= len(all) && slices.Equal(all[from:from+len(part)], part) {
			return true
		}
	}
	return false
}

// divided reads the records of changes: those that were removed, and the others.
func divided(body string) (parts [2][]string, err error) {
	var all struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		return parts, err
	}
	for _, record := range all.Data {
		tokens, err := values(string(record))
		if err != nil {
			return parts, err
		}
		at := 1
		if len(tokens) > 2 && tokens[2] == `"removed"` {
			at = 0
		}
		parts[at] = append(parts[at], strings.Join(tokens, " "))
	}
	return parts, nil
}

// changed is a request for what is different.
func (m *maker) changed() request {
	e := pick(m, m.endpoints)
	pairs := m.filters(e, 2)
	since := m.w.since
	switch {
	case m.chance(2):
		since = pick(m, []string{"", "a b", "é", strings.Repeat("x", 129)})
	case m.chance(2):
		since = "nothing"
	}
	if m.chance(98) {
		pairs = append(pairs, pair{"since", since})
	}
	if m.chance(25) {
		pairs = append(pairs, pair{"fields", strings.Join(someNames(m.rng, fieldNames(e), 6), ",")})
	}
	pairs = append(pairs, pair{"output_format", "json"})
	return below(m.list(e, m.page(pairs)), e, "changes")
}

// editor makes a later edition of dumps: of one row in ten a figure differs, or its row is gone, or
// it is there once more from another day.
type editor struct {
	contract *contract
	rng      *rand.Rand
}

func (d *editor) edit(e *endpoint, records [][]string) [][]string {
	if e.Group == "metadata" {
		return records
	}
	header := records[0]
	out := [][]string{header}
	for _, record := range records[1:] {
		record = slices.Clone(record)
		if d.rng.IntN(10) > 0 {
			out = append(out, record)
			continue
		}
		switch d.rng.IntN(3) {
		case 0: // gone
			continue
		case 1:
			out = append(out, slices.Clone(record))
			d.move(header, record)
		case 2:
			d.figures(e, header, record)
		}
		out = append(out, record)
	}
	return out
}

// move lets a record be from some years earlier.
func (d *editor) move(header, record []string) {
	years := 1 + d.rng.IntN(5)
	for column, name := range header {
		if !strings.HasPrefix(name, "reference_period_") || record[column] == "" {
			continue
		}
		if at, err := timestamp(record[column]); err == nil {
			record[column] = at.AddDate(-years, 0, 0).Format("2006-01-02 15:04:05")
		}
	}
}

// figures changes numbers of a record, and the end of its period.
func (d *editor) figures(e *endpoint, header, record []string) {
	for column, raw := range header {
		name := contractName(e.Path, raw)
		kind := kindOf(e.field(name), name)
		inKey := slices.Contains(keys[lastPart(e.Path)], name) || fixedColumn(e, raw) || name == "lat" || name == "lon"
		if inKey || kind != "int" && kind != "dec" || strings.HasSuffix(name, "_age") || d.rng.IntN(2) > 0 {
			continue
		}
		record[column] = fmt.Sprint(d.rng.IntN(1000))
	}
}

// editDumps writes a later edition of a directory of dumps to another. The list of availability is
// left out: it follows from the rows.
func (d *editor) editDumps(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	g := &garbler{rng: d.rng}
	for _, e := range d.contract.Paths {
		view := dumpOf(e.Path)
		text, err := readMaybeGzip(filepath.Join(from, view+".csv"))
		if errors.Is(err, fs.ErrNotExist) || view == "data_availability_view" {
			continue
		}
		if err != nil {
			return err
		}
		records, err := splitCSV(strings.TrimPrefix(text, "\ufeff"))
		if err == nil {
			err = g.write(filepath.Join(to, view+".csv"), d.edit(e, records))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", view, err)
		}
	}
	return g.copyBeside(from, to)
}
