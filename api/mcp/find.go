package mcp

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/find"
)

const searchPath = "/search/suggest"

// result is a name that was found, with what to do next.
type result struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Code   string `json:"code"`
	Within string `json:"within,omitempty"`
	Use    []use  `json:"use,omitempty"`

	// Of lists and figures only.
	Filters []string `json:"filters,omitempty"`
	Fields  []string `json:"fields,omitempty"`
	Sums    []string `json:"sums,omitempty"`
	Reading string   `json:"reading,omitempty"`
}

// use is a call, or the filters that several lists take.
type use struct {
	Tool      string         `json:"tool"`
	Lists     []string       `json:"lists,omitempty"`
	Arguments map[string]any `json:"arguments"`
}

// search answers with names.
func search(c *call) (*Answer, error) {
	params := url.Values{"q": {c.args.Words}}
	if strings.TrimSpace(c.args.Words) == "" {
		return nil, &refusal{Message: "words are empty; want what to look for, such as a place, a sector or a theme"}
	}
	if c.args.Kind != "" {
		params.Set("kind", c.args.Kind)
	}
	a := &Answer{name: "results", next: map[string]any{"words": c.args.Words}}
	if c.args.Kind != "" {
		a.next["kind"] = c.args.Kind
	}
	if c.args.Offset != nil && *c.args.Offset > 0 {
		a.from = *c.args.Offset
		params.Set("offset", strconv.Itoa(a.from))
	}
	var found find.Answer
	if _, err := c.ask(searchPath, params, &found); err != nil {
		return nil, err
	}
	a.URL, a.Query, a.Sought, a.Kinds, a.Total = c.address(searchPath, params), found.Query, found.Instead, found.Kinds, found.Total
	for i := range found.Results {
		a.Rows = append(a.Rows, marshal(resultOf(&found.Results[i])))
	}
	if found.Instead != "" {
		a.Warnings = append(a.Warnings, fmt.Sprintf("nothing has all the words %q; these have %q", found.Query, found.Instead))
	}
	if found.Total > 0 {
		return a, nil
	}
	a.Nothing = &Nothing{Statement: fmt.Sprintf("no place, organisation, sector, commodity, market, list, figure or dataset "+
		"of this snapshot has the words %q", found.Query)}
	if len(found.Kinds) > 0 {
		a.Nothing.Statement = fmt.Sprintf("no %s has the words %q, but names of other kinds have: see kinds", c.args.Kind, found.Query)
		a.Instead = &Call{"find", map[string]any{"words": c.args.Words}}
	}
	return a, nil
}

// resultOf says how to go on from a name.
func resultOf(f *find.Result) *result {
	r := &result{Kind: f.Kind, Name: f.Name, Code: f.Code, Within: f.Within}
	country := map[string]any{}
	if before, code, ok := strings.Cut(f.Address, "/country/"); ok && !strings.Contains(before, "?") {
		code, _ = url.PathUnescape(code)
		country["countries"] = []string{code}
	}
	switch f.Kind {
	case "figure":
		country["figure"] = f.Code
		r.Use = []use{{"figure", nil, country}}
		if h, _ := contract.HeadlineOf(f.Code, contract.ContractNames); h != nil {
			r.Reading = h.Reading
		}
		return r
	case "country":
		r.Use = append(r.Use, use{"figure", nil, country})
	case "list":
		if e := listNamed(f.Code); e != nil {
			r.Filters, r.Fields, r.Sums = filterNames(e), contract.FieldNames(e.Fields), e.SumRules()
		}
	}
	for _, link := range append(f.Lists, find.Link{Address: f.Address}) {
		r.add(link.Address)
	}
	return r
}

// add adds the list and the filters of an address of a page.
func (r *result) add(address string) {
	u, err := url.Parse(address)
	if err != nil || !strings.Contains(u.Path, "/browse/") {
		return
	}
	of := callFor(path.Base(u.Path), u.Query())
	if of == nil {
		return
	}
	list := of.Arguments["list"].(string)
	delete(of.Arguments, "list")
	for i := range r.Use {
		if r.Use[i].Lists != nil && string(marshal(r.Use[i].Arguments)) == string(marshal(of.Arguments)) {
			if !slices.Contains(r.Use[i].Lists, list) {
				r.Use[i].Lists = append(r.Use[i].Lists, list)
			}
			return
		}
	}
	r.Use = append(r.Use, use{"rows or aggregate", []string{list}, of.Arguments})
}
