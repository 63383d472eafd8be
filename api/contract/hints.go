package contract

import (
	"slices"
	"strings"
	"unicode"
)

// Hints are what to send in place of values that are no mistake of their form, or whose error does
// not say how to mend it.
func (r *Request) Hints() []string { return slices.Clip(r.hints) }

// hint adds a hint at the value of a parameter.
func (r *Request) hint(p *Param, text string) { r.hints = append(r.hints, p.Name+": "+text) }

// Thing is what a record of the endpoint is, as names of fields in other lists begin: market of
// agency-market.
func (r *Request) Thing() string {
	name := r.plan.Endpoint.Contract().Name()
	return strings.ReplaceAll(strings.TrimPrefix(name, "agency-"), "-", "_")
}

// hintAtName hints at a name in place of a code of a place, which matches nothing.
func (r *Request) hintAtName(p *Param, text string) {
	if p.Op != Like || len(text) < len("AFG?") {
		return
	}
	thing, isCode := strings.CutSuffix(p.Name, "code")
	if !isCode {
		return
	}
	name, known := r.plan.positions[thing+"name"]
	isPlace := strings.HasSuffix(thing, "location_") || strings.HasPrefix(thing, "admin") ||
		thing == "" && r.plan.Endpoint.hasField("from_cods")
	isName := !strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && c != ' ' })
	if known && isPlace && isName {
		r.hint(p, "no code looks like this; did you mean "+r.plan.Params[name].Name+"?")
	}
}

// hintAtPlus hints at a plus that was sent as it is, which is a blank in a query.
func (r *Request) hintAtPlus(p *Param, text string) {
	if strings.Contains(text, " ") && p.Enum.has(strings.ReplaceAll(text, " ", "+")) {
		r.hint(p, "a + in a query is a blank; send %2B")
	}
}
