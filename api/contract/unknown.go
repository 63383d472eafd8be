package contract

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hdqs/api/say"
	"hdqs/index"
)

// Limits on the unknown parameters that answers repeat.
const (
	maxUnknown     = 16 // names
	maxUnknownName = 40 // bytes of one name
)

// These replace names that must not be repeated in an answer.
const (
	emptyName    = "(empty)"
	withheldName = "(withheld)"
)

// UnknownNames lists the parameters that the endpoint does not have, sorted and without duplicates.
// A caller who sends an identifier in place of a parameter name must not get it back, since caches
// would distribute it: only what looks like a name is repeated, as it was sent.
func (s *Scanned) UnknownNames() []string {
	return shownNames(s.unknown, s.plan.Endpoint.names, s.plan)
}

func shownNames(sent []sentPair, set NameSet, p *Plan) []string {
	var names []string
	for _, pair := range sent {
		names = append(names, shownName(appendDecoded(nil, pair.name), set, p))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxUnknown {
		names = append(names[:maxUnknown], "...")
	}
	return names
}

func shownName(name []byte, set NameSet, p *Plan) string {
	isUnsafe := func(c rune) bool { // without a capital letter there is no identifier, see isName
		return c != '[' && c != ']' && c != '_' && ('a' > c || c > 'z') && ('0' > c || c > '9')
	}
	switch {
	case len(name) == 0:
		return emptyName
	case isName(name) && set == HAPINames:
		return HAPINames.Name(string(name))
	case isName(name):
		return string(name)
	case len(name) > maxUnknownName || bytes.ContainsFunc(name, isUnsafe) || p.meant(string(name)) == "":
		return withheldName
	}
	return string(name)
}

// nameParts are the words of a name. Programs write a list, and a filter in an object, as
// location_code[], location_code[0] or filter[location_code], and some escape twice:
// amp;location_code.
func nameParts(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool {
		return c >= utf8.RuneSelf || !isLetterOrDigit(byte(c)) && c != '_'
	})
}

// meant is the parameter that is a word of a name; empty if there is none, and without a plan.
func (p *Plan) meant(name string) string {
	for _, part := range nameParts(name) {
		if p == nil || !p.Knows(part) {
			continue
		}
		if at, known := p.known[part]; known {
			return p.Params[at.position].Name
		}
		return part
	}
	return ""
}

// MeantBy returns which parameter an unknown name has as a word, and the question whether that was
// meant. Both are empty if it has none. Of names that are withheld it is the first that has one.
func (s *Scanned) MeantBy(shown string) (meant string, hint say.Text) {
	meant = s.plan.meant(shown)
	for i := 0; shown == withheldName && meant == "" && i < len(s.unknown); i++ {
		if name := appendDecoded(nil, s.unknown[i].name); shownName(name, s.plan.Endpoint.names, s.plan) == shown {
			meant = s.plan.meant(string(name))
		}
	}
	switch {
	case meant == "":
		return "", hint
	case s.plan.Knows(meant + SeveralSuffix):
		return meant, say.Of("did you mean %s, or %s for several values?", meant, meant+SeveralSuffix)
	}
	return meant, DidYouMean(meant)
}

// DidYouMean asks whether a name was meant.
func DidYouMean(name string) say.Text { return say.Of("did you mean %s?", name) }

// isName reports whether a text may be meant as a parameter's name and cannot contain an
// identifier. Names are a letter or '_', then letters, digits, '_', '.' and '-', which is also safe
// in a header. The '@' of an identifier always gives a capital letter in base64. So a name with a
// capital is accepted only if it is shorter than any identifier.
func isName(text []byte) bool {
	if len(text) > maxUnknownName || text[0] != '_' && !isLetter(text[0]) {
		return false
	}
	capital := false
	for _, c := range text {
		if !isLetterOrDigit(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
		capital = capital || 'A' <= c && c <= 'Z'
	}
	return !capital || len(text) < base64.RawStdEncoding.EncodedLen(minIdentifier)
}

// minIdentifier is the length of the shortest identifier before it is encoded.
const minIdentifier = minApplication + len(":m@a.b")

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// UnknownFaults returns the issues of a request with unknown parameters. If it is not strict, only
// those near a known one, and fields of the answer, are issues. Their input is null: the value of a
// misspelled parameter may be an identifier. hint returns which name was meant, and what to add to
// the text.
func (r *Request) UnknownFaults(isStrict bool, hint func(*Request, string) (string, say.Text)) *Invalid {
	all := new(Invalid)
	for _, name := range r.Scanned.UnknownNames() {
		meant, text := hint(r, name)
		issue := extraForbidden(name, text)
		if meant != "" {
			issue.Details = &Details{Meant: meant}
		} else if !isStrict && !r.Question.Endpoint().HasField(name) {
			continue
		}
		all.Issues = append(all.Issues, issue)
	}
	return all
}

// OtherNames lists the parameters of a query but for the identifier and some names, as
// UnknownNames does.
func OtherNames(query []byte, set NameSet, known ...string) []string {
	var sent []sentPair
	eachPair(query, func(name, value []byte) {
		isKnown := func(known string) bool { return nameIs(name, known) }
		if !nameIs(name, IdentifierParam) && !slices.ContainsFunc(known, isKnown) && len(sent) < maxUnknownKept {
			sent = append(sent, sentPair{name, value})
		}
	})
	return shownNames(sent, set, nil)
}

// FileFaults returns the issues of a request for a file with other parameters than some, or with
// one of them twice, nil without any. With a filter that is ignored, a program that reads no header
// fields would take what is in the file for what passes. hint says what to ask for.
func FileFaults(query []byte, set NameSet, hint string, known ...string) *Invalid {
	all := new(Invalid)
	for _, name := range OtherNames(query, set, known...) {
		all.Issues = append(all.Issues, extraForbidden(name, say.Of(hint)))
	}
	times := map[string]int{}
	eachPair(query, func(name, _ []byte) { times[string(appendDecoded(nil, name))]++ })
	for _, name := range known {
		if times[name] > 1 {
			all.Issues = append(all.Issues, extraForbidden(name, say.Of("it takes one value")))
		}
	}
	if all.Issues == nil {
		return nil
	}
	return all
}

// ParamNames are the names of the endpoint's parameters, in its names.
func (s *Scanned) ParamNames() []string { return s.plan.names }

// HasIdentifierValue reports whether a filter's value is an application identifier, or may be an
// e-mail address. Such a query must not be logged.
func (r *Request) HasIdentifierValue() bool {
	for i := range r.Question.Filters {
		f := &r.Question.Filters[i]
		inList := func(v index.Value) bool { return mayIdentify(v.Text) }
		if mayIdentify(f.Value.Text) || slices.ContainsFunc(f.Values, inList) {
			return true
		}
	}
	return false
}

// mostEncodings is how often a value is percent-decoded in the search for an address.
const mostEncodings = 3

// mayIdentify reports whether a text has the '@' of an address: as it is, in base64, also if that
// is no good identifier, or percent-encoded more than once.
func mayIdentify(value string) bool {
	if len(value) <= minIdentifier && !strings.ContainsAny(value, "@%") {
		return false
	}
	text := []byte(value)
	for range mostEncodings {
		if bytes.IndexByte(text, '@') >= 0 {
			return true
		}
		if len(text) > minIdentifier {
			var room [256]byte
			hidden, _ := appendBase64(room[:0], text, true)
			if bytes.IndexByte(hidden, '@') >= 0 && utf8.Valid(hidden) || CheckIdentifier(text, "") == nil {
				return true
			}
		}
		if bytes.IndexByte(text, '%') < 0 {
			return false
		}
		text = AppendUnescaped(nil, text, false)
	}
	return false
}

// UnknownCount returns how many parameters the endpoint does not have, at most 64.
func (s *Scanned) UnknownCount() int { return len(s.unknown) }

// Thing is what a record of the endpoint is, as names of fields in other lists begin: market of
// agency-market.
func (s *Scanned) Thing() string {
	name := s.plan.Endpoint.Contract().Name()
	return strings.ReplaceAll(strings.TrimPrefix(name, "agency-"), "-", "_")
}

// removedOf returns the remedies of the removed filters of a plan, by their names. A client that
// still sends one expects fewer rows than it would get, so endpoints in HAPI names refuse them.
func removedOf(p *Plan) map[string]string {
	if p.Endpoint.names != HAPINames {
		return nil
	}
	remedies := map[string]string{}
	for names, text := range removed {
		of, remedy, _ := strings.Cut(text, ": ")
		if p.Param(of) == nil && !p.Endpoint.HasField(of) {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			if !p.Knows(name) {
				remedies[name] = remedy
			}
		}
	}
	return remedies
}

// refuseUnknown refuses a name that no parameter has, of which part is a word or the whole, if the
// answer without it would be taken for another. Without a value it would not restrict the rows.
func (s *Scanned) refuseUnknown(name, part string, restricts bool) {
	if s.plan.Knows(part) {
		if restricts {
			_, hint := s.MeantBy(part)
			s.refuse(shownName([]byte(name), s.plan.Endpoint.names, s.plan), hint)
		}
		return
	}
	s.refuseList(part)
	switch {
	case part == EverybodyParam:
		s.refuse(part, say.Of("records of %s have no category, gender or age_range, so none of them counts only some "+
			"people; leave it out", s.plan.Endpoint.Name()))
	case !restricts:
	case IsGroupParam(part) && s.plan.Kind != Figures:
		remedy := "leave it out"
		if s.plan.Knows("origin_" + GroupParam) {
			remedy = "use origin_" + GroupParam + " or asylum_" + GroupParam
		} else if s.plan.Knows(GroupParam) {
			remedy = "use " + GroupParam
		}
		s.refuse(part, say.Of("%s has no %s; "+remedy, s.plan.Endpoint.Name(), part))
	default:
		s.refuseRemoved(part)
		s.refuseOfLists(part)
	}
}

// refuseRemoved refuses a removed filter.
func (s *Scanned) refuseRemoved(name string) {
	hapi := HAPINames.Name(name)
	if remedy, removed := s.plan.removed[hapi]; removed {
		s.refuse(hapi, say.Of("version 2 has no filter %s; %s", hapi, remedy))
	}
}

// refuseOfLists refuses what chooses rows of lists but not those of a headline figure: the figure
// of all people would be taken for that of a sector.
func (s *Scanned) refuseOfLists(name string) {
	e := s.plan.Endpoint
	if own := e.names.Name(name); e.list != "" && choosesRows()[own] {
		var takes []string
		for _, p := range slices.Concat(withLists(e.Place), withLists(e.Params)) {
			takes = append(takes, p.Name)
		}
		if s.plan.Endpoint.Path == GroupsPath {
			s.refuse(own, say.Of("the list of groups takes %s", strings.Join(takes, ", ")))
			return
		}
		s.refuse(own, say.Of("the figure takes %s; its other filters are declared in %s; for other rows ask "+
			"for LIST/aggregate",
			strings.Join(takes, ", "), FiguresPath))
	}
}

// choosesRows are the names, in both sets, of all parameters that choose rows of lists.
var choosesRows = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for s := range NameSet(len(FigureEndpoints)) {
		for i := range EndpointsIn(s) {
			e := &EndpointsIn(s)[i]
			for _, p := range slices.Concat(withLists(e.Place), withLists(e.Params), e.selectionParams()) {
				names[p.Name] = true
			}
		}
	}
	return names
})
