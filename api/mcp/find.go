package mcp

import (
	"fmt"
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

	Nothing string       `json:"nothing,omitempty"` // why a figure has no value
	Before  *find.Before `json:"before,omitempty"`  // what a figure was, of a question over time

	// Of lists and figures only.
	Reading string   `json:"reading,omitempty"`
	Filters []string `json:"filters,omitempty"`
	Fields  []string `json:"fields,omitempty"`
	Sums    []string `json:"sums,omitempty"`
}

// use is a call, of rows and aggregate for any of several lists.
type use struct {
	Tool      string         `json:"tool"`
	Lists     []string       `json:"lists,omitempty"`
	Arguments map[string]any `json:"arguments"`
}

// search answers with names.
func search(c *call) (*Answer, error) {
	if strings.TrimSpace(c.args.Words) == "" {
		return nil, &refusal{Message: "words are empty; want what to look for, such as a place, a sector or a theme"}
	}
	if c.args.Kind == "any" {
		c.args.Kind = ""
	}
	found, err := c.find(c.args.Words, c.args.Kind, c.args.Offset)
	if err != nil {
		return nil, err
	}
	a := &Answer{
		Query: found.Query, Searched: found.Instead, Kinds: found.Kinds, Total: found.Total,
		URL: c.address(searchPath, "q", c.args.Words, "kind", c.args.Kind, "offset", strconv.Itoa(c.args.Offset)),
	}
	for i := range found.Results {
		a.Rows = append(a.Rows, marshal(resultOf(&found.Results[i])))
	}
	switch {
	case len(found.Left) > 0:
		a.Warnings = append(a.Warnings, fmt.Sprintf("nothing here answers to %s: these words are left out, so "+
			"that the figures below are of other questions", quoted(found.Left)))
	case found.Total > 0 && found.Instead != "" && found.Results != nil && found.Results[0].Kind == "figure":
		a.Warnings = append(a.Warnings, fmt.Sprintf("%q is read as %q", found.Query, found.Instead))
	case found.Total > 0 && found.Instead != "":
		a.Warnings = append(a.Warnings,
			fmt.Sprintf("nothing has all words of %q; this has %q", found.Query, found.Instead))
	case found.Total == 0 && len(found.Kinds) > 0:
		a.Nothing = &nothing{Statement: fmt.Sprintf("no %s has the words %q; names of other kinds have, see kinds",
			c.args.Kind, found.Query)}
		a.Instead = &Call{"find", map[string]any{"words": c.args.Words}}
	case found.Total == 0:
		a.Nothing = &nothing{Statement: fmt.Sprintf(
			"no place, organisation, sector, commodity, market, list, figure or dataset has the words %q", found.Query)}
	}
	return a, nil
}

// quoted are words in quotation marks, with commas between them.
func quoted(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, strconv.Quote(w))
	}
	return strings.Join(all, ", ")
}

// find finds names for words.
func (c *call) find(words, kind string, offset int) (*find.Answer, error) {
	if len(c.address(searchPath, "q", words, "kind", kind, "offset", strconv.Itoa(offset))) > mostSearch {
		return nil, &refusal{Message: "the words are too long; send fewer or shorter values"}
	}
	var all *find.Answer
	err := c.pass(c.of.Lists.Admission.Gate, func() (err error) {
		all, err = c.of.Find(c.served, find.Query{Text: words, Kind: kind, Offset: offset})
		return err
	})
	return all, err
}

// resultOf says how to go on from a name.
func resultOf(f *find.Result) *result {
	r := &result{Kind: f.Kind, Name: f.Name, Code: f.Code, Within: f.Within}
	arguments := map[string]any{}
	if at, country := path.Split(f.Address); strings.HasSuffix(at, "/country/") {
		arguments["countries"] = []string{country}
	} else if f.Countries != nil {
		arguments["countries"] = f.Countries
	}
	if f.Until != "" {
		arguments["end_date"] = f.Until
	}
	r.Nothing = f.Reason.String()
	if f.Figure != nil {
		for _, link := range f.Lists {
			if !link.InReason {
				r.Nothing += "; there is: " + link.Title
			}
		}
	}
	switch e := listNamed(f.Code); {
	case f.Kind == "figure" && f.Question != nil: // of a part
		h, _ := contract.HeadlineOf(f.Code, contract.ContractNames)
		of := callFor(f.Question)
		list := of.Arguments["list"].(string)
		delete(of.Arguments, "list")
		r.Use, r.Reading = []use{{of.Tool, []string{list}, of.Arguments}}, h.Reading
		return r
	case f.Kind == "figure" && f.Figure != nil && f.Figure.Request == "": // no call has an answer
	case f.Kind == "figure":
		if arguments["figure"] = f.Code; f.Before != nil && f.Before.Changed != "" {
			arguments["history"] = true
		}
		r.Before = f.Before
		h, _ := contract.HeadlineOf(f.Code, contract.ContractNames)
		r.Use, r.Reading = []use{{"figure", nil, arguments}}, h.Reading
		return r
	case f.Kind == "country":
		r.Use = []use{{"figure", nil, arguments}}
	case f.Kind == "list" && e != nil:
		if arguments["figure"] = f.Headline; f.Headline != "" {
			r.Use = []use{{"figure", nil, arguments}}
		}
		r.Filters, r.Fields, r.Sums = filterNames(e), contract.FieldNames(e.Fields), e.Texts().SumRules()
	}
	for _, link := range append(f.Lists, find.Link{Question: f.Question}) {
		if link.Question != nil {
			r.add(callFor(link.Question))
		}
	}
	return r
}

// add adds a call for rows of a list.
func (r *result) add(of *Call) {
	list := of.Arguments["list"].(string)
	delete(of.Arguments, "list")
	same := func(u use) bool {
		return u.Lists != nil && string(marshal(u.Arguments)) == string(marshal(of.Arguments))
	}
	at := slices.IndexFunc(r.Use, same)
	if at < 0 {
		r.Use = append(r.Use, use{"rows or aggregate", nil, of.Arguments})
		at = len(r.Use) - 1
	}
	if !slices.Contains(r.Use[at].Lists, list) {
		r.Use[at].Lists = append(r.Use[at].Lists, list)
	}
}
