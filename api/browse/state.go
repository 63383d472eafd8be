package browse

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
)

// Parameters of pages that the interface does not have.
const (
	rowParam    = "row"           // a record to show whole, by its position among all that pass
	formatParam = "output_format" // of the interface; a page has one format
	columnParam = "column"        // a field to show, as the form sends it: the address then has fields

	measureParam = "measure" // what is drawn: a field, or records
	byParam      = "by"      // by what: a field, or a part of the period
	spanParam    = "span"    // all: months are drawn from the first on
	sortParam    = "sort"    // a column that the records are sorted by, the greatest first with a minus
	figureParam  = "figure"  // the headline figure that the page is about
	moreParam    = "more"    // a field of which all values are counted, or moreFigures
)

// moreFigures asks for all lines of the tables of figures.
const moreFigures = "figures"

// own are the parameters that the interface does not have.
var own = []string{rowParam, columnParam, measureParam, byParam, spanParam, sortParam, figureParam, moreParam}

// ErrAddress is the error of an address that is not encoded as addresses are.
var ErrAddress = errors.New("browse: the address is malformed")

// latestParam asks for the newest record of each series.
const latestParam = "latest"

// pageSize is how many records a page has unless its address says otherwise, and the sizes that it
// offers.
const pageSize = 25

var pageSizes = []int{25, 100, 500}

// maxPage is the most records of a page: more than that is for programs.
const maxPage = 500

// state is the address of a page.
type state struct {
	path     string // of the page
	language *lang.Language
	values   url.Values
	nowhere  []string   // what names no country
	unknown  url.Values // parameters without a meaning, which no link repeats

	called func(code string) string // the name of a country, for the form

	// The page's question for records, which New reads from the address. Changed addresses have
	// none.
	asked *contract.Question
}

// readState reads the query of a page. If a form sent it, with parameters that have no value or one
// for each column, clean are the parameters that say the same.
//
// Links of the page have only parameters with a meaning, and no identifier: caches give the page to
// others, and a link for each value would repeat whatever was sent.
func readState(q *Question, path string, all []Country) (s state, clean url.Values, err error) {
	p, l, query := q.Plan, q.Language, q.Query
	values, err := url.ParseQuery(query)
	if err != nil {
		return s, nil, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	s = state{path: path, language: l, values: values, unknown: url.Values{}}
	values.Del(contract.IdentifierParam)
	for name, all := range values {
		if !p.Knows(name) && !slices.Contains(own, name) {
			s.unknown[name] = all
			delete(values, name)
		}
	}
	before := values.Encode()
	for name, all := range values { // chips, forms and figures know the names of the page
		if own := p.Endpoint.Names().Name(name); own != name && !values.Has(own) {
			values[own] = all
			delete(values, name)
		}
	}
	values.Del(formatParam)
	if columns := values[columnParam]; len(columns) > 0 {
		values.Del(columnParam)
		values.Set("fields", chosenFields(p.Endpoint, columns))
	}
	for name, all := range values {
		all = slices.DeleteFunc(all, func(v string) bool { return strings.TrimSpace(v) == "" })
		isUnited := name == contract.FieldsParam || strings.HasSuffix(name, contract.SeveralSuffix)
		if n := len(all); n > 1 && !isUnited {
			all = all[n-1:] // the last counts, as in a request
		}
		if values[name] = all; len(all) == 0 {
			delete(values, name)
		} else if param := p.Param(name); name == rowParam {
			all[0] = typed(contract.Integer, all[0])
		} else if param != nil && param.Type > contract.URI && !param.List {
			all[0] = typed(param.Type, all[0])
		}
	}
	s.nowhere = nameCountries(values, all)
	if values.Encode() == before {
		return s, nil, nil
	}
	return s, values, nil
}

// nameCountries turns the names of countries in a field of the form into codes, and several into a
// list. It returns what names no country.
func nameCountries(values url.Values, all []Country) (unknown []string) {
	var places lang.Places
	isCode := func(text string) bool {
		return slices.ContainsFunc(all, func(c Country) bool { return c.Code == text })
	}
	find := func(text string) (code string, ok bool) {
		if isCode(text) || strings.ContainsAny(text, `%_\`) { // a pattern is no name
			return text, true
		}
		if places.IsEmpty() {
			for _, c := range all {
				places.Add(c.Code, c.English)
			}
		}
		code = places.Find(text)
		return cmp.Or(code, text), code != ""
	}
	if sent := values["location_name"]; len(sent) == 1 && !values.Has(contract.CountryParam) {
		isPart := func(c Country) bool { return strings.Contains(strings.ToLower(c.English), strings.ToLower(sent[0])) }
		if code, ok := find(sent[0]); ok && !slices.ContainsFunc(all, isPart) { // of another language
			values.Del("location_name")
			values.Set(contract.CountryParam, code)
		}
	}
	for name, sent := range values {
		field := strings.TrimSuffix(name, contract.SeveralSuffix)
		if !isCountry(field) || len(sent) == 0 {
			continue
		}
		texts, isList := splitLists([]string{lang.Commas.Replace(strings.Join(sent, ","))}), field != name
		if len(sent) == 1 && !isList {
			if code, ok := find(sent[0]); ok { // a name can have a comma
				texts = []string{code}
			}
		}
		var codes []string
		for _, text := range texts {
			code, ok := find(strings.TrimSpace(text))
			if code == "" {
				continue
			}
			if codes = append(codes, code); !ok {
				unknown = append(unknown, code)
			}
		}
		switch values.Del(name); {
		case len(codes) == 1 && !isList && !strings.Contains(codes[0], ","):
			values.Set(field, codes[0])
		case len(codes) > 0:
			values.Set(field+contract.SeveralSuffix, joinList(codes, ","))
		}
	}
	return unknown
}

// Numbers with blanks between thousands, and those whose mark can be one between thousands.
var (
	spaced    = regexp.MustCompile(`^[-+]?[0-9]{1,3}( [0-9]{3})+([.,][0-9]+)?$`)
	thousands = regexp.MustCompile(`^[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}$`)
)

// typed is a number, a time or a choice as the interface takes it, if the text can mean nothing
// else: of other digits, hyphens and blanks, with a decimal comma, or slashes after a year.
func typed(t contract.Type, text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch digit := lang.Letters[r]; {
		case unicode.Is(unicode.Cf, r): // marks of direction
			return -1
		case unicode.IsSpace(r), r == '٬':
			return ' '
		case unicode.Is(unicode.Pd, r), r == '−':
			return '-'
		case r == '٫':
			return '.'
		case digit != "" && unicode.IsDigit(r):
			return rune(digit[0])
		}
		return r
	}, text))
	switch isTime := t == contract.Day || t == contract.DateTime; {
	case isTime && len(text) > 4 && strings.Contains("/.", text[4:5]):
		return strings.NewReplacer("/", "-", ".", "-").Replace(text)
	case spaced.MatchString(text):
		text = strings.ReplaceAll(text, " ", "")
	}
	if isNumber(&contract.Field{Type: t}) && strings.Count(text, ",") == 1 && !thousands.MatchString(text) {
		return strings.Replace(text, ",", ".", 1)
	}
	return text
}

// unclear are the issues of values that the interface takes, and that people may mean otherwise: a
// point before three digits is a decimal mark in English, and digits alone are no day, but seconds.
func unclear(p *contract.Plan, s state) (all []contract.Issue) {
	for i := range p.Params {
		name, t := p.Params[i].Name, p.Params[i].Type
		sent := s.values.Get(name)
		isMark := !s.language.IsEnglish() && thousands.MatchString(sent) && strings.Contains(sent, ".")
		isMark = isMark && isNumber(&contract.Field{Type: t})
		if isMark || t == contract.DateTime && sent != "" && strings.Trim(sent, "0123456789") == "" {
			const text = "%s can mean two things; write numbers as 1000 or 0.5, and days as 2024-05-31"
			all = append(all, contract.Issue{Type: "value_error", Param: name, Input: sent, Text: say.Of(text, sent)})
		}
	}
	return all
}

func isCountry(name string) bool { return strings.HasSuffix(name, "location_code") }

// chosenFields are the fields of the columns that were chosen, empty if they are those that are
// shown anyway.
func chosenFields(e *contract.Endpoint, columns []string) string {
	var names []string
	usual := true
	for i := range e.Fields {
		name := e.Fields[i].Name
		chosen := slices.Contains(columns, name)
		if usual = usual && chosen != isQuiet(e, name); chosen {
			names = append(names, name)
		}
	}
	isField := func(name string) bool {
		return slices.ContainsFunc(e.Fields, func(f contract.Field) bool { return f.Name == name })
	}
	unknown := slices.DeleteFunc(slices.Clone(columns), isField) // which is refused, with near ones
	if names = append(names, unknown...); usual && len(unknown) == 0 {
		return ""
	}
	return strings.Join(names, ",")
}

func (s state) address(values url.Values) string { return address(s.path, values) }

// link is the address of the page.
func (s state) link() string { return s.address(s.values) }

// with is the address of the first page of records after parameters have been set, given as name,
// value, name, value. An empty value removes a parameter.
func (s state) with(pairs ...string) string { return s.set(pairs...).link() }

// set is the page at the address that with returns.
func (s state) set(pairs ...string) state {
	at := state{path: s.path, language: s.language, values: s.copy("offset", rowParam)}
	for i := 0; i < len(pairs); i += 2 {
		if at.values.Del(pairs[i]); pairs[i+1] != "" {
			at.values.Set(pairs[i], pairs[i+1])
		}
	}
	return at
}

// linker returns what makes addresses of the page with another value of a parameter, and without
// some. The rest of the address is made once.
func (s state) linker(name string, without ...string) func(value string) string {
	low, high := url.Values{}, url.Values{}
	for other, all := range s.copy(append(without, name)...) {
		if other < name {
			low[other] = all
		} else {
			high[other] = all
		}
	}
	before, after := s.path+"?", ""
	if len(low) > 0 {
		before += low.Encode() + "&"
	}
	before += url.QueryEscape(name) + "="
	if len(high) > 0 {
		after = "&" + high.Encode()
	}
	return func(value string) string { return before + url.QueryEscape(value) + after }
}

// copy returns the parameters without some.
func (s state) copy(without ...string) url.Values {
	values := url.Values{}
	for name, all := range s.values {
		if !slices.Contains(without, name) {
			values[name] = all
		}
	}
	return values
}

// number reads a parameter that is a count. It is fallback if it is missing or no count; the answer
// to the page's question says what is wrong with it.
func (s state) number(name string, fallback int) int {
	n, err := strconv.Atoi(s.values.Get(name))
	if err != nil || n < 0 {
		return fallback
	}
	return n
}

func (s state) limit() int { return min(s.number("limit", pageSize), maxPage) }

func (s state) offset() int { return s.number("offset", 0) }

// query is the query of the request that answers with the records of the page.
func (s state) query() string {
	values := s.copy(own...)
	values.Set("limit", strconv.Itoa(s.limit()))
	maps.Copy(values, s.unknown) // the page names them
	return values.Encode()
}

// notFilters are the parameters that do not say which records pass.
var notFilters = append(slices.Clip(own), "limit", "offset", contract.FieldsParam)

// only is the first page of the records that some of the filters choose.
func (s state) only(keep func(name string) bool) state {
	at := state{path: s.path, values: s.copy(notFilters...), asked: s.asked.As(contract.Rows)}
	for name := range at.values {
		if !keep(name) {
			delete(at.values, name)
			at.asked.Drop(name)
		}
	}
	return at
}

// groups is the address of a request for groups of the records that pass, after parameters have
// been set as with does.
func (s state) groups(path string, fields, measures []string, pairs ...string) string {
	at := state{path: path, values: s.copy(notFilters...)}
	return at.with(append(pairs, "group_by", strings.Join(fields, ","), "measures", strings.Join(measures, ","),
		"limit", strconv.Itoa(contract.MaxLimit))...)
}

func isFilter(p *contract.Plan, name string) bool {
	param := p.Param(name)
	return param != nil && len(param.Columns) > 0
}

// names lists the filters of an endpoint.
func names(p *contract.Plan) []string {
	var all []string
	for i := range p.Params {
		if len(p.Params[i].Columns) > 0 {
			all = append(all, p.Params[i].Name)
		}
	}
	return append(all, latestParam)
}

func address(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

type link struct{ Text, Address string }

type option struct {
	Value, Label string
	Selected     bool
}

// keptIn are parameters that a form sends on.
func keptIn(values url.Values) (kept []option) {
	for _, pair := range pairs(values) {
		kept = append(kept, option{Label: pair[0], Value: pair[1]})
	}
	return kept
}

// pairs are parameters in order, each name with each of its values.
func pairs(values url.Values) (all [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			all = append(all, [2]string{name, value})
		}
	}
	return all
}

// chosenOf are the values that the address has for a field, sorted.
func chosenOf(s state, field string) []string {
	all := slices.Concat(s.values[field], splitLists(s.values[field+contract.SeveralSuffix]))
	slices.Sort(all)
	return slices.Compact(all)
}

// valuesPairs are the parameters of the page of records with some values of a field.
func valuesPairs(field string, values ...string) []string {
	isList := isCountry(field) && strings.Contains(strings.Join(values, ""), ",") // as forms send it
	if len(values) == 1 && !isList {
		return []string{field, values[0], field + contract.SeveralSuffix, ""}
	}
	return []string{field, "", field + contract.SeveralSuffix, joinList(values, ",")}
}

// A backslash before a comma makes it a part of a value, unless it belongs to the one before it.
var (
	listEscapes = strings.NewReplacer(`\\`, `\\`, `\,`, `\,`, ",", `\,`)
	listCommas  = strings.NewReplacer(`\\`, `\\`, `\,`, "\x00")
)

// joinList is a list of values. A comma in a value gets a backslash.
func joinList(values []string, between string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = listEscapes.Replace(v)
	}
	return strings.Join(quoted, between)
}

// splitLists are the values of lists. A value with a comma has a backslash before it.
func splitLists(lists []string) []string {
	var all []string
	for _, list := range lists {
		for v := range strings.SplitSeq(listCommas.Replace(list), ",") {
			all = append(all, strings.ReplaceAll(v, "\x00", ","))
		}
	}
	return all
}
