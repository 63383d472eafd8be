package contract

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// A filter that matches a code, an enum or an id has a second parameter, for several values: a row
// passes location_code__in=AFG,SDN if it passes location_code=AFG or location_code=SDN. A repeated
// list is united. Both parameters together must hold.
//
// Commas separate values after the query is decoded, so it does not matter whether a client encodes
// them. A backslash before a comma makes it a part of the value, and one before a backslash makes
// that literal. In values with wildcards a backslash makes any next character literal, as in the
// plain parameter.

// SeveralSuffix is what the name of a parameter for several values adds to the plain one.
const SeveralSuffix = "__in"

// MaxValues is the most values of one list.
const MaxValues = 200

// maxListFaults is how many bad values of one list are reported.
const maxListFaults = 10

// withLists returns parameters, each followed by its parameter for several values if it has one.
func withLists(params []Param) []Param {
	all := make([]Param, 0, 2*len(params))
	for _, p := range params {
		all = append(all, p)
		if p.Several {
			p.Name += SeveralSuffix
			p.Several, p.List = false, true
			all = append(all, p)
		}
	}
	return all
}

// single is the name of the parameter for one value.
func (p *Param) single() string { return strings.TrimSuffix(p.Name, SeveralSuffix) }

// hasPattern reports whether the parameter's values may have wildcards.
func (p *Param) hasPattern() bool { return p.Op == Like || p.Op == Contains }

// hasComma reports whether a value has a comma.
func (e *Enum) hasComma() bool {
	return slices.ContainsFunc(e.Values, func(v string) bool { return strings.Contains(v, ",") })
}

// sentList is one occurrence of a parameter for several values. twin is whether it was sent under
// the name in the other set.
type sentList struct {
	position int
	twin     bool
	encoded  []byte
}

// noteSeveral records an occurrence of a list, and that a plain parameter is repeated with another
// value than before: only the last one counts, so several may have been meant.
func (r *Request) noteSeveral(position int, twin, repeated bool, before, encoded []byte) {
	switch p := &r.plan.Params[position]; {
	case p.List:
		r.lists = append(r.lists, sentList{position, twin, encoded})
	case repeated && p.Several && !bytes.Equal(before, encoded):
		r.hinted = append(r.hinted, position)
	}
}

// noteUnlisted refuses a list of a parameter that has none: ignored, it would give more rows than
// were asked for.
func (r *Request) noteUnlisted(name string) {
	single, list := strings.CutSuffix(name, SeveralSuffix)
	if !list {
		return
	}
	p := r.plan
	position, known := p.positions[single]
	if !known {
		if position, known = p.twins[single]; !known {
			return
		}
	}
	param := &p.Params[position]
	if param.List {
		return // its name with the suffix once more
	}
	issue := Issue{
		Type: "extra_forbidden", Param: param.Name + SeveralSuffix, NullInput: true,
		Text: "Extra inputs are not permitted: " + param.Name + " takes one value; " + p.insteadOfList(param),
	}
	if !slices.ContainsFunc(r.lost, func(known Issue) bool { return known.Param == issue.Param }) {
		r.lost = append(r.lost, issue)
	}
}

// codeParams are the ends of parameters that match texts and have no list, each with those of
// parameters that match a code of the same thing.
var codeParams = []struct {
	text  string
	codes []string
}{
	{"name", []string{"code", "stub", "acronym"}},
	{"title", []string{"stub"}},
	{"description", []string{"code"}},
}

// insteadOfList says what to send instead of a list of a parameter that has none.
func (p *Plan) insteadOfList(param *Param) string {
	for _, c := range codeParams {
		thing, ends := strings.CutSuffix(param.Name, c.text)
		if !ends {
			continue
		}
		for _, code := range c.codes {
			if position, known := p.positions[thing+code]; known && p.Params[position].Several {
				return "use " + thing + code + SeveralSuffix + " for several"
			}
		}
	}
	return "send " + param.Name + "=VALUE, in a request for each value"
}

// hintAtComma records a plain value with a comma.
func (r *Request) hintAtComma(p *Param, text string) {
	if p.Several && strings.IndexByte(text, ',') >= 0 && (p.Type != Choice || !p.Enum.has(text)) {
		r.hinted = append(r.hinted, r.position)
	}
}

// Hinted lists the plain parameters whose value may have been meant as several, in the endpoint's
// order.
func (r *Request) Hinted() []string {
	if len(r.hinted) == 0 {
		return nil
	}
	slices.Sort(r.hinted)
	r.hinted = slices.Compact(r.hinted)
	var names []string
	for _, position := range r.hinted {
		names = append(names, r.plan.Params[position].Name)
	}
	return names
}

// readList reads all occurrences of the list being read.
func (r *Request) readList(p *Param) {
	issues, from := len(r.issues), len(r.values)
	own := r.readLists(p, false)
	middle := len(r.values)
	twin := r.readLists(p, true)
	switch {
	case len(r.issues) > issues:
	case own == nil:
		own = twin
	case twin != nil && !slices.Equal(own, twin):
		r.fault(twoValues(p, r.sent(false)+","+r.sent(true)))
	default:
		r.values = r.values[:middle]
	}
	if len(r.issues) > issues {
		r.values = r.values[:from]
		return
	}
	r.Filters = append(r.Filters, Filter{Param: r.position, Values: own})
	r.raw[r.position].filter = len(r.Filters)
}

// sent is the texts of the occurrences of the list being read, under its own name or the twin.
func (r *Request) sent(twin bool) string {
	var all []string
	for _, list := range r.lists {
		if list.position == r.position && list.twin == twin {
			all = append(all, string(decodedView(list.encoded)))
		}
	}
	return strings.Join(all, ",")
}

// readLists unites the occurrences of the list being read under its own name or the twin. It
// returns the values sorted, each once.
func (r *Request) readLists(p *Param, twin bool) []Value {
	from, count, faults := len(r.values), 0, len(r.issues)+maxListFaults
	for _, list := range r.lists {
		if list.position != r.position || list.twin != twin {
			continue
		}
		r.value = appendDecoded(r.value[:0], list.encoded)
		text := string(r.value)
		if text == "" {
			r.fault(emptyList(p.Name))
			return nil
		}
		for rest, more := text, true; more; {
			var one string
			one, rest, more = cutValue(rest, p.hasPattern())
			if count++; count > MaxValues || len(r.issues) >= faults {
				continue // only counts
			}
			if one == "" {
				r.fault(emptyValue(p.Name, text, count))
			} else if v, ok := r.readValue(p, one); ok {
				r.values = append(r.values, v)
			}
		}
	}
	if count > MaxValues {
		r.fault(tooMany(p.Name, r.sent(twin), count))
	}
	if count == 0 {
		return nil
	}
	all := r.values[from:]
	if len(all) == 0 || !r.sortByHeads(from) {
		all = r.values[from:]                         // the memory may have moved
		if !slices.IsSortedFunc(all, compareValues) { // lists in our own links are sorted
			slices.SortFunc(all, compareValues)
		}
		all = slices.CompactFunc(all, func(a, b Value) bool { return compareValues(a, b) == 0 })
	}
	r.values = r.values[:from+len(all)]
	return r.values[from:]
}

// compareValues orders the values of lists: texts, or integers.
func compareValues(a, b Value) int {
	return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(a.Beyond, b.Beyond), cmp.Compare(a.Int, b.Int))
}

// sortByHeads sorts the values from a position on by the seven bytes after what all texts begin
// with. It reports whether these bytes differ for all values. If not, the caller has to compare
// whole values and remove those that are there twice.
//
// Together with the position of the value these bytes are one number, and numbers are sorted much
// faster than values, which are large.
func (r *Request) sortByHeads(from int) (decided bool) {
	all := r.values[from:]
	same := all[0].Text
	for i := range all {
		n := 0
		for text := all[i].Text; n < min(len(same), len(text)) && text[n] == same[n]; {
			n++
		}
		same = same[:n]
	}
	var heads [MaxValues]uint64
	for i := range all {
		head := [8]byte{7: byte(i)} // no list has more than MaxValues, which fit
		copy(head[:7], all[i].Text[len(same):])
		heads[i] = binary.BigEndian.Uint64(head[:])
	}
	r.order = sortHeads(r.order[:0], heads[:len(all)])
	decided = true
	for i, head := range r.order {
		r.values = append(r.values, all[byte(head)])
		decided = decided && (i == 0 || head>>8 != r.order[i-1]>>8)
	}
	sorted := r.values[from+len(all):]
	copy(r.values[from:], sorted)
	r.values = r.values[:from+len(sorted)]
	return decided
}

// sortHeads appends numbers in ascending order: divided by their first byte, then each inserted
// before those that are greater, which are few.
func sortHeads(dst, heads []uint64) []uint64 {
	var places [256]uint8
	for _, head := range heads {
		places[head>>56]++
	}
	sum := uint8(0)
	for i, n := range places {
		places[i] = sum
		sum += n
	}
	dst = slices.Grow(dst, len(heads))[:len(heads)]
	for _, head := range heads {
		place := &places[head>>56]
		dst[*place] = head
		*place++
	}
	for i, head := range dst {
		for ; i > 0 && dst[i-1] > head; i-- {
			dst[i] = dst[i-1]
		}
		dst[i] = head
	}
	return dst
}

// cutValue cuts the first value off a list; more is whether another one follows. A value with
// wildcards keeps its backslashes, which the pattern reads again.
func cutValue(list string, pattern bool) (value, rest string, more bool) {
	if value, rest, more = strings.Cut(list, ","); strings.IndexByte(value, '\\') < 0 {
		return value, rest, more
	}
	escaped := false // value must lose backslashes
	end := 0
	for ; end < len(list) && list[end] != ','; end++ {
		switch {
		case list[end] != '\\':
		case end+1 == len(list):
			if pattern { // alone at the end it is literal; so it stays, whatever follows it
				return list + `\`, "", false
			}
		case pattern || list[end+1] == ',' || list[end+1] == '\\':
			end++
			escaped = true
		}
	}
	value = list[:end]
	if escaped && !pattern {
		value = unescaped(value)
	}
	if end == len(list) {
		return value, "", false
	}
	return value, list[end+1:], true
}

// unescaped removes the backslash before each comma and backslash.
func unescaped(text string) string {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (text[i+1] == ',' || text[i+1] == '\\') {
			i++
		}
		b = append(b, text[i])
	}
	return string(b)
}

// listEscapes writes a value without wildcards as a list has it.
var listEscapes = strings.NewReplacer(`\`, `\\`, `,`, `\,`)

// appendList writes values so that reading them gives the same list.
func appendList(dst []byte, p *Param, values []Value) []byte {
	for i := range values {
		if i > 0 {
			dst = append(dst, "%2C"...)
		}
		v := &values[i]
		switch {
		case p.Type == Integer:
			dst = appendInteger(dst, v.Int, v.Beyond)
		case p.hasPattern() || !strings.ContainsAny(v.Text, `\,`):
			dst = appendEscaped(dst, v.Text)
		default:
			dst = appendEscaped(dst, listEscapes.Replace(v.Text))
		}
	}
	return dst
}
