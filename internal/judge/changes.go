package judge

import (
	"encoding/json"
	"fmt"
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
	old, current := w.before.passing(e, rd), w.passing(e, rd)
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
		all, part := "\n"+strings.Join(a[i], "\n")+"\n", "\n"+strings.Join(b[i], "\n")+"\n"
		if len(b[i]) > 0 && !strings.Contains(all, part) {
			return fmt.Sprintf("body: %s rows\n    want (among) %s\n    got  %s", name, clip(fmt.Sprint(a[i])),
				clip(fmt.Sprint(b[i])))
		}
	}
	return ""
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
