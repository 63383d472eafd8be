package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/state"
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
	return append(dst, '\n')
}

// headlines are the records of a request for headline figures.
type headlines struct {
	fields  []contract.Field
	records [][]cell
	from, n int
}

// cell is a field of a record: a value, or what JSON and CSV have.
type cell struct {
	aggregate.Value
	json, csv string
}

// textCell is a text, null if it is empty.
func textCell(text string) cell {
	if text == "" {
		return cell{}
	}
	return cell{Value: aggregate.Value{Kind: aggregate.Text, Text: text}}
}

func (h *headlines) Fields() []contract.Field { return h.fields }
func (h *headlines) Len() int                 { return h.n }
func (h *headlines) Total() int               { return len(h.records) }

// Header implements list.Records.
func (h *headlines) Header() []reply.HeaderField { return nil }

// AppendCell appends a field of a record.
func (h *headlines) AppendCell(dst []byte, record, field int, csv bool) []byte {
	c := &h.records[h.from+record][field]
	switch {
	case c.json == "":
		return appendFigure(dst, c.Value, csv)
	case csv:
		return append(dst, c.csv...)
	}
	return append(dst, c.json...)
}

// page keeps the records of the request's page.
func (h *headlines) page(r *contract.Request) *headlines {
	h.from = int(min(r.Offset, uint64(len(h.records))))
	h.n = min(r.Limit, len(h.records)-h.from)
	return h
}

// headline is a figure of a place.
type headline struct {
	value        string // as JSON has it, empty for null
	start, end   aggregate.Value
	level        aggregate.Value
	units, known aggregate.Value
	rows         int
	source       source
	updated      aggregate.Value
	complete     bool
	hasRows      bool
	reason       string
	refusal      string // of the aggregate
}

// cells are the fields of the record of a figure.
func (r *headline) cells(h *contract.Headline, place string, requests []string) []cell {
	var complete aggregate.Value
	if r.hasRows {
		complete.Kind = aggregate.Bool
		if r.complete {
			complete.Int = 1
		}
	}
	cells := []cell{
		textCell(place),
		{json: r.value, csv: r.value},
		textCell(h.Unit),
		{Value: r.start},
		{Value: r.end},
		{Value: r.level},
		{Value: r.units},
		{Value: r.known},
		{Value: aggregate.Value{Kind: aggregate.Int, Int: int64(r.rows)}},
		textCell(r.source.provider), textCell(r.source.dataset), textCell(r.source.resource),
		{Value: r.updated},
		{Value: complete},
		textCell(requests[0]), textCell(r.reason),
	}
	if h.Value != contract.Plain { // the list of requests that it is made of
		list := &cells[len(cells)-2]
		list.csv = string(render.AppendText(nil, strings.Join(requests, " "), true))
		list.json = "["
		for i, request := range requests {
			if i > 0 {
				list.json += ","
			}
			list.json += string(render.AppendText(nil, request, false))
		}
		list.json += "]"
	}
	return cells
}

// computeHeadlines finds the records of a request for headline figures.
func computeHeadlines(s *list.Lists, a *list.Reply) (list.Records, error) {
	c, err := newHeadlineReader(s, a)
	if err != nil {
		return nil, err
	}
	if a.Endpoint.Headline == nil && !c.chosen {
		return c.declarations(), nil
	}
	found := &headlines{fields: a.Endpoint.Fields}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		if a.Endpoint.Headline != nil && a.Endpoint.Headline != h {
			continue
		}
		records, err := c.read(h)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if a.Endpoint.Headline == nil {
				r = append([]cell{textCell(h.Name)}, r...)
			}
			found.records = append(found.records, r)
		}
	}
	return found.page(&a.Request), nil
}

// read returns the records of a figure: of all places that were asked for, or of all that have one.
func (c *headlineReader) read(h *contract.Headline) (records [][]cell, err error) {
	f := &figure{headlineReader: c, Headline: h, list: h.List(contract.ContractNames)}
	if err := f.readFacts(); err != nil {
		return nil, err
	}
	if err := f.readValues(); err != nil {
		return nil, err
	}
	for _, place := range f.places() {
		r := f.of[place]
		if r == nil {
			r = new(headline)
		}
		if r.value == "" && r.reason == "" {
			if r.reason, err = f.missing(place, r); err != nil {
				return nil, err
			}
		}
		records = append(records, r.cells(h, place, f.requests(place)))
	}
	return records, nil
}

// places are the countries that were asked for, or those that have rows, by code.
func (f *figure) places() []string {
	if f.chosen {
		return f.codes
	}
	var codes []string
	for code := range f.of {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// declarations are the records that declare the figures.
func (c *headlineReader) declarations() list.Records {
	d := &headlines{fields: contract.HeadlineList()}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		filters := new(queryEdit)
		for _, pair := range h.Keep {
			filters.pairs = append(filters.pairs, [2]string{c.names.Name(pair[0]), pair[1]})
		}
		var record []cell
		for _, text := range []string{
			h.Name, h.Title, h.Unit, h.List(c.names).Path, h.Place, filters.query(), string(h.Newest), h.Formula(),
			strings.Join(append([]string{h.Place}, h.Groups...), ","), h.Reading, h.NotThis,
			c.prefix + contract.FiguresPath + "/" + h.Name,
		} {
			record = append(record, cell{Value: aggregate.Value{Kind: aggregate.Text, Text: text}})
		}
		d.records = append(d.records, record)
	}
	return d.page(&c.a.Request)
}

// missing says why a figure has no value, with what exists nearest.
func (f *figure) missing(place string, r *headline) (string, error) {
	if r.hasRows {
		return f.undecided(place, r)
	}
	if f.near == nil {
		near, err := f.readNear()
		if err != nil {
			return "", err
		}
		f.near = near
	}
	if n, has := f.near.alike[place]; has {
		return fmt.Sprintf("no record of %s is of the newest period; there is, of this kind: %s, of %s",
			place, n.records, n.span), nil
	}
	if n, has := f.near.others[place]; has {
		return fmt.Sprintf("no record of %s in the list %s is of this kind; there is, of other kinds or times: "+
			"%s, of %s", place, f.list.Name(), n.records, n.span), nil
	}
	return fmt.Sprintf("no record of %s at any level; %s", place, f.near.all), nil
}

// near is what exists of a figure apart from its rows: of each place the records of the same kind,
// and all of its records, and of which countries and time there are any.
type near struct {
	alike, others map[string]nearRecords
	all           string
}

type nearRecords struct{ records, span string }

// readNear finds what exists for the places that were asked for.
func (f *figure) readNear() (*near, error) {
	own := without(slices.Concat(f.Keep, f.given), levelColumn)
	byPlace := func(pairs [][2]string) (map[string]nearRecords, error) {
		rows, err := f.ask(slices.Concat(pairs, f.where()), []string{f.Place},
			"count", "min:"+contract.PeriodStart, "max:"+contract.PeriodStart)
		if err != nil {
			return nil, err
		}
		all := map[string]nearRecords{}
		for i := range rows.len() {
			n := nearRecords{counted(rows.at(i, 1).Int, "record"), dayText(rows.at(i, 2))}
			if last := dayText(rows.at(i, 3)); last != n.span {
				n.span += " to " + last
			}
			all[rows.at(i, 0).Text] = n
		}
		return all, nil
	}
	found := new(near)
	var err error
	if found.alike, err = byPlace(own); err != nil {
		return nil, err
	}
	if found.others, err = byPlace(nil); err != nil {
		return nil, err
	}
	rows, err := f.ask(own, nil, "distinct:"+f.Place, "max:"+contract.PeriodStart)
	if err != nil {
		return nil, err
	}
	found.all = "the list " + f.list.Name() + " has no such record at all"
	if countries := rows.at(0, 0).Int; countries > 0 {
		found.all = fmt.Sprintf("the list %s has such records of %s, the newest of %s", f.list.Name(),
			counted(countries, "country"), dayText(rows.at(0, 1)))
	}
	return found, nil
}

// counted is a number of things in words.
func counted(n int64, thing string) string {
	if n != 1 {
		thing = strings.TrimSuffix(thing, "y") + map[bool]string{true: "ies", false: "s"}[strings.HasSuffix(thing, "y")]
	}
	return strconv.FormatInt(n, 10) + " " + thing
}

// undecided says why rows of a place make no value.
func (f *figure) undecided(place string, r *headline) (string, error) {
	var by []string
	for i := range f.list.Dimensions {
		if d := &f.list.Dimensions[i]; d.Kind == contract.Overlapping {
			by = append(by, d.Field)
		}
	}
	if r.refusal == "" {
		return "its records have no value for it", nil
	}
	if by == nil || f.Value != contract.Plain {
		return r.refusal, nil
	}
	rows, err := f.ask(slices.Concat(f.base(), [][2]string{{f.Place, place}}), by, "count")
	if err != nil {
		return "", err
	}
	var all []string
	for i := range rows.len() {
		var values []string
		for k := range by {
			values = append(values, cmp.Or(rows.at(i, k).String(), "(empty)"))
		}
		all = append(all, "("+strings.Join(values, ", ")+")")
	}
	const most = 6
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	if len(all) < 2 {
		return r.refusal, nil
	}
	return fmt.Sprintf("the newest records count the same people several times, by %s: %s",
		strings.Join(by, ", "), strings.Join(all, ", ")), nil
}
