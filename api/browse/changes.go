package browse

import (
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

// NewChanges is a table of records of a list that differ between two snapshots, as answers to
// changes have them. Rows that were changed end with what was there before.
func NewChanges(l *lang.Language, e *contract.Endpoint, records []textual.Record) *Table {
	t := &Table{Columns: columnsOf(l, e, "")}
	t.fill(l, e, records, false, func(int) (address, name string) { return "", "" })
	before := column{Label: l.T("Before")}
	for i, r := range records {
		if r.Before != nil {
			before.Shown = true
			t.Rows[i] = append(t.Rows[i], cell{Text: wasText(l, e, *r.Before), Label: before.Label})
		}
	}
	t.Columns = append(t.Columns, before)
	return t
}

// wasText is the values of a record that differ, in the words of pages.
func wasText(l *lang.Language, e *contract.Endpoint, before textual.Record) string {
	var all []string
	for i := range e.Fields {
		f := &e.Fields[i]
		if before.Has(f.Name) {
			all = append(all, label(l, f.Name)+" "+cellOf(l, f, isNumber(f) && !isCode(f.Name), before).Text)
		}
	}
	return strings.Join(all, l.T(";")+" ")
}
