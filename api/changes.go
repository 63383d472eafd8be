package api

import (
	"errors"
	"fmt"
	"slices"

	"hdqs/api/contract"
	"hdqs/api/render"
	"hdqs/index"
	"hdqs/rowdiff"
)

// changesComputation answers which rows differ between a retained snapshot and the one that
// answers.
var changesComputation = &computation{kind: contract.Changes, version: '1', compute: (*Server).changes}

// headerChanges has the totals by kind: added=1, removed=2, changed=3.
const headerChanges = "X-Changes"

// changeRecords are the records of a request for changes, or of a comparison of two snapshots.
type changeRecords struct {
	fields []contract.Field
	values []changeValues // of all fields but the first and the last
	tables *rowdiff.Tables
	page   []rowdiff.Change
	totals rowdiff.Totals
	was    []byte // buffer
}

// changeValues are the values of a field in both states. Without the table there are none.
type changeValues struct {
	name         string
	position     int // in the columns that are compared, -1 if it is not one of them
	old, current *render.Values
}

// newChangeRecords prepares records of changes between two lists, with some of their fields.
func newChangeRecords(
	endpoint *contract.Endpoint, old, current *boundList, fields []contract.Field,
) (*changeRecords, error) {
	var compared []string
	for i := range endpoint.Fields {
		compared = append(compared, endpoint.Fields[i].Column())
	}
	tables, err := rowdiff.Open(old.segment, current.segment, rowdiff.Columns{
		Key: endpoint.Key, Values: compared, Order: endpoint.Order,
	})
	if err != nil {
		return nil, err
	}
	c := &changeRecords{fields: contract.ChangeFields(fields), tables: tables}
	for i := range fields {
		name := fields[i].Column()
		v := changeValues{name: fields[i].Name, position: slices.Index(compared, name)}
		if v.old, err = old.values(name); err == nil {
			v.current, err = current.values(name)
		}
		if err != nil {
			return nil, err
		}
		c.values = append(c.values, v)
	}
	return c, nil
}

// values are the values of a column, nil without the table.
func (l *boundList) values(column string) (*render.Values, error) {
	if l.segment == nil {
		return nil, nil
	}
	c, err := l.segment.Column(column)
	if err != nil {
		return nil, err
	}
	return render.NewValues(c), nil
}

func (c *changeRecords) Fields() []contract.Field { return c.fields }
func (c *changeRecords) Total() int               { return c.totals.All() }
func (c *changeRecords) Len() int                 { return len(c.page) }

// Header has the totals by kind. Only here browsers need to know the field.
func (c *changeRecords) Header() []HeaderField {
	return []HeaderField{
		{headerChanges, fmt.Sprintf("added=%d, removed=%d, changed=%d",
			c.totals[rowdiff.Added], c.totals[rowdiff.Removed], c.totals[rowdiff.Changed])},
		{"Access-Control-Expose-Headers", exposedHeaders + ", " + headerChanges},
	}
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
		c.was = c.appendWas(c.was[:0], change)
		return render.AppendText(dst, string(c.was), csv)
	case field == len(c.fields)-1:
		return c.appendWas(dst, change)
	case change.Kind == rowdiff.Removed:
		return c.values[field-1].old.AppendRow(dst, change.Old, csv)
	}
	return c.values[field-1].current.AppendRow(dst, change.New, csv)
}

// appendWas appends the old values that differ, as a JSON object.
func (c *changeRecords) appendWas(dst []byte, change rowdiff.Change) []byte {
	separator := byte('{')
	for i := range c.values {
		v := &c.values[i]
		if v.position < 0 || !c.tables.Differ(v.position, change) {
			continue
		}
		dst = append(render.AppendJSONText(append(dst, separator), v.name), ':')
		dst = v.old.AppendRow(dst, change.Old, false)
		separator = ','
	}
	if separator == '{' { // no field that was asked for differs
		dst = append(dst, separator)
	}
	return append(dst, '}')
}

// changes finds the rows that differ, and keeps those of the page.
func (s *Server) changes(a *reply) (records, error) {
	old := a.since.list
	found, err := newChangeRecords(a.endpoint, old, a.list, a.request.AnswerFields())
	if err != nil || old.version == a.list.version {
		return found, err
	}
	a.list.setQuery(a.scratch)
	before, err := old.passing(&a.query)
	if err != nil {
		return nil, s.sinceFailed(a, err)
	}
	now, err := a.list.passing(&a.query)
	if err != nil {
		return nil, err
	}
	skip := a.request.Offset
	found.totals, err = found.tables.Compare(before, now, func(c rowdiff.Change) error {
		if skip > 0 {
			skip--
		} else if len(found.page) < a.request.Limit {
			found.page = append(found.page, c)
		}
		return nil
	})
	return found, err
}

// passing are the rows of a list that pass, nil without the table.
func (l *boundList) passing(q *index.Query) (*index.Passing, error) {
	if l.index == nil {
		return nil, nil
	}
	return l.index.Passing(q)
}

// sinceList is the list of a request in the snapshot that it names in since.
type sinceList struct {
	served *served
	list   *boundList
}

// holds reports whether the snapshot with an id is the current one or retained.
func (s *Server) holds(id string) bool {
	if s.currentID() == id {
		return true
	}
	s.retained.Lock()
	defer s.retained.Unlock()
	return s.currentID() == id || slices.ContainsFunc(s.retained.entries, func(v *served) bool { return v.id == id })
}

// goneSince is the error of a request whose snapshot in since is not held.
func (s *Server) goneSince() error { return &Gone{Current: s.currentID(), Since: true} }

// openSince acquires the list to compare with.
func (s *Server) openSince(a *reply) error {
	v := s.acquirePinned(a.request.Since)
	if v == nil {
		return s.goneSince()
	}
	a.since = sinceList{v, v.bound.lists[a.endpoint.Path]}
	if a.since.list.isSuspect() {
		v.release(s.log)
		return s.sinceRefusal(a)
	}
	return nil
}

// endSince releases the list to compare with. If its segment was damaged meanwhile, there is no
// result, and err becomes the refusal. Other panics go on.
func (s *Server) endSince(a *reply, result *finished, err *error) {
	fault := recover()
	defer a.since.served.release(s.log)
	if fault != nil && !s.wasFault(a.since.list, fault) {
		panic(fault)
	}
	if a.since.list.isSuspect() {
		a.ctx.Response.ResetBody()
		*result, *err = finished{}, s.sinceRefusal(a)
	}
}

// sinceFailed returns the error to answer with after the query of the list to compare with failed.
func (s *Server) sinceFailed(a *reply, err error) error {
	if errors.Is(err, index.ErrPosting) {
		s.suspect(a.since.list.version, a.since.list.segment, byChecksum, err)
		return s.sinceRefusal(a)
	}
	return err
}

// sinceRefusal is the error for a list to compare with that is damaged. Only the current snapshot's
// are healed.
func (s *Server) sinceRefusal(a *reply) error {
	if a.request.Since == s.currentID() {
		return &Refused{Table: a.endpoint.Table}
	}
	return s.goneSince()
}
