package contract

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hdqs/api/say"
	"hdqs/index"
)

// Request is one list request: the parser of a question. Its memory is reused by the next Scan.
// Until then it refers to the bytes of the query string that it was made from.
type Request struct {
	Scanned  Scanned
	Question Question

	values    []index.Value // of lists
	position  int           // of the parameter being read
	issues    []Issue
	hints     []say.Text
	canonical canonicalQuery
}

// Parse reads the values that Scan found. The error is *BadDay or *Invalid.
func (r *Request) Parse() error {
	p := r.Scanned.plan
	r.Question.reset(p)
	r.values, r.issues, r.hints = r.values[:0], nil, nil
	for _, position := range [...]int{p.start, p.end} {
		if position < 0 || !r.Scanned.isGiven(position) {
			continue
		}
		r.position = position
		if err := r.readDay(&p.Params[position], r.Scanned.text(position)); err != nil {
			return err
		}
	}
	for _, position := range r.Scanned.given {
		param := &p.Params[position]
		if param.Type == Day {
			continue
		}
		r.position = position
		switch {
		case param.Own != nil:
			param.Own.read(r, param)
			continue
		case param.List:
			r.readList(param)
			continue
		}
		text := r.Scanned.text(position)
		switch {
		case r.Scanned.raw[position].clashes():
			r.fault(twoValues(param, text))
		case param.Columns == nil:
			r.readPage(param, text)
		default:
			r.hintAtComma(param, text)
			r.hintAtName(param, text)
			r.readFilter(param, text)
		}
	}
	for _, position := range p.required {
		if !r.Scanned.isGiven(position) {
			r.fault(p.Params[position].Own.issue(p.Endpoint, "missing", "Field required"))
		}
	}
	if r.issues = append(r.issues, r.Scanned.refused...); r.issues != nil {
		return &Invalid{Issues: r.issues}
	}
	r.canonicalize(r.Scanned.given)
	return nil
}

func (r *Request) readDay(p *Param, text string) error {
	if text == "" {
		return nil
	}
	micros, ok := parseDay(text, p.Op == index.Below)
	if !ok {
		return &BadDay{Param: p.Name}
	}
	f := Filter{Param: r.position, Value: index.Value{Int: micros}}
	if !hasInstant(micros) {
		f.Text = text
	}
	r.Question.Filters = append(r.Question.Filters, f)
	return nil
}

// readPage reads a parameter that is not a filter.
func (r *Request) readPage(p *Param, text string) {
	switch p.Name {
	case "limit", "offset":
		value, beyond, ok := parseInteger(text)
		switch {
		case !ok:
			r.fault(notOfType(Integer, p.Name, text))
		case value < int64(*p.Floor):
			r.fault(tooSmall.issue(p.Name, text, *p.Floor))
		case p.Ceiling != nil && value > int64(*p.Ceiling):
			r.fault(tooGreat.issue(p.Name, text, *p.Ceiling))
			if r.Scanned.plan.Kind == Rows {
				r.hint(p, "add /export to the path for all records at once")
			}
		case p.Name == "limit":
			r.Question.Limit = int(value)
		case beyond > 0:
			r.Question.Offset = math.MaxUint64
		default:
			r.Question.Offset = uint64(value)
		}
	case "output_format":
		if !p.Enum.has(text) {
			r.fault(notInEnum(p, text))
		} else {
			r.Question.Format = text
		}
	default:
		// The contract repeats an identifier that is too long, like any value; see package api.
		r.withinMax(p, text)
	}
}

// readFilter reads a filter's value. An empty text is not a filter.
func (r *Request) readFilter(p *Param, text string) {
	if text == "" && (p.Type == String && !p.Grouped || p.Earlier) { // version 2 ignores an earlier one
		return
	}
	if value, ok := r.readValue(p, text); ok {
		r.filter(value)
	}
}

// readValue reads a value by its parameter's type. It is not ok if it has an error.
func (r *Request) readValue(p *Param, text string) (v index.Value, ok bool) {
	switch p.Type {
	case String:
		counted := text
		if p.List && p.hasPattern() { // which keeps the backslashes that a list needs
			counted = listUnescapes.Replace(text)
		}
		v.Text, ok = text, r.withinMax(p, counted)
	case Choice:
		return r.readChoice(p, text)
	case Integer:
		if v.Int, v.Beyond, ok = parseInteger(text); !ok {
			r.fault(notOfType(Integer, p.Name, text))
		}
	case Number:
		if v.Float, ok = parseNumber(text); !ok {
			r.fault(notOfType(Number, p.Name, text))
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
			r.fault(notOfType(Boolean, p.Name, text))
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
// Coarsest is no filter of a row.
func (r *Request) readChoice(p *Param, text string) (v index.Value, ok bool) {
	if !p.Enum.has(text) {
		r.fault(notInEnum(p, text))
		if strings.Contains(text, " ") && p.Enum.has(strings.ReplaceAll(text, " ", "+")) {
			r.hint(p, "a + in a query is a blank; send %2B")
		}
		return v, false
	}
	v.Text = text
	if p.IsLevel() {
		if text == Coarsest {
			r.Question.Coarsest = true
			return v, false
		}
		v.Int = int64(text[0] - '0')
	}
	return v, true
}

func (r *Request) withinMax(p *Param, text string) bool {
	if p.Max > 0 && len(text) > p.Max && utf8.RuneCountInString(text) > p.Max {
		r.fault(tooLong.issue(p.Name, text, p.Max))
		return false
	}
	return true
}

func (r *Request) filter(v index.Value) {
	f := Filter{Param: r.position, Value: v}
	if r.Question.plan.Params[r.position].Type == DateTime && !hasInstant(v.Int) {
		f.Text = r.Scanned.text(r.position)
	}
	r.Question.Filters = append(r.Question.Filters, f)
}

func (r *Request) fault(issue Issue) { r.issues = append(r.issues, issue) }

// Hints are what to send in place of values that are no mistake of their form, or whose error does
// not say how to mend it.
func (r *Request) Hints() []say.Text { return slices.Clip(r.hints) }

// hint adds a hint at the value of a parameter.
func (r *Request) hint(p *Param, text string) {
	r.hints = append(r.hints, say.Of("%s: %s", p.Name, say.Of(text)))
}

// hintAtName hints at a name in place of a code of a place, which matches nothing.
func (r *Request) hintAtName(p *Param, text string) {
	if p.Op != index.Like || len(text) < len("AFG?") {
		return
	}
	thing, isCode := strings.CutSuffix(p.Name, "code")
	if !isCode {
		return
	}
	name := r.Scanned.plan.Param(thing + "name")
	isPlace := strings.HasSuffix(thing, "location_") || strings.HasPrefix(thing, "admin") ||
		thing == "" && r.Scanned.plan.Endpoint.HasField("from_cods")
	isName := !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && c != ' ' })
	if name != nil && isPlace && isName {
		r.hint(p, "no code looks like this; did you mean "+name.Name+"?")
	}
}
