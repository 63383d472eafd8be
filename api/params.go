package api

import (
	"math"
	"slices"
	"strings"

	"hdqs/index"
)

// plan is an endpoint made ready to read requests: its parameters in the order in which their faults are told, and their places by name.
type plan struct {
	endpoint *Endpoint
	params   []Param
	places   map[string]int
	byName   []int // places in the order of the names
	start    int   // place of start_date, -1 without
	end      int   // place of end_date
}

func newPlan(e *Endpoint) *plan {
	p := &plan{endpoint: e, params: filters(e.Place, pageParams, e.Params), places: map[string]int{}, start: -1, end: -1}
	for i, param := range p.params {
		p.places[param.Name] = i
		switch {
		case param.Type == Day && param.Op == index.AtLeastOrNull:
			p.start = i
		case param.Type == Day:
			p.end = i
		}
		p.byName = append(p.byName, i)
	}
	slices.SortFunc(p.byName, func(a, b int) int { return strings.Compare(p.params[a].Name, p.params[b].Name) })
	return p
}

// rawValue is one parameter of a request, still encoded, and the number of the filter that came of it, 0 for none.
type rawValue struct {
	given   bool
	filter  int
	encoded []byte
}

// request is one list request. Its memory is used again, and encoded values are views of the query string.
type request struct {
	raw     []rawValue
	unknown [][]byte // names of unknown parameters, encoded
	pin     string   // the snapshot that must answer; mostly empty
	name    []byte   // scratch of names that must be decoded
	value   []byte   // scratch of values
	place   int      // of the parameter being read
	query   index.Query
	csv     bool
	issues  []Issue
}

// pinParam names a snapshot that is to answer. It is ours, not the contract's: who pages through a list that way sees no change in between.
const pinParam = "snapshot"

// keptUnknown bounds the memory of unknown names.
const keptUnknown = 64

// read fills a request from a query string. The error is *BadDay or *Invalid.
func (r *request) read(p *plan, query []byte) error {
	r.scan(p, query)
	r.query.Filters = r.query.Filters[:0]
	r.query.Limit, r.query.Offset = maxLimit, 0
	r.csv = false
	r.issues = nil
	for _, place := range [...]int{p.start, p.end} {
		if place < 0 || !r.raw[place].given {
			continue
		}
		r.place = place
		if err := r.readDay(&p.params[place], r.text(place)); err != nil {
			return err
		}
	}
	for place := range p.params {
		param := &p.params[place]
		if !r.raw[place].given || param.Type == Day {
			continue
		}
		r.place = place
		if param.Columns == nil {
			r.readPage(param, r.text(place))
		} else {
			r.readFilter(param, r.text(place))
		}
	}
	if r.issues != nil {
		return &Invalid{Issues: r.issues}
	}
	return nil
}

// scan notes the last value of each known parameter, and the names of the others.
func (r *request) scan(p *plan, query []byte) {
	r.unknown, r.pin = r.unknown[:0], ""
	if cap(r.raw) < len(p.params) {
		r.raw = make([]rawValue, len(p.params))
	}
	r.raw = r.raw[:len(p.params)]
	clear(r.raw)
	eachPair(query, func(sent, encoded []byte) {
		name := sent
		if !plain(name) {
			r.name = appendDecoded(r.name[:0], name)
			name = r.name
		}
		switch place, known := p.places[string(name)]; {
		case known:
			r.raw[place] = rawValue{given: true, encoded: encoded}
		case string(name) == pinParam:
			r.pin = string(appendDecoded(nil, encoded))
		case len(r.unknown) < keptUnknown:
			r.unknown = append(r.unknown, sent)
		}
	})
}

// text is the decoded value of a parameter, in memory of its own: filters outlive the request in caches.
func (r *request) text(place int) string {
	encoded := r.raw[place].encoded
	if plain(encoded) {
		return string(encoded)
	}
	r.value = appendDecoded(r.value[:0], encoded)
	return string(r.value)
}

func (r *request) readDay(p *Param, text string) error {
	if text == "" {
		return nil
	}
	micros, ok := parseDay(text, p.Op == index.Below)
	if !ok {
		return &BadDay{Param: p.Name}
	}
	r.filter(p, index.Value{Int: micros})
	return nil
}

// readPage reads a parameter that is no filter.
func (r *request) readPage(p *Param, text string) {
	switch p.Name {
	case "limit", "offset":
		value, beyond, ok := parseInteger(text)
		switch {
		case !ok:
			r.fault(notInteger(p.Name, text))
		case value < int64(*p.Floor):
			r.fault(tooSmall(p.Name, text, *p.Floor))
		case p.Ceiling != nil && value > int64(*p.Ceiling):
			r.fault(tooGreat(p.Name, text, *p.Ceiling))
		case p.Name == "limit":
			r.query.Limit = int(value)
		case beyond > 0:
			r.query.Offset = math.MaxUint64
		default:
			r.query.Offset = uint64(value)
		}
	case "output_format":
		if !p.Enum.has(text) {
			r.fault(notInEnum(p.Name, text, p.Enum))
		}
		r.csv = text == "csv"
	default:
		// The contract echoes an identifier that is too long, like any value; see doc.go.
		r.withinMax(p, text)
	}
}

// readFilter reads a filter's value by its type.
func (r *request) readFilter(p *Param, text string) {
	switch p.Type {
	case String:
		if r.withinMax(p, text) && text != "" {
			r.filter(p, index.Value{Text: text})
		}
	case Choice:
		r.readChoice(p, text)
	case Integer:
		if value, beyond, ok := parseInteger(text); ok {
			r.filter(p, index.Value{Int: value, Beyond: beyond})
		} else {
			r.fault(notInteger(p.Name, text))
		}
	case Number:
		if value, ok := parseNumber(text); ok {
			r.filter(p, index.Value{Float: value})
		} else {
			r.fault(notNumber(p.Name, text))
		}
	case Exact:
		if value, fault := parseExact(text); fault == decimalFine {
			r.filter(p, index.Value{Exact: value})
		} else {
			r.fault(notDecimal(p.Name, text, fault))
		}
	case Boolean:
		value, ok := parseBoolean(text)
		if !ok {
			r.fault(notBoolean(p.Name, text))
			return
		}
		r.filter(p, index.Value{Int: boolInt(value)})
	case Moment:
		if micros, fault := parseMoment(text); !fault.isFault() {
			r.filter(p, index.Value{Int: micros})
		} else {
			r.issues = append(r.issues, notMoment(p.Name, text, fault)...)
		}
	}
}

// readChoice also gives the number that an enum of numbers stands for: the level of a row is an integer column.
func (r *request) readChoice(p *Param, text string) {
	if !p.Enum.has(text) {
		r.fault(notInEnum(p.Name, text, p.Enum))
		return
	}
	value := index.Value{Text: text}
	if p.Enum == adminLevel {
		value.Int = int64(text[0] - '0')
	}
	r.filter(p, value)
}

func (r *request) withinMax(p *Param, text string) bool {
	if p.Max > 0 && len(text) > p.Max && runeCount(text) > p.Max {
		r.fault(tooLong(p.Name, text, p.Max))
		return false
	}
	return true
}

func (r *request) filter(p *Param, v index.Value) {
	r.query.Filters = append(r.query.Filters, index.Filter{Columns: p.Columns, Op: p.Op, Value: v})
	r.raw[r.place].filter = len(r.query.Filters)
}

func (r *request) fault(issue Issue) { r.issues = append(r.issues, issue) }

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
