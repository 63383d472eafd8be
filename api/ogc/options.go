package ogc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/index"
)

// Page sizes.
const (
	usualLimit = 1000
	htmlLimit  = 100
	maxHTML    = 1000 // pages are made as a whole, and not while they are sent
	maxLimit   = contract.MaxLimit
)

// tokenMark is between the state of the data and the number of the feature in a token. It changes
// with the order of features: a token of another order would repeat some and leave out others.
const tokenMark = "~g"

// options are the parameters of a request for items.
type options struct {
	limit   int
	skip    uint64
	one     bool   // only the feature with a code, which is no page
	state   string // of the data, by the token; empty for the current one
	boxes   []box  // of bbox: two across the antimeridian, nil without
	from    int64  // of datetime: features end at it or later, and begin before next
	next    int64
	equal   map[string]string
	filters []index.Filter // of rows
	own     []byte         // the list's own parameters, as a query
	group   string         // of countries, of areas
	members []string       // its countries; nil without a group

	countries map[string]string // of units, where a group is asked for
}

// newOptions are the options of a request that restricts nothing.
func newOptions(limit int) *options {
	return &options{
		limit: limit, from: math.MinInt64, next: math.MaxInt64, equal: map[string]string{},
	}
}

// box is west, south, east and north.
type box [4]float64

// readOptions reads the parameters of items.
func (a *request) readOptions(c *collection) (o *options, err error) {
	o = newOptions(usualLimit)
	if a.html {
		o.limit = htmlLimit
	}
	for name := range a.sent {
		switch text := a.sent.Get(name); name {
		case "limit":
			n, bad := strconv.ParseUint(text, 10, 32)
			if bad != nil && !errors.Is(bad, strconv.ErrRange) || n == 0 {
				return nil, invalid("limit is %s; want a number from 1 to %d", list.Quoted(text), maxLimit)
			}
			o.limit = int(min(n, maxLimit)) // as the standard says of greater ones
			if a.html {
				o.limit = min(o.limit, maxHTML)
			}
		case "bbox":
			err = o.readBox(c, text)
		case "datetime":
			err = o.readTime(c, text)
		case "token":
			state, skip, found := strings.Cut(text, tokenMark)
			o.state = state
			if o.skip, err = strconv.ParseUint(skip, 10, 32); err != nil || !found || state == "" {
				return nil, invalid("the token %s is of no next page; begin with the first page", list.Quoted(text))
			}
		default:
			err = o.readParam(c, name, text)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// readParam reads a filter.
func (o *options) readParam(c *collection, name, text string) error {
	at := slices.IndexFunc(c.params, func(p param) bool { return p.name == name })
	if at < 0 {
		return invalid("there is no parameter %s; this address takes limit, bbox, datetime, token, f and what "+
			"collections/%s/queryables lists", list.Quoted(name), c.id)
	}
	p := &c.params[at]
	if p.field == nil && c.level != ofList {
		o.group = text
		return nil
	}
	if p.field == nil {
		o.own = fmt.Appendf(o.own, "%s=%s&", name, url.QueryEscape(text))
		return nil
	}
	o.equal[name] = text
	if c.level != ofList {
		return nil
	}
	filters, ok := equals(p.field, text)
	if !ok {
		schema := schemaOf(p.kind, p.enum)
		want := cmp.Or(schema["format"], schema["type"])
		if p.enum != nil {
			want = "value that queryables lists"
		}
		return invalid("%s is %s, which is no %v", name, list.Quoted(text), want)
	}
	o.filters = append(o.filters, filters...)
	return nil
}

// equals are filters of rows whose field has a value. ok is false if no value of the field is so
// written.
func equals(f *contract.Field, text string) (filters []index.Filter, ok bool) {
	same := func(v index.Value) []index.Filter {
		return []index.Filter{{Columns: []string{f.Column()}, Op: index.Equal, Value: v}}
	}
	switch f.Type {
	case contract.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return same(index.Value{Int: n}), err == nil
	case contract.Number, contract.Exact:
		x, err := strconv.ParseFloat(text, 64)
		return []index.Filter{within(f.Column(), [][2]float64{{x, x}})}, err == nil
	case contract.Boolean:
		set, err := strconv.ParseBool(text)
		v := index.Value{}
		if set {
			v.Int = 1
		}
		return same(v), err == nil
	case contract.DateTime:
		from, next, ok := instant(text)
		return []index.Filter{
			{Columns: []string{f.Column()}, Op: index.AtLeast, Value: index.Value{Int: from}},
			{Columns: []string{f.Column()}, Op: index.Below, Value: index.Value{Int: next}},
		}, ok
	}
	return same(index.Value{Text: text}), f.Enum == nil || slices.Contains(f.Enum.Values, text)
}

// within is a filter of rows whose number is in one of some ranges, their ends included.
func within(column string, ranges [][2]float64) index.Filter {
	t := &index.Test{Key: "within"}
	for _, r := range ranges {
		for _, end := range r {
			t.Key += " " + strconv.FormatFloat(end, 'g', -1, 64)
			t.Floats = append(t.Floats, end)
		}
	}
	t.Float = func(x float64) bool {
		return slices.ContainsFunc(ranges, func(r [2]float64) bool { return r[0] <= x && x <= r[1] })
	}
	return index.Filter{Columns: []string{column}, Op: index.Tested, Test: t}
}

// readBox reads a bbox. One whose west is greater than its east crosses the antimeridian.
func (o *options) readBox(c *collection, text string) error {
	parts := strings.Split(text, ",")
	numbers := make([]float64, len(parts))
	for i, part := range parts {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if numbers[i] = x; err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return invalid("bbox is %s; want west,south,east,north in degrees", list.Quoted(text))
		}
	}
	if len(numbers) == 6 { // with heights, which places have none of
		numbers = []float64{numbers[0], numbers[1], numbers[3], numbers[4]}
	}
	if len(numbers) != 4 || numbers[1] > numbers[3] {
		return invalid("bbox is %s; want west,south,east,north in degrees, south at most north", list.Quoted(text))
	}
	b := box(numbers)
	if b[2]-b[0] >= 360 {
		b[0], b[2] = -180, 180
	}
	for _, i := range []int{0, 2} { // maps that go on beyond 180 degrees ask so
		if math.Abs(b[i]) > 180 {
			b[i] = math.Remainder(b[i], 360)
		}
	}
	o.boxes = []box{b}
	if b[0] > b[2] {
		o.boxes = []box{{b[0], b[1], 180, b[3]}, {-180, b[1], b[2], b[3]}}
	}
	if c.level == ofList {
		var lons [][2]float64
		for _, b := range o.boxes {
			lons = append(lons, [2]float64{b[0], b[2]})
		}
		lats := [][2]float64{{b[1], b[3]}}
		o.filters = append(o.filters, within(contract.LonField, lons), within(contract.LatField, lats))
	}
	return nil
}

// readTime reads a datetime: an instant, or an interval whose ends may be open. Features without a
// time are of any.
func (o *options) readTime(c *collection, text string) error {
	first, last, isInterval := strings.Cut(text, "/")
	if !isInterval {
		last = first
	}
	from, _, okFrom := instant(first)
	_, next, okNext := instant(last)
	openFrom, openNext := isInterval && (first == "" || first == ".."), isInterval && (last == "" || last == "..")
	if !okFrom && !openFrom || !okNext && !openNext || okFrom && okNext && from >= next {
		return invalid("datetime is %s; want a time as 2024-05-01 or 2024-05-01T00:00:00Z, or two with / between, the "+
			"first not after the last, of which one may be ..", list.Quoted(text))
	}
	if !c.hasTime() {
		return nil
	}
	if okFrom {
		o.from = from
		o.filters = append(o.filters, index.Filter{
			Columns: []string{contract.PeriodEnd}, Op: index.AtLeastOrNull, Value: index.Value{Int: from},
		})
	}
	if okNext {
		o.next = next
		o.filters = append(o.filters, index.Filter{
			Columns: []string{contract.PeriodStart}, Op: index.Below, Value: index.Value{Int: next},
		})
	}
	return nil
}

// instant reads a time: when it begins, and when the next one does, in microseconds. A day is one,
// too.
func instant(text string) (from, next int64, ok bool) {
	text = strings.TrimSuffix(text, "T") // GDAL sends a day so
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			next := at.UnixMicro() + 1
			if layout == time.DateOnly {
				next = at.AddDate(0, 0, 1).UnixMicro()
			}
			return at.UnixMicro(), next, true
		}
	}
	return 0, 0, false
}
