package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
)

// mostRows is the longest page.
const mostRows = 1000

// arguments are those of all tools.
type arguments struct {
	Words, Kind, Figure, List, Since string
	EndDate                          string `json:"end_date"`
	Commodity                        string `json:"commodity_code"`
	Countries, Fields, Measures      []string
	GroupBy                          []string `json:"group_by"`
	Filters                          map[string]any
	Limit, Offset                    int
	History                          bool
}

// read reads the arguments of a tool. Unknown ones are refused: one that is ignored gives an answer
// to another question.
func (c *call) read(t *mcp.Tool, sent json.RawMessage) error {
	c.tool, c.sent = t.Name, map[string]any{}
	if len(sent) == 0 || string(sent) == "null" {
		return nil
	}
	if err := decode(sent, &c.sent); err != nil {
		return &refusal{Message: "the arguments cannot be read: " + err.Error()}
	}
	known := argumentsOf(t)
	for name, kind := range known {
		value := declared(c.sent[name], kind)
		if kind == "object" {
			var err error
			if value, err = filtersOf(value); err != nil {
				return err
			}
		}
		if c.sent[name] = value; isOpen(value) {
			delete(c.sent, name)
			continue
		}
		if n, err := strconv.Atoi(textOf(value)); kind == "integer" { // of 2.0 and "2", too
			if least := map[string]int{"limit": 1}[name]; err != nil || n < least {
				text := fmt.Sprintf("%s is %s; want %d or more, an integer", name, textOf(value), least)
				return &refusal{Message: text, Instead: c.with(name, nil, name)}
			}
			c.sent[name] = n
		}
	}
	err := decode(marshal(c.sent), &c.args)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		field := strings.ToLower(wrong.Field)
		kinds := map[string]string{"string": "a string", "boolean": "true or false"}
		want := cmp.Or(kinds[known[field]], "an "+known[field])
		return &refusal{Message: fmt.Sprintf("%s has the type %s; want %s", field, wrong.Value, want)}
	}
	for _, name := range slices.Sorted(maps.Keys(c.sent)) {
		if known[name] == "" {
			return c.unknown(slices.Sorted(maps.Keys(known)), name)
		}
	}
	return err
}

// decode reads a JSON value whose numbers keep all digits, and which has no name twice.
func decode(text []byte, into any) error {
	if !json.Valid(text) {
		return errors.New("it is no JSON")
	}
	if name := repeated(json.NewDecoder(bytes.NewReader(text)), math.MaxInt); name != "" {
		return fmt.Errorf("%q is there twice; want each name once", name)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// declared is a value in the type that a tool declares. Models send JSON in a text, too, and names
// with commas or semicolons for a list.
func declared(value any, kind string) any {
	var inText any
	text, isText := value.(string)
	if isText && kind != "string" && decode([]byte(text), &inText) == nil {
		value = inText
	}
	if _, isList := value.([]any); isText && kind == "array" && !isList {
		names := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' })
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		value = names
	}
	return value
}

// isOpen reports whether a value leaves an argument or filter open. A strict schema has them all.
func isOpen(value any) bool {
	list, isList := value.([]any)
	return value == nil || value == "" || isList && len(list) == 0
}

// listOf is a list, or that of one value.
func listOf(value any) []any {
	if list, isList := value.([]any); isList {
		return list
	}
	return []any{value}
}

// filtersOf are filters by name. They may be texts NAME=VALUE, too: a list, or below "more", where
// a strict schema has those that it does not name, and models send an object. Several with one name
// match any of their values.
func filtersOf(sent any) (any, error) {
	filters, isObject := sent.(map[string]any)
	if isObject {
		sent = declared(filters["more"], "object")
		delete(filters, "more")
	}
	all := map[string]any{}
	add := func(name string, value any) {
		if isOpen(value) {
			return
		}
		if before := all[name]; before != nil {
			value = slices.Concat(listOf(before), listOf(value))
		}
		all[name] = value
	}
	for name, value := range filters {
		add(name, value)
	}
	texts, isList := sent.([]any)
	if text, isText := sent.(string); isText && text != "" {
		texts, isList = []any{text}, true
	}
	switch more, isNamed := sent.(map[string]any); {
	case isObject && isNamed:
		for name, value := range more {
			add(name, value)
		}
	case isObject && !isList && !isOpen(sent):
		return nil, &refusal{Message: "more has the type of " + textOf(sent) + "; want texts NAME=VALUE"}
	case !isObject && !isList:
		return sent, nil // open, or refused later
	}
	for _, one := range texts {
		name, value, ok := strings.Cut(textOf(one), "=")
		if !ok {
			return nil, &refusal{Message: fmt.Sprintf("the filter %q is no text NAME=VALUE", textOf(one))}
		}
		add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return all, nil
}

// unknown refuses an argument. A filter that stands beside filters is put in its place.
func (c *call) unknown(all []string, name string) error {
	r := &refusal{Message: fmt.Sprintf("%s has no argument %q; it has %s", c.tool, name, strings.Join(all, ", "))}
	list, _ := c.sent["list"].(string)
	if e := listNamed(list); e != nil && slices.Contains(filterNames(e), name) {
		r.Instead = c.withFilter(name, c.sent[name])
		delete(r.Instead.Arguments, name)
	} else if meant := nearest.Of(strings.ToLower(name), all); meant != "" && c.sent[meant] == nil {
		r.Instead = c.with(meant, c.sent[name], name)
	}
	return r
}

// with is the call with one argument changed, and without others.
func (c *call) with(name string, value any, without ...string) *Call {
	changed := maps.Clone(c.sent)
	changed[name] = value
	for _, other := range append(without, "offset") {
		delete(changed, other)
	}
	return &Call{c.tool, changed}
}

// withFilter is the call with a filter in place of others.
func (c *call) withFilter(name string, value any, without ...string) *Call {
	filters := map[string]any{}
	maps.Copy(filters, c.args.Filters)
	for _, other := range without {
		delete(filters, other)
	}
	if name != "" {
		filters[name] = value
	}
	return c.with("filters", filters)
}

// listNamed is the list of a name, nil without one. Paths count as names.
func listNamed(name string) *contract.Endpoint {
	name = name[strings.LastIndexByte(name, '/')+1:]
	at := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Name() == name })
	if at < 0 {
		return nil
	}
	return &contract.Endpoints[at]
}

// list is the list that the call names.
func (c *call) list() (*contract.Endpoint, error) {
	if e := listNamed(c.args.List); e != nil {
		return e, nil
	}
	var all []string
	for i := range contract.Endpoints {
		all = append(all, contract.Endpoints[i].Name())
	}
	return nil, c.noSuch("list", c.args.List, "-", all)
}

// noSuch refuses the name of a list or figure. The words of names have a sign between them.
func (c *call) noSuch(what, name, between string, all []string) error {
	r := &refusal{Message: fmt.Sprintf("there is no %s %q; there are %s", what, name, strings.Join(all, ", "))}
	r.Instead = &Call{"find", map[string]any{"words": name}} // malnutrition is no figure, but a sector
	plain := strings.NewReplacer(" ", between, "_", between, "-", between).Replace(strings.ToLower(name))
	with := slices.DeleteFunc(slices.Clone(all), func(other string) bool { return !strings.Contains(other, plain) })
	if len(with) != 1 {
		with = []string{nearest.Of(plain, all)}
	}
	if with[0] != "" {
		r.Instead = c.with(what, with[0])
	}
	return r
}

// selection are parameters that choose rows and are no filters.
var selection = []string{contract.LatestParam, contract.EverybodyParam}

// filterNames are the names of all filters of a list.
func filterNames(e *contract.Endpoint) (all []string) {
	for _, p := range e.Filters() {
		all = append(all, p.Name)
	}
	return append(all, selection...)
}

// noFilters are parameters that are arguments of their own, or have no use here.
var noFilters = []string{
	"limit", "offset", "output_format", "fields", "group_by", "measures", "since", "of", contract.SnapshotParam,
	contract.IdentifierParam, // which answers would tell with their address
}

// filter is a filter of the arguments: its name and text in a request, and the values that a record
// may have.
type filter struct {
	name, text string
	values     []string
}

// filters are the list that the call names, and its filters in the order of their names.
func (c *call) filters() (e *contract.Endpoint, all []filter, err error) {
	if e, err = c.list(); err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.args.Filters)) {
		value := c.args.Filters[name]
		plain, isSeveral := strings.CutSuffix(name, contract.SeveralSuffix)
		if _, twice := c.args.Filters[plain].([]any); isSeveral && twice {
			return nil, nil, &refusal{
				Message: fmt.Sprintf("%s and %s both have several values; want one of them", plain, name),
			}
		}
		several, isList := value.([]any)
		f, texts := filter{name: name, text: textOf(value)}, []string{}
		for _, one := range several {
			if text := textOf(one); !slices.Contains(f.values, text) {
				f.values, texts = append(f.values, text), append(texts, strings.ReplaceAll(text, ",", `\,`))
			}
		}
		p := contract.PlanOf(e, contract.Rows).Param(name)
		if len(texts) == 1 && texts[0] != "" && p != nil && !p.Several {
			f.text, isList = f.values[0], false // a list of one value, of a filter that takes one
		}
		switch _, isObject := value.(map[string]any); {
		case slices.ContainsFunc(f.values, func(one string) bool { return strings.Contains(one, `\`) }):
			return nil, nil, &refusal{Message: fmt.Sprintf("the filter %q has a backslash in an array, where it would "+
				"mean something else; send that value alone", name)}
		case slices.Contains(noFilters, name):
			return nil, nil, &refusal{Message: name + " is no filter: it is an argument of its own, or not needed"}
		case isObject:
			return nil, nil, &refusal{Message: fmt.Sprintf("the filter %q is an object; want a value or values", name)}
		case isList:
			if f.name, f.text = plain+contract.SeveralSuffix, strings.Join(texts, ","); f.text == "" {
				return nil, nil, &refusal{Message: fmt.Sprintf("the filter %q has no value; leave it out", name)}
			}
		case value == nil:
			continue
		case isSeveral:
			f.values = strings.Split(f.text, ",")
		default:
			f.values = []string{f.text}
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b filter) int { return strings.Compare(a.name, b.name) })
	return e, all, nil
}

// parameters are those of a request for a page of the records that pass, names and values.
func (a *arguments) parameters(filters []filter, usual int) (pairs []string) {
	for _, f := range filters {
		pairs = append(pairs, f.name, f.text)
	}
	if a.Limit > 0 {
		usual = min(a.Limit, mostRows)
	}
	pairs = append(pairs, "limit", strconv.Itoa(usual))
	if a.Offset > 0 {
		pairs = append(pairs, "offset", strconv.Itoa(a.Offset))
	}
	return pairs
}

// textOf is a JSON value as a query has it.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	if n, ok := value.(json.Number); ok && strings.ContainsAny(n.String(), ".eE") {
		if x, err := n.Float64(); err == nil {
			value = x // 2.0 is a whole number
		}
	}
	return string(marshal(value))
}
