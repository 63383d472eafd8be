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
	records []headline
	from, n int
}

// headline is a figure of a place.
type headline struct {
	of                *contract.Headline
	place             string
	value             string // as JSON has it, empty for null
	start, end        aggregate.Value
	level             aggregate.Value
	units, known      aggregate.Value
	rows              int
	source            source
	updated           aggregate.Value
	complete, hasRows bool
	requests          []string
	reason            string
	refusal           string // of the aggregate
}

func (h *headlines) Fields() []contract.Field { return h.fields }
func (h *headlines) Len() int                 { return h.n }
func (h *headlines) Total() int               { return len(h.records) }

// Header implements list.Records.
func (h *headlines) Header() []reply.HeaderField { return nil }

func (h *headlines) page(r *contract.Request) {
	h.from = len(h.records)
	if r.Offset < uint64(h.from) {
		h.from = int(r.Offset)
	}
	h.n = min(r.Limit, len(h.records)-h.from)
}

// AppendCell appends a field of a record.
func (h *headlines) AppendCell(dst []byte, record, field int, csv bool) []byte {
	r := &h.records[h.from+record]
	text := func(s string) []byte {
		if s == "" {
			return render.AppendNull(dst, csv)
		}
		return render.AppendText(dst, s, csv)
	}
	switch h.fields[field].Name {
	case "figure":
		return text(r.of.Name)
	case contract.CountryParam:
		return text(r.place)
	case "value":
		if r.value == "" {
			return render.AppendNull(dst, csv)
		}
		return append(dst, r.value...)
	case "unit":
		return text(r.of.Unit)
	case "period_start":
		return appendFigure(dst, r.start, csv)
	case "period_end":
		return appendFigure(dst, r.end, csv)
	case "admin_level":
		return appendFigure(dst, r.level, csv)
	case "units":
		return appendFigure(dst, r.units, csv)
	case "units_known":
		return appendFigure(dst, r.known, csv)
	case "rows":
		return strconv.AppendInt(dst, int64(r.rows), 10)
	case "provider":
		return text(r.source.provider)
	case "dataset":
		return text(r.source.dataset)
	case "resource":
		return text(r.source.resource)
	case "updated":
		return appendFigure(dst, r.updated, csv)
	case "complete":
		if !r.hasRows {
			return render.AppendNull(dst, csv)
		}
		return render.AppendBool(dst, r.complete, csv)
	case "request":
		return appendRequests(dst, r, csv)
	}
	return text(r.reason)
}

// appendRequests appends the request that has the value, or the list of those that it is made of,
// in CSV with blanks between.
func appendRequests(dst []byte, r *headline, csv bool) []byte {
	if csv || r.of.Value == contract.Plain {
		return render.AppendText(dst, strings.Join(r.requests, " "), csv)
	}
	dst = append(dst, '[')
	for i, r := range r.requests {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = render.AppendText(dst, r, false)
	}
	return append(dst, ']')
}

// computeHeadlines finds the records of a request for headline figures.
func computeHeadlines(s *list.Lists, a *list.Reply) (list.Records, error) {
	r := &a.Request
	c, err := newHeadlineReader(s, a)
	if err != nil {
		return nil, err
	}
	if a.Endpoint.Headline == nil && !c.chosen {
		return c.declarations(), nil
	}
	found := &headlines{fields: r.Plan().Endpoint.Fields}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		if a.Endpoint.Headline != nil && a.Endpoint.Headline != h {
			continue
		}
		records, err := c.read(h)
		if err != nil {
			return nil, err
		}
		found.records = append(found.records, records...)
	}
	found.page(r)
	return found, nil
}

// read returns a figure of all places that were asked for, or of all that have one.
func (c *headlineReader) read(h *contract.Headline) ([]headline, error) {
	f := &figure{headlineReader: c, Headline: h, list: h.List(contract.ContractNames)}
	if err := f.readFacts(); err != nil {
		return nil, err
	}
	if err := f.readValues(); err != nil {
		return nil, err
	}
	var records []headline
	for _, place := range f.places() {
		r := f.of[place]
		if r == nil {
			r = &headline{}
		}
		r.of, r.place, r.requests = h, place, f.requests(place)
		if r.value == "" && r.reason == "" {
			reason, err := f.missing(r)
			if err != nil {
				return nil, err
			}
			r.reason = reason
		}
		records = append(records, *r)
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
	names := c.names
	d := &declarations{headlines: headlines{fields: contract.HeadlineList()}}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		e := h.List(names)
		filters := &queryEdit{}
		for _, pair := range h.Keep {
			filters.pairs = append(filters.pairs, [2]string{names.Name(pair[0]), pair[1]})
		}
		d.texts = append(d.texts, map[string]string{
			"name": h.Name, "title": h.Title, "unit": h.Unit, "list": e.Path, "place": h.Place,
			"filters": filters.query(), "newest": string(h.Newest), "measure": h.Formula(),
			"group_by": strings.Join(append([]string{h.Place}, h.Groups...), ","),
			"reading":  h.Reading, "not": h.NotThis, "request": c.prefix + contract.FiguresPath + "/" + h.Name,
		})
	}
	d.records = make([]headline, len(d.texts))
	d.page(&c.a.Request)
	return d
}

// declarations are records of texts.
type declarations struct {
	headlines
	texts []map[string]string
}

// AppendCell appends a field of a record.
func (d *declarations) AppendCell(dst []byte, record, field int, csv bool) []byte {
	return render.AppendText(dst, d.texts[d.from+record][d.fields[field].Name], csv)
}

// missing says why a figure has no value, with what exists nearest.
func (f *figure) missing(r *headline) (string, error) {
	if r.hasRows {
		return f.undecided(r)
	}
	if f.near == nil {
		near, err := f.readNear()
		if err != nil {
			return "", err
		}
		f.near = near
	}
	if n, has := f.near.alike[r.place]; has {
		return fmt.Sprintf("no record of %s is of the newest period; there is, of this kind: %s, of %s",
			r.place, n.records, n.span), nil
	}
	if n, has := f.near.others[r.place]; has {
		return fmt.Sprintf("no record of %s in the list %s is of this kind; there is, of other kinds or times: %s, of %s",
			r.place, f.list.Name(), n.records, n.span), nil
	}
	return fmt.Sprintf("no record of %s at any level; %s", r.place, f.near.all), nil
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
	own := without(f.pairs(f.Keep, f.given), levelParam)
	byPlace := func(pairs [][2]string) (map[string]nearRecords, error) {
		rows, err := f.ask(f.pairs(pairs, f.where()), []string{f.Place},
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
func (f *figure) undecided(r *headline) (string, error) {
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
	rows, err := f.ask(f.pairs(f.base(), [][2]string{{f.Place, r.place}}), by, "count")
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
