package contract

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Plan is an endpoint prepared for reading requests of one kind. It never changes, so requests
// share it. Filters and page parameters have the same positions in the plans of all kinds.
type Plan struct {
	Endpoint *Endpoint
	Kind     Kind
	Params   []Param // in the order in which their faults are reported

	positions  map[string]int    // in Params, by name
	twins      map[string]int    // in Params, by the name in the other set, where that differs
	names      []string          // of Params
	byName     []int             // positions in the order of the names
	rank       []int             // by position: where it is in byName
	lost       map[string]string // remedies, by the names of filters that earlier versions had
	start, end int               // positions of start_date and end_date, -1 without
	identifier int               // position of app_identifier
	format     int               // position of output_format

	limitRank, offsetRank int
}

// NewPlan prepares an endpoint for requests of a kind.
func NewPlan(e *Endpoint, k Kind) *Plan {
	params := filters(withLists(e.Place), e.pageParams(k), withLists(e.Params), kindParams(e, k))
	p := &Plan{
		Endpoint: e, Kind: k, Params: params,
		positions: make(map[string]int, len(params)), twins: make(map[string]int, len(params)),
		names: make([]string, 0, len(params)), byName: make([]int, 0, len(params)), start: -1, end: -1,
	}
	for i, param := range p.Params {
		p.positions[param.Name] = i
		if twin := param.Twin(); twin != "" {
			p.twins[twin] = i
		}
		switch {
		case param.Name == IdentifierParam:
			p.identifier = i
		case param.Name == formatParam:
			p.format = i
		case param.Type == Day && param.Op == AtLeastOrNull:
			p.start = i
		case param.Type == Day:
			p.end = i
		}
		p.names = append(p.names, param.Name)
		p.byName = append(p.byName, i)
	}
	p.lost = lostOf(p)
	p.order()
	return p
}

// order fills what is by name.
func (p *Plan) order() {
	if len(p.Params) > maxParams {
		panic(fmt.Sprintf("contract: %s has %d parameters, more than maxParams", p.Endpoint.Path, len(p.Params)))
	}
	slices.SortFunc(p.byName, func(a, b int) int { return strings.Compare(p.Params[a].Name, p.Params[b].Name) })
	p.rank = make([]int, len(p.byName))
	for rank, position := range p.byName {
		p.rank[position] = rank
	}
	p.limitRank, p.offsetRank = p.rank[p.positions["limit"]], p.rank[p.positions["offset"]]
}

// Request is one list request. Its memory is reused by the next Scan. Until then it refers to the
// bytes of the query string that it was made from.
type Request struct {
	Limit    int
	Offset   uint64
	CSV      bool
	GeoJSON  bool
	Snapshot string // the id of the snapshot that must answer; mostly empty
	Filters  []Filter
	Fields   []int     // positions in AllFields, in ascending order; nil for all
	Latest   bool      // only the newest rows of each series (latest.go)
	Groups   []Group   // of kind Aggregate, in the order asked for
	Measures []Measure // of kind Aggregate; at least one
	Of       []Group   // of kind Facets, in the order asked for
	Since    string    // of kind Changes: the id of the snapshot to compare with
	Format   string    // of kind Export

	Compressed bool // buffers of an Arrow stream

	plan      *Plan
	raw       []rawValue // by position of the parameter
	given     positions  // of raw
	twins     []twinValue
	lists     []sentList // all values of parameters that take several
	values    []Value    // of lists
	order     []uint64   // scratch memory of sortByHeads
	hinted    []int      // positions of parameters with a value that may have been meant as several
	unknown   [][]byte   // names of unknown parameters, encoded
	hints     []string
	lost      []Issue // of lists that no parameter has, and filters that earlier versions had
	name      []byte  // scratch memory of names that must be decoded
	value     []byte  // scratch memory of values that must be decoded
	fields    []int   // memory of Fields
	position  int     // of the parameter being read
	issues    []Issue
	canonical canonicalQuery
}

// rawValue is one parameter of a request.
type rawValue struct {
	given   bool   // also in Request.given
	filter  int    // position in Filters plus 1; 0 without a filter
	encoded []byte // as it was sent
	clash   bool   // there is another value under the name in the other set
}

// twinValue is a value that was sent under a parameter's name in the other set.
type twinValue struct {
	position int
	encoded  []byte
}

// SnapshotParam names the snapshot that must answer. It extends the contract: a caller who pages
// through a list with it sees no change between pages.
const SnapshotParam = "snapshot"

// maxUnknownKept bounds the memory of unknown names.
const maxUnknownKept = 64

// Knows reports whether a parameter has a meaning, in either set of names.
func (p *Plan) Knows(name string) bool {
	_, known := p.positions[name]
	_, twin := p.twins[name]
	return known || twin || name == SnapshotParam
}

// Scan splits a query string. It records the last value of each known parameter under either of its
// names, and the names of the others. Parse interprets the values.
func (r *Request) Scan(p *Plan, query []byte) {
	for i := r.given.next(0); i >= 0; i = r.given.next(i + 1) {
		r.raw[i] = rawValue{}
	}
	r.given = positions{}
	r.plan, r.unknown, r.twins, r.lost, r.Snapshot = p, r.unknown[:0], r.twins[:0], r.lost[:0], ""
	r.lists, r.hinted, r.hints = r.lists[:0], r.hinted[:0], nil
	if cap(r.raw) < len(p.Params) {
		r.raw = make([]rawValue, len(p.Params))
	}
	r.raw = r.raw[:len(p.Params)]
	eachPair(query, func(sent, encoded []byte) {
		name := sent
		if !isPlain(name) {
			r.name = appendDecoded(r.name[:0], name)
			name = r.name
		}
		switch position, known := p.positions[string(name)]; {
		case known:
			r.noteSeveral(position, false, r.raw[position].given, r.raw[position].encoded, encoded)
			r.give(position, encoded)
		case string(name) == SnapshotParam:
			r.Snapshot = string(appendDecoded(nil, encoded))
		default:
			r.scanOther(sent, name, encoded)
		}
	})
	for _, t := range r.twins {
		raw := &r.raw[t.position]
		switch {
		case !raw.given:
			r.give(t.position, t.encoded)
		case p.Params[t.position].List: // compared as sets, when they are read
		case !bytes.Equal(decodedView(raw.encoded), decodedView(t.encoded)):
			raw.clash = true
		}
	}
}

// give records the value of a parameter.
func (r *Request) give(position int, encoded []byte) {
	r.raw[position] = rawValue{given: true, encoded: encoded}
	r.given.add(position)
}

// scanOther records a name that is not the plan's: a parameter's name in the other set, or an
// unknown one.
func (r *Request) scanOther(sent, name, encoded []byte) {
	position, known := r.plan.twins[string(name)]
	if !known {
		r.noteUnlisted(string(name))
		r.noteLost(name, encoded)
		if len(r.unknown) < maxUnknownKept {
			r.unknown = append(r.unknown, sent)
		}
		return
	}
	for i := range r.twins {
		if r.twins[i].position == position {
			r.noteSeveral(position, true, true, r.twins[i].encoded, encoded)
			r.twins[i].encoded = encoded
			return
		}
	}
	r.noteSeveral(position, true, false, nil, encoded)
	r.twins = append(r.twins, twinValue{position, encoded})
}

// Plan is the plan that the request was read with.
func (r *Request) Plan() *Plan { return r.plan }

// Names are the names that the answer uses.
func (r *Request) Names() NameSet { return r.plan.Endpoint.names }

// Identifier is the application identifier in the query, empty without one.
func (r *Request) Identifier() []byte {
	return decodedView(r.raw[r.plan.identifier].encoded)
}

// Parse reads the values that Scan found. The error is *BadDay or *Invalid.
func (r *Request) Parse() error {
	p := r.plan
	r.Filters, r.values = r.Filters[:0], r.values[:0]
	r.Limit, r.Offset, r.CSV, r.GeoJSON = r.usualLimit(), 0, false, false
	r.issues = nil
	r.resetOwn()
	if p.Kind == Export {
		r.setFormat(FormatCSV)
	}
	for _, position := range [...]int{p.start, p.end} {
		if position < 0 || !r.raw[position].given {
			continue
		}
		r.position = position
		if err := r.readDay(&p.Params[position], r.text(position)); err != nil {
			return err
		}
	}
	for position := r.given.next(0); position >= 0; position = r.given.next(position + 1) {
		param := &p.Params[position]
		if param.Type == Day {
			continue
		}
		r.position = position
		switch {
		case param.Own:
			r.readOwn(param)
			continue
		case param.List:
			r.readList(param)
			continue
		}
		text := r.text(position)
		switch {
		case r.raw[position].clash:
			r.fault(twoValues(param, text))
		case param.Columns == nil:
			r.readPage(param, text)
		default:
			r.hintAtComma(param, text)
			r.hintAtName(param, text)
			r.readFilter(param, text)
		}
	}
	r.requireOwn()
	if r.issues = append(r.issues, r.lost...); r.issues != nil {
		return &Invalid{Issues: r.issues}
	}
	r.canonicalize()
	return nil
}

// text is the decoded value of a parameter, in memory of its own: filters outlive the request in
// caches.
func (r *Request) text(position int) string {
	encoded := r.raw[position].encoded
	if isPlain(encoded) {
		return string(encoded)
	}
	r.value = appendDecoded(r.value[:0], encoded)
	return string(r.value)
}

func (r *Request) readDay(p *Param, text string) error {
	if text == "" {
		return nil
	}
	micros, ok := parseDay(text, p.Op == Below)
	if !ok {
		return &BadDay{Param: p.Name}
	}
	r.filter(Value{Int: micros})
	return nil
}

// readPage reads a parameter that is not a filter.
func (r *Request) readPage(p *Param, text string) {
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
			if r.plan.Kind == Rows {
				r.hint(p, "add /export to the path for all records at once")
			}
		case p.Name == "limit":
			r.Limit = int(value)
		case beyond > 0:
			r.Offset = math.MaxUint64
		default:
			r.Offset = uint64(value)
		}
	case "output_format":
		if !p.Enum.has(text) {
			r.fault(notInEnum(p, text))
		}
		if r.plan.Kind == Export {
			r.setFormat(text)
		} else {
			r.CSV, r.GeoJSON = text == "csv", text == "geojson"
		}
	default:
		// The contract repeats an identifier that is too long, like any value; see package api.
		r.withinMax(p, text)
	}
}

// readFilter reads a filter's value. An empty text is not a filter.
func (r *Request) readFilter(p *Param, text string) {
	if text == "" && (p.Type == String || p.Earlier) { // version 2 ignores an earlier one
		return
	}
	if value, ok := r.readValue(p, text); ok {
		r.filter(value)
	}
}

// readValue reads a value by its parameter's type. It is not ok if it has an error.
func (r *Request) readValue(p *Param, text string) (v Value, ok bool) {
	switch p.Type {
	case String:
		counted := text
		if p.List && p.hasPattern() { // which keeps the backslashes that a list needs
			counted = unescaped(text)
		}
		v.Text, ok = text, r.withinMax(p, counted)
	case Choice:
		return r.readChoice(p, text)
	case Integer:
		if v.Int, v.Beyond, ok = parseInteger(text); !ok {
			r.fault(notInteger(p.Name, text))
		}
	case Number:
		if v.Float, ok = parseNumber(text); !ok {
			r.fault(notNumber(p.Name, text))
		}
	case Exact:
		var fault decimalFault
		if v.Exact, fault = parseExact(text); fault != decimalFine {
			r.fault(notDecimal(p.Name, text, fault))
		}
		ok = fault == decimalFine
	case Boolean:
		var set bool
		if set, ok = parseBoolean(text); !ok {
			r.fault(notBoolean(p.Name, text))
		}
		if set {
			v.Int = 1
		}
	case DateTime:
		var fault dateTimeFault
		if v.Int, fault = parseDateTime(text); fault.isFault() {
			r.issues = append(r.issues, notDateTime(p.Name, text, fault)...)
		}
		ok = !fault.isFault()
	}
	return v, ok
}

// readChoice also sets the number of an enum of numbers: the level of a row is an integer column.
func (r *Request) readChoice(p *Param, text string) (v Value, ok bool) {
	if !p.Enum.has(text) {
		r.fault(notInEnum(p, text))
		r.hintAtPlus(p, text)
		return v, false
	}
	v.Text = text
	if p.IsLevel() {
		v.Int = int64(text[0] - '0')
	}
	return v, true
}

func (r *Request) withinMax(p *Param, text string) bool {
	if p.Max > 0 && len(text) > p.Max && runeCount(text) > p.Max {
		r.fault(tooLong(p.Name, text, p.Max))
		return false
	}
	return true
}

// filter adds a filter for the parameter being read.
func (r *Request) filter(v Value) {
	r.Filters = append(r.Filters, Filter{Param: r.position, Value: v})
	r.raw[r.position].filter = len(r.Filters)
}

func (r *Request) fault(issue Issue) { r.issues = append(r.issues, issue) }
