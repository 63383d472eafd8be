package figures

import (
	"slices"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/api/textual"
	"hdqs/rowdiff"
)

// ChangesSource answers which rows differ between a retained snapshot and the one that
// answers.
var ChangesSource = &list.RecordSource{Kind: contract.Changes, Version: '1', Compute: findChanges}

// changeRecords are the records of a request for changes, or of a comparison of two snapshots.
type changeRecords struct {
	fields []contract.Field
	values []changeValues // of all fields but the first and the last
	tables *rowdiff.Tables
	page   []rowdiff.Change
	totals rowdiff.Totals
}

// changeValues are the values of a field in both states. Without the table there are none.
type changeValues struct {
	name         string
	position     int // in the columns that are compared, -1 if it is not one of them
	old, current *render.Values
}

// newChangeRecords prepares records of changes between two lists, with some of their fields.
func newChangeRecords(
	endpoint *contract.Endpoint, old, current *state.BoundList, fields []contract.Field,
) (*changeRecords, error) {
	var compared []string
	for i := range endpoint.Fields {
		compared = append(compared, endpoint.Fields[i].Column())
	}
	tables, err := rowdiff.Open(old.Segment, current.Segment, rowdiff.Columns{
		Key: endpoint.Key, Values: compared, Order: endpoint.Order,
	})
	if err != nil {
		return nil, err
	}
	c := &changeRecords{fields: contract.ChangeFields(fields), tables: tables}
	for i := range fields {
		name := fields[i].Column()
		v := changeValues{name: fields[i].Name, position: slices.Index(compared, name)}
		if v.old, err = old.Values(name); err == nil {
			v.current, err = current.Values(name)
		}
		if err != nil {
			return nil, err
		}
		c.values = append(c.values, v)
	}
	return c, nil
}

func (c *changeRecords) Fields() []contract.Field { return c.fields }
func (c *changeRecords) Total() int               { return c.totals.All() }
func (c *changeRecords) Len() int                 { return len(c.page) }

// Notes has the totals by kind.
func (c *changeRecords) Notes() say.Notes {
	n := &c.totals
	return say.Notes{Changes: &say.Changes{
		Added: n[rowdiff.Added], Removed: n[rowdiff.Removed], Changed: n[rowdiff.Changed],
	}}
}

// AppendCell appends a value of a record.
func (c *changeRecords) AppendCell(dst []byte, record, field int, csv bool) []byte {
	change := c.page[record]
	switch {
	case field == 0:
		return render.AppendText(dst, change.Kind.String(), csv)
	case field == len(c.fields)-1 && change.Kind != rowdiff.Changed:
		return render.AppendNull(dst, csv)
	case field == len(c.fields)-1 && csv:
		return render.AppendText(dst, string(c.appendWas(nil, change)), csv)
	case field == len(c.fields)-1:
		return c.appendWas(dst, change)
	case change.Kind == rowdiff.Removed:
		return c.values[field-1].old.AppendRow(dst, change.Old, csv)
	}
	return c.values[field-1].current.AppendRow(dst, change.New, csv)
}

// AppendText appends a value as text, but for what was there before, which Describe has.
func (c *changeRecords) AppendText(dst []byte, record, field int) (text []byte, ok bool) {
	switch change := c.page[record]; {
	case field == 0:
		return append(dst, change.Kind.String()...), true
	case field == len(c.fields)-1:
		return dst, false
	case change.Kind == rowdiff.Removed:
		return c.values[field-1].old.AppendText(dst, change.Old)
	default:
		return c.values[field-1].current.AppendText(dst, change.New)
	}
}

// Describe adds the old values that differ.
func (c *changeRecords) Describe(record int, r *textual.Record) {
	change := c.page[record]
	if change.Kind != rowdiff.Changed {
		return
	}
	var names []string
	var values []*render.Values
	for i := range c.values {
		if v := &c.values[i]; v.position >= 0 && c.tables.Differ(v.position, change) {
			names, values = append(names, v.name), append(values, v.old)
		}
	}
	r.Before = &textual.New(1, names, func(dst []byte, _, field int) ([]byte, bool) {
		return values[field].AppendText(dst, change.Old)
	})[0]
}

// appendWas appends the old values that differ, as a JSON object.
func (c *changeRecords) appendWas(dst []byte, change rowdiff.Change) []byte {
	separator := byte('{')
	for i := range c.values {
		if v := &c.values[i]; v.position >= 0 && c.tables.Differ(v.position, change) {
			dst = append(render.AppendJSONText(append(dst, separator), v.name), ':')
			dst = v.old.AppendRow(dst, change.Old, false)
			separator = ','
		}
	}
	if separator == '{' { // no field that was asked for differs
		dst = append(dst, separator)
	}
	return append(dst, '}')
}

// changes finds the rows that differ, and keeps those of the page.
func findChanges(s *list.Lists, a *list.Reply) (list.Records, error) {
	old := a.Since.List
	found, err := newChangeRecords(a.Endpoint, old, a.List, a.Request.Question.AnswerFields())
	if err != nil || old.Version == a.List.Version {
		return found, err
	}
	a.SetQuery(a.List)
	before, err := old.Passing(&a.Query)
	if err != nil {
		return nil, err
	}
	now, err := a.List.Passing(&a.Query)
	if err != nil {
		return nil, err
	}
	skip := a.Request.Question.Offset
	found.totals, err = found.tables.Compare(before, now, func(c rowdiff.Change) error {
		if skip > 0 {
			skip--
		} else if len(found.page) < a.Request.Question.Limit {
			found.page = append(found.page, c)
		}
		return nil
	})
	return found, err
}
