package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
)

// Bounds of pages.
const (
	usualRows   = 50
	usualGroups = 200
	mostRows    = 1000
)

// arguments are those of all tools.
type arguments struct {
	tool string
	sent map[string]any

	Words, Kind, Figure, List, Since, Dataset string
	EndDate                                   string `json:"end_date"`
	Commodity                                 string `json:"commodity_code"`
	Countries, Fields, Measures               names
	GroupBy                                   names `json:"group_by"`
	Filters                                   map[string]any
	Limit, Offset                             *int
}

// names are texts of a list. One text with commas is taken too.
type names []string

// UnmarshalJSON implements json.Unmarshaler.
func (n *names) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		for name := range strings.SplitSeq(one, ",") {
			if name = strings.TrimSpace(name); name != "" {
				*n = append(*n, name)
			}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(n))
}

// read reads the arguments of a tool. Unknown ones are refused: one that is ignored gives an answer
// to another question.
func (c *call) read(t *tool, sent json.RawMessage) error {
	a := &c.args
	a.tool, a.sent = t.Name, map[string]any{}
	if len(bytes.TrimSpace(sent)) == 0 {
		sent = []byte("{}")
	}
	numbers := json.NewDecoder(bytes.NewReader(sent))
	numbers.UseNumber()
	if numbers.Decode(&a.sent) != nil || a.sent == nil {
		return &refusal{Message: "The arguments are no JSON object"}
	}
	for _, name := range slices.Sorted(maps.Keys(a.sent)) {
		if _, known := t.arguments[name]; !known {
			return c.unknownArgument(t, name)
		}
	}
	for name, value := range a.sent {
		if texts, ok := value.([]any); ok && len(texts) == 0 || value == nil {
			delete(a.sent, name)
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(marshal(a.sent)))
	decoder.UseNumber()
	if err := decoder.Decode(a); err != nil {
		message := err.Error()
		if wrong, ok := err.(*json.UnmarshalTypeError); ok {
			message = fmt.Sprintf("%s is a %s; want a %s", strings.ToLower(wrong.Field), wrong.Value,
				t.arguments[strings.ToLower(wrong.Field)].Type)
		}
		return &refusal{Message: message}
	}
	for _, b := range []struct {
		name        string
		value       *int
		least, most int
	}{{"limit", a.Limit, 1, mostRows}, {"offset", a.Offset, 0, 1 << 30}} {
		if b.value != nil && (*b.value < b.least || *b.value > b.most) {
			return &refusal{
				Message: fmt.Sprintf("%s is %d; want %d to %d", b.name, *b.value, b.least, b.most),
				Instead: c.with(b.name, min(max(*b.value, b.least), b.most)),
			}
		}
	}
	return nil
}

// unknownArgument refuses an argument. Filters that stand beside filters are put in their place.
func (c *call) unknownArgument(t *tool, name string) error {
	r := &refusal{Message: fmt.Sprintf("%s has no argument %q; it has %s", t.Name, name,
		strings.Join(slices.Sorted(maps.Keys(t.arguments)), ", "))}
	if _, takes := t.arguments["filters"]; takes {
		list, _ := c.args.sent["list"].(string)
		if e := listNamed(list); e != nil && slices.Contains(filterNames(e), name) {
			filters, _ := c.args.sent["filters"].(map[string]any)
			filters = maps.Clone(filters)
			if filters == nil {
				filters = map[string]any{}
			}
			filters[name] = c.args.sent[name]
			r.Message = fmt.Sprintf("%q is a filter of %s: put it into filters", name, list)
			r.Instead = c.with("filters", filters)
			delete(r.Instead.Arguments, name)
			return r
		}
	}
	meant := nearest.Of(strings.ToLower(name), slices.Sorted(maps.Keys(t.arguments)))
	if also := alsoNamed[strings.ToLower(name)]; meant == "" {
		for _, other := range also {
			if _, has := t.arguments[other]; has {
				meant = other
			}
		}
	}
	if _, taken := c.args.sent[meant]; meant != "" && !taken {
		r.Instead = c.with(meant, c.args.sent[name])
		delete(r.Instead.Arguments, name)
	}
	return r
}

// alsoNamed are other names of arguments.
var alsoNamed = map[string][]string{
	"query": {"words"}, "q": {"words"}, "text": {"words"}, "search": {"words"}, "name": {"words", "figure", "list"},
	"country": {"countries"}, "location_code": {"countries"}, "iso3": {"countries"}, "country_code": {"countries"},
	"indicator": {"figure"}, "endpoint": {"list"}, "theme": {"list"}, "table": {"list"}, "where": {"filters"},
	"columns": {"fields"}, "select": {"fields"}, "groups": {"group_by"}, "metrics": {"measures"}, "max": {"limit"},
	"date": {"end_date"}, "snapshot": {"since"}, "type": {"kind"},
}

// with is the call with one argument changed.
func (c *call) with(name string, value any) *Call {
	arguments := maps.Clone(c.args.sent)
	arguments[name] = value
	return &Call{c.args.tool, arguments}
}

// withFilters is the call with other filters.
func (c *call) withFilters(filters map[string]any) *Call {
	of := c.with("filters", filters)
	delete(of.Arguments, "offset")
	if len(filters) == 0 {
		delete(of.Arguments, "filters")
	}
	return of
}

// listNamed is the list of a name, nil without one. Paths count as names.
func listNamed(name string) *contract.Endpoint {
	name = strings.Trim(name, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	at := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Name() == name })
	if at < 0 {
		return nil
	}
	return &contract.Endpoints[at]
}

// list is the list that the call names, refused with the nearest if there is none.
func (c *call) list() (*contract.Endpoint, error) {
	if e := listNamed(c.args.List); e != nil {
		return e, nil
	}
	var all []string
	for i := range contract.Endpoints {
		all = append(all, contract.Endpoints[i].Name())
	}
	r := &refusal{Message: fmt.Sprintf("there is no list %q; lists are %s", c.args.List, strings.Join(all, ", "))}
	if meant := nearest.Of(strings.ReplaceAll(strings.ToLower(c.args.List), "_", "-"), all); meant != "" {
		r.Instead = c.with("list", meant)
	} else {
		r.Instead = &Call{"find", map[string]any{"words": c.args.List, "kind": "list"}}
	}
	return nil, r
}

// selection are parameters of every list that choose rows as filters do.
var selection = []string{contract.LatestParam, contract.EverybodyParam}

// filterNames are the names of all filters of a list.
func filterNames(e *contract.Endpoint) (all []string) {
	for _, p := range e.Filters() {
		all = append(all, p.Name)
	}
	return append(all, selection...)
}

// params are the filters as parameters of a request.
func (c *call) params() (url.Values, error) { return paramsOf(c.args.Filters) }

func paramsOf(filters map[string]any) (url.Values, error) {
	params := url.Values{}
	for name, value := range filters {
		switch v := value.(type) {
		case []any:
			var all []string
			for _, one := range v {
				text, ok := textOf(one)
				if !ok {
					return nil, badFilter(name)
				}
				all = append(all, strings.NewReplacer(`\`, `\\`, `,`, `\,`).Replace(text))
			}
			params.Set(strings.TrimSuffix(name, contract.SeveralSuffix)+contract.SeveralSuffix, strings.Join(all, ","))
		case nil: // as if it were not there
		default:
			text, ok := textOf(v)
			if !ok {
				return nil, badFilter(name)
			}
			params.Set(name, text)
		}
	}
	for _, page := range [...]string{"limit", "offset", "output_format", "fields", "group_by", "measures", "since"} {
		if params.Has(page) {
			return nil, &refusal{Message: page + " is no filter: it is an argument of its own, or not needed"}
		}
	}
	return params, nil
}

func badFilter(name string) error {
	return &refusal{Message: fmt.Sprintf("the filter %q is an object; want a text, number, true, false or an array of these",
		name)}
}

// textOf is a JSON value as a query has it.
func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// page sets the page of the request.
func (c *call) page(params url.Values, usual int) (offset int) {
	if c.args.Limit != nil {
		usual = *c.args.Limit
	}
	if c.args.Offset != nil {
		offset = *c.args.Offset
	}
	params.Set("limit", strconv.Itoa(usual))
	if offset > 0 {
		params.Set("offset", strconv.Itoa(offset))
	}
	return offset
}
