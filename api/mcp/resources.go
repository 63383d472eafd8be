package mcp

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hdqs/api/contract"
	"hdqs/api/site"
)

// Addresses of resources. There is a dictionary of each list below dictionaryURI.
const (
	coverageURI   = "hdqs://coverage"
	dictionaryURI = "hdqs://dictionary"
	dictionaryOf  = dictionaryURI + "/{list}"
)

// addResources adds what agents may read besides calling tools.
func (s *Server) addResources() {
	s.AddResource(&mcp.Resource{
		URI: coverageURI, Name: "coverage", Title: "Coverage", MIMEType: contract.JSONType,
		Description: "What each list covers: records, period, age, number of countries and of datasets",
	}, s.reads(coverage))
	s.AddResource(&mcp.Resource{
		URI: dictionaryURI, Name: "dictionary", Title: "Data dictionary", MIMEType: contract.JSONType,
		Description: "All lists and headline figures, with how figures may be added up",
	}, s.reads(func(*call, string) (any, error) { return dictionary(), nil }))
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: dictionaryOf, Name: "dictionary of a list", MIMEType: contract.JSONType,
		Description: "Fields with meanings and units, and filters of one list",
	}, s.reads(func(_ *call, uri string) (any, error) {
		e := listNamed(uri)
		if e == nil {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		return dictionaryOfList(e, true), nil
	}))
}

// reads answers requests for a resource.
func (s *Server) reads(make func(c *call, uri string) (any, error)) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := r.Params.URI
		var body []byte
		err := s.do(func() error {
			of, err := make(&call{Server: s, Context: ctx}, uri)
			if err == nil {
				body = visible(marshal(of))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: uri, MIMEType: contract.JSONType, Text: string(body)},
		}}, nil
	}
}

// covered is what a list covers.
type covered struct {
	List      string `json:"list"`
	Title     string `json:"title"`
	Records   int    `json:"records"`
	Period    string `json:"period"`
	Updated   string `json:"updated"`
	Datasets  int    `json:"datasets"`
	Countries *int   `json:"countries,omitempty"`
}

// coverage is what each list covers.
func coverage(c *call, _ string) (any, error) {
	var sources site.Sources
	if _, err := c.ask(sourcesPath, nil, &sources); err != nil {
		return nil, err
	}
	all := struct {
		Snapshot string    `json:"snapshot"`
		Lists    []covered `json:"lists"`
	}{Snapshot: sources.Snapshot}
	for _, l := range sources.Lists {
		of := covered{l.List, l.Title, l.Records, l.Period, l.Updated, len(l.Datasets), nil}
		if e := listNamed(l.List); l.Records > 0 && hasField(e, contract.CountryParam) {
			var found struct {
				Data []struct {
					N int `json:"distinct_location_code"`
				} `json:"data"`
			}
			params := url.Values{"measures": {"distinct:" + contract.CountryParam}}
			if _, err := c.ask(e.Path+"/aggregate", params, &found); err != nil {
				return nil, err
			}
			of.Countries = &found.Data[0].N
		}
		all.Lists = append(all.Lists, of)
	}
	return all, nil
}

// described is a list in the dictionary.
type described struct {
	List    string           `json:"list"`
	Title   string           `json:"title"`
	Group   string           `json:"group"`
	Note    string           `json:"note,omitempty"`
	Sums    []string         `json:"sums,omitempty"`
	Fields  []describedField `json:"fields,omitempty"`
	Filters []describedField `json:"filters,omitempty"`
}

type describedField struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Unit    string `json:"unit,omitempty"`
	Meaning string `json:"meaning,omitempty"`
}

// dictionary describes everything in short. It depends on the program only.
func dictionary() any {
	var all struct {
		Lists   []described         `json:"lists"`
		Figures []map[string]string `json:"figures"`
	}
	for i := range contract.Endpoints {
		all.Lists = append(all.Lists, dictionaryOfList(&contract.Endpoints[i], false))
	}
	for i := range contract.Headlines {
		h := &contract.Headlines[i]
		all.Figures = append(all.Figures, map[string]string{
			"figure": h.Name, "title": h.Title, "unit": h.Unit, "list": h.Path[strings.LastIndexByte(h.Path, '/')+1:],
			"reading": h.Reading, "not": h.NotThis,
		})
	}
	return all
}

// dictionaryOfList describes a list, with its fields and filters if the whole is asked for.
func dictionaryOfList(e *contract.Endpoint, whole bool) described {
	d := described{List: e.Name(), Title: e.Summary, Group: e.GroupTitle(), Note: e.Note, Sums: e.SumRules()}
	if !whole {
		return d
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		d.Fields = append(d.Fields, describedField{f.Name, f.TypeText(), e.Unit(f.Name), e.Meaning(f.Name)})
	}
	for _, p := range e.Filters() {
		d.Filters = append(d.Filters, describedField{p.Name, p.TypeText(), "", p.Describe()})
	}
	return d
}
