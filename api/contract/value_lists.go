package contract

import (
	"cmp"
	"slices"
	"strings"

	"hdqs/api/say"
	"hdqs/index"
)

// A filter that matches a code, an enum or an id has a second parameter, for several values: a row
// passes location_code__in=AFG,SDN if it passes location_code=AFG or location_code=SDN. A repeated
// list is united. Both parameters together must hold.
//
// Commas separate values after the query is decoded, so it does not matter whether a client encodes
// them. A backslash before a comma makes it a part of the value, and one before a backslash makes
// that literal. In values with wildcards a backslash makes any next character literal, as in the
// plain parameter.

// MaxValues is the most values of one list.
const MaxValues = 200

// maxListFaults is how many bad values of one list are reported.
const maxListFaults = 10

// single is the name of the parameter for one value.
func (p *Param) single() string { return strings.TrimSuffix(p.Name, SeveralSuffix) }

// hasPattern reports whether the parameter's values may have wildcards.
func (p *Param) hasPattern() bool { return p.Op == index.Like || p.Op == index.Contains }

// patternEscapes writes a text so that none of it is a wildcard, patternTexts reads it again.
var (
	patternEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	patternTexts   = strings.NewReplacer(`\\`, `\`, `\%`, `%`, `\_`, `_`)
)

// Exactly is the value that asks for a text as it is, the text where there is no parameter.
func (p *Param) Exactly(text string) string {
	if p != nil && p.hasPattern() {
		return patternEscapes.Replace(text)
	}
	return text
}

// Literal is the text that a value asks for as it is: the value, if it has wildcards or no escapes.
func (p *Param) Literal(value string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
	if text := patternTexts.Replace(value); p.Exactly(text) == value {
		return text
	}
	return value
}

// refuseList refuses a list of a parameter that has none: ignored, it would give more rows than
// were asked for.
func (s *Scanned) refuseList(name string) {
	single, list := strings.CutSuffix(name, SeveralSuffix)
	at, known := s.plan.known[single]
	if !list || !known || s.plan.Params[at.position].List { // NAME__in__in
		return
	}
	param := &s.plan.Params[at.position]
	s.refuse(param.Name+SeveralSuffix, say.Of(param.Name+" takes one value; "+s.plan.insteadOfList(param)))
}

// refuse records that a parameter is not ignored, but an error.
func (s *Scanned) refuse(name string, reason say.Text) {
	isKnown := func(known Issue) bool { return known.Param == name }
	if len(s.refused) < maxUnknownKept && !slices.ContainsFunc(s.refused, isKnown) {
		s.refused = append(s.refused, extraForbidden(name, reason))
	}
}

// codeNames are the ends of the names of parameters that match texts and have no list, each with
// those of parameters that match a code of the same thing.
var codeNames = map[string][]string{
	"name": {"code", "stub", "acronym"}, "title": {"stub"}, "description": {"code"},
}

// insteadOfList says what to send instead of a list of a parameter that has none.
func (p *Plan) insteadOfList(param *Param) string {
	thing, end := "", param.Name
	if at := strings.LastIndexByte(end, '_') + 1; at > 0 {
		thing, end = end[:at], end[at:]
	}
	for _, code := range codeNames[end] {
		if code := p.Param(thing + code); code != nil && code.Several {
			return "use " + code.Name + SeveralSuffix + " for several"
		}
	}
	return "send " + param.Name + "=VALUE, in a request for each value"
}

// hintAtComma records a plain value with a comma.
func (r *Request) hintAtComma(p *Param, text string) {
	if p.Several && strings.IndexByte(text, ',') >= 0 && (p.Type != Choice || !p.Enum.has(text)) {
		r.Scanned.hinted = append(r.Scanned.hinted, r.position)
	}
}

// Hinted lists the plain parameters whose value may have been meant as several, in the endpoint's
// order.
func (s *Scanned) Hinted() []string {
	if len(s.hinted) == 0 {
		return nil
	}
	slices.Sort(s.hinted)
	s.hinted = slices.Compact(s.hinted)
	var names []string
	for _, position := range s.hinted {
		names = append(names, s.plan.Params[position].Name)
	}
	return names
}

// readList reads all occurrences of the list being read.
func (r *Request) readList(p *Param) {
	issues, from := len(r.issues), len(r.values)
	own := r.readLists(p, ownSet)
	middle := len(r.values)
	other := r.readLists(p, otherSet)
	switch {
	case len(r.issues) > issues:
	case own == nil:
		own = other
	case other != nil && !slices.Equal(own, other):
		sent := func(set int) string { return r.Scanned.sent(paramName{r.position, set}) }
		r.fault(twoValues(p, sent(ownSet)+","+sent(otherSet)))
	default:
		r.values = r.values[:middle]
	}
	if len(r.issues) > issues {
		r.values = r.values[:from]
		return
	}
	r.Question.Filters = append(r.Question.Filters, Filter{Param: r.position, Values: own})
}

// sent is the texts of the occurrences of a list under a name.
func (s *Scanned) sent(name paramName) string {
	var all []string
	for _, list := range s.lists {
		if list.paramName == name {
			all = append(all, string(decodedView(list.encoded)))
		}
	}
	return strings.Join(all, ",")
}

// readLists unites the occurrences of the list being read under its name in a set. It returns the
// values sorted, each once.
func (r *Request) readLists(p *Param, set int) []index.Value {
	from := len(r.values)
	count, isEmpty := r.eachValue(p, set, func(one string) {
		if v, ok := r.readValue(p, one); ok {
			r.values = append(r.values, v)
		}
	})
	switch {
	case isEmpty:
		r.fault(tooFew(p.Name, "; leave out "+p.Name+" to select by other parameters only"))
		return nil
	case count == 0:
		return nil
	}
	all := r.values[from:]
	slices.SortFunc(all, compareValues)
	all = slices.CompactFunc(all, func(a, b index.Value) bool { return compareValues(a, b) == 0 })
	r.values = r.values[:from+len(all)]
	return r.values[from:]
}

// eachValue calls do with the values of the occurrences of the list being read under its name in a
// set, in the order in which they were sent. It returns how many there are, and whether it found an
// empty list, after which it reads no more.
func (r *Request) eachValue(p *Param, set int, do func(value string)) (count int, isEmpty bool) {
	name, faults := paramName{r.position, set}, len(r.issues)+maxListFaults
	isLong := r.Scanned.IsLong && p.Own == nil
	for _, list := range r.Scanned.lists {
		if list.paramName != name {
			continue
		}
		r.Scanned.value = appendDecoded(r.Scanned.value[:0], list.encoded)
		text := string(r.Scanned.value)
		if text == "" {
			return count, true
		}
		for rest, more := text, true; more; {
			var one string
			one, rest, more = cutValue(rest, p.hasPattern())
			if count++; count > MaxValues && !isLong || len(r.issues) >= faults {
				continue // only counts
			}
			if one == "" {
				r.fault(emptyValue(p.Name, text, count))
			} else {
				do(one)
			}
		}
	}
	if count > MaxValues && !isLong {
		r.fault(tooManyValues(p.Name, r.Scanned.sent(name), count))
	}
	return count, false
}

// compareValues orders the values of lists: texts, or integers.
func compareValues(a, b index.Value) int {
	return cmp.Or(strings.Compare(a.Text, b.Text), cmp.Compare(a.Beyond, b.Beyond), cmp.Compare(a.Int, b.Int))
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
		value = listUnescapes.Replace(value)
	}
	if end == len(list) {
		return value, "", false
	}
	return value, list[end+1:], true
}

// listEscapes writes a value without wildcards as a list has it, and listUnescapes reads it.
var (
	listEscapes   = strings.NewReplacer(`\`, `\\`, `,`, `\,`)
	listUnescapes = strings.NewReplacer(`\\`, `\`, `\,`, `,`)
)

// appendList writes values so that reading them gives the same list.
func appendList(dst []byte, p *Param, values []index.Value) []byte {
	for i := range values {
		if i > 0 {
			dst = append(dst, "%2C"...)
		}
		if v := &values[i]; p.Type == Integer {
			dst = appendInteger(dst, v.Int, v.Beyond)
		} else {
			dst = appendEscaped(dst, p.inList(v.Text))
		}
	}
	return dst
}

// inList is a value as a list has it. One with wildcards has its backslashes already.
func (p *Param) inList(text string) string {
	if p.hasPattern() {
		return text
	}
	return listEscapes.Replace(text)
}

// readNames reads all occurrences of a list of names, which are the same in both sets. It is not ok
// if there is an error.
func (r *Request) readNames(p *Param) (names []string, ok bool) {
	issues := len(r.issues)
	_, isEmpty := r.eachValue(p, ownSet, func(name string) { names = append(names, name) })
	if isEmpty {
		issue := tooFew(p.Name, ", or leave out "+p.Name)
		if p.Required {
			issue = p.Own.issue(r.Scanned.plan.Endpoint, "too_short", "List should have at least 1 value")
		}
		r.issues = append(r.issues[:issues], issue)
		return nil, false
	}
	return names, len(r.issues) == issues
}
