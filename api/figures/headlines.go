package figures

import (
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// HeadlineSource answers with headline figures: with the declarations of all, with all figures of
// some countries, or with one figure. Each is made of requests for aggregates that a client could
// send, and passes the same checks of sums.
var HeadlineSource = &list.RecordSource{
	Kind: contract.Figures, Version: '1', Long: true, Compute: computeHeadlines, Seed: headlineSeed,
}

// headlineSeed is what entity tags of headline figures depend on besides the list of the figure and
// the query: which figure it is, and lists that say where rows are from.
func headlineSeed(dst []byte, e *contract.Endpoint, b *state.Bound) []byte {
	dst = append(append(dst, e.Path...), '\n')
	for i := range contract.Endpoints {
		dst = append(dst, b.Lists[contract.Endpoints[i].Path].Version...)
	}
	if e.History {
		dst = append(dst, b.Figures.SHA256...)
	}
	if e.Path == contract.GroupsPath {
		dst = append(dst, b.Groups.Digest...)
	}
	return append(dst, '\n')
}

// table are records that are there. A field is an aggregate.Value, a number, a boolean, a text to
// people, or a list of requests; nil is null. After its fields a record can have the question that
// its figure is made of, or the first of several.
type table struct {
	fields  []contract.Field
	records [][]any
	from, n int // of the page
	notes   say.Notes
}

// number is a number as JSON has it.
type number string

// textOf is a text, null if it is empty.
func textOf(text string) aggregate.Value {
	if text == "" {
		return aggregate.Value{}
	}
	return aggregate.Value{Kind: aggregate.Text, Text: text}
}

func (t *table) Fields() []contract.Field { return t.fields }
func (t *table) Len() int                 { return t.n }
func (t *table) Total() int               { return len(t.records) }

// Notes implements list.Records.
func (t *table) Notes() say.Notes { return t.notes }

// Describe adds of which requests and rows a figure is made, and why it has no value.
func (t *table) Describe(record int, r *textual.Record) {
	r.Requests = []string{r.Value("request")} // or several
	for _, value := range t.records[t.from+record] {
		switch value := value.(type) {
		case say.Text:
			r.Reason = value
		case []string:
			r.Requests = value
		case *contract.Question:
			r.Rows = value
		}
	}
}

// AppendCell appends a field of a record.
func (t *table) AppendCell(dst []byte, record, field int, csv bool) []byte {
	value := t.records[t.from+record][field]
	if written, is := value.(number); is {
		return append(dst, written...)
	}
	if texts, is := value.([]string); is && !csv {
		separator := byte('[')
		for _, text := range texts {
			dst = render.AppendText(append(dst, separator), text, csv)
			separator = ','
		}
		return append(dst, ']')
	}
	return appendFigure(dst, t.Value(record, field), csv)
}

// Value is a field of a record: of a list, its texts with blanks between them.
func (t *table) Value(record, field int) aggregate.Value {
	switch value := t.records[t.from+record][field].(type) {
	case number:
		return aggregate.Value{Kind: aggregate.Decimal, Text: string(value)}
	case bool:
		v := aggregate.Value{Kind: aggregate.Bool}
		if value {
			v.Int = 1
		}
		return v
	case []string:
		return textOf(strings.Join(value, " "))
	case say.Text:
		return textOf(value.String())
	case aggregate.Value:
		return value
	}
	return aggregate.Value{}
}

// computeHeadlines finds the records of a request for headline figures.
func computeHeadlines(s *list.Lists, a *list.Reply) (list.Records, error) {
	if a.Endpoint.History {
		return computeHistory(s, a)
	}
	c, err := newHeadlineReader(s, a)
	if err != nil {
		return nil, err
	}
	if a.Endpoint.Path == contract.GroupsPath {
		return c.listGroups(), nil
	}
	one := a.Endpoint.Headline
	found := &table{fields: a.Endpoint.Fields}
	if one == nil && !c.chosen {
		found.fields, found.records = contract.HeadlineList, c.declarations()
		found.from, found.n = pageOf(&a.Request.Question, len(found.records))
		return found, nil
	}
	asked := []*contract.Headline{one}
	if one == nil {
		asked = contract.Headlines
	}
	for _, h := range asked {
		records, err := c.read(h)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if one == nil {
				r = slices.Insert(r, 0, any(textOf(h.Name)))
			}
			found.records = append(found.records, r)
		}
	}
	found.notes.Hints = list.NameHints(&a.Request.Question, a.Served.Bound, a.List, len(found.records))
	found.from, found.n = pageOf(&a.Request.Question, len(found.records))
	return found, nil
}

// declarations are the records that declare the figures.
func (c *headlineReader) declarations() (records [][]any) {
	for _, h := range contract.Headlines {
		var record []any
		for _, text := range []string{
			h.Name, h.Title, h.Unit, h.List(c.names).Path, h.Place, h.Question(c.names).Text(), string(h.Newest),
			h.Formula(), strings.Join(append([]string{h.Place}, h.Groups...), ","), h.Reading, h.NotThis,
			c.prefix + contract.FiguresPath + "/" + h.Name,
		} {
			record = append(record, aggregate.Value{Kind: aggregate.Text, Text: text})
		}
		records = append(records, record)
	}
	return records
}

// recordsOfAll says of which countries and time there are records of the kind of a figure.
func (f *figure) recordsOfAll(kind *contract.Question) (records say.Text, err error) {
	if !f.everywhere.IsZero() {
		return f.everywhere, nil
	}
	rows, err := f.ask(kind, nil, "distinct:"+f.Place, "max:"+contract.PeriodStart)
	if err != nil {
		return records, err
	}
	var of say.Text
	switch countries := rows.at(0, 0).Int; countries {
	case 0:
		f.everywhere = say.Of("the list %s has no such record at all", f.list.Name())
		return f.everywhere, nil
	case 1:
		of = say.Of("1 country")
	default:
		of = say.Of("%s countries", countries)
	}
	newest := monthText(rows.at(0, 1))
	f.everywhere = say.Of("the list %s has such records of %s, the newest of %s", f.list.Name(), of, newest)
	return f.everywhere, nil
}

// recordsOf says how many records there are of each place, and of which time.
func (f *figure) recordsOf(q *contract.Question) (map[string]say.Text, error) {
	rows, err := f.ask(q, []string{f.Place}, "count", "min:"+contract.PeriodStart, "max:"+contract.PeriodStart)
	if err != nil {
		return nil, err
	}
	texts := map[string]say.Text{}
	for i := range rows.len() {
		n, first, last := rows.at(i, 1).Int, monthText(rows.at(i, 2)), monthText(rows.at(i, 3))
		text := say.Of("%s records, of %s to %s", n, first, last)
		switch {
		case n == 1:
			text = say.Of("1 record, of %s", first)
		case first.String() == last.String():
			text = say.Of("%s records, of %s", n, first)
		}
		texts[rows.at(i, 0).Text] = text
	}
	return texts, nil
}
