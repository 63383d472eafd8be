package find

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
)

// Figure is a headline figure of a country.
type Figure struct {
	Name     string       `json:"name"`
	Value    *json.Number `json:"value"` // nil: there is none, see Reason
	Unit     string       `json:"unit"`
	Start    string       `json:"period_start,omitempty"`
	End      string       `json:"period_end,omitempty"`
	Provider string       `json:"provider,omitempty"`
	Dataset  string       `json:"dataset,omitempty"`
	Complete bool         `json:"complete"`
	Reading  string       `json:"reading"`
	Not      string       `json:"not"`
	Reason   string       `json:"reason,omitempty"`
	View     string       `json:"view,omitempty"` // page of the rows that it is made of
	Request  string       `json:"request"`        // to the interface, for the same figure
}

// figureKey is the key of a figure in what a snapshot keeps.
type figureKey struct {
	mount         *list.Mount
	language      *lang.Language
	name, country string
}

// figure is a headline figure of a country, which is read once.
func (s *search) figure(name, country string) (*Figure, error) {
	key := figureKey{s.mount, s.Language, name, country}
	return list.MadeOf(s.lists, s.served, key, func() (*Figure, error) { return s.readFigure(name, country) })
}

// readFigure reads a headline figure of a country, as a request for it does.
func (s *search) readFigure(name, country string) (*Figure, error) {
	endpoints := contract.FigureEndpoints(s.mount.Names)
	endpoint := &endpoints[slices.IndexFunc(endpoints, func(e contract.Endpoint) bool { return e.Name() == name })]
	h := endpoint.Contract().Headline
	to := s.mount.Lists[list.ListKey{Endpoint: endpoint, Kind: contract.Figures}]
	params := url.Values{s.mount.Names.Name(contract.CountryParam): {contract.PatternEscapes.Replace(country)}}
	f := &Figure{
		Name: name, Unit: h.Unit, Reading: h.Reading, Not: h.NotThis,
		Request: s.mount.Prefix + endpoint.Path + "?" + params.Encode(),
	}
	err := s.lists.Query(s.served, &to, params, func(_ *list.Reply, rows list.Records) error {
		fields := contract.FieldNames(rows.Fields())
		for row := range rows.Len() {
			cell := func(field string) []byte {
				return rows.AppendCell(nil, row, slices.Index(fields, s.mount.Names.Name(field)), false)
			}
			var place string
			if err := json.Unmarshal(cell(contract.CountryParam), &place); err != nil || place != country {
				continue // a code that differs in case
			}
			if err := json.Unmarshal(cell("value"), &f.Value); err != nil {
				return err
			}
			for field, to := range map[string]*string{
				"period_start": &f.Start, "period_end": &f.End, "provider": &f.Provider, "dataset": &f.Dataset,
				"reason": &f.Reason,
			} {
				if err := json.Unmarshal(cell(field), to); err != nil {
					return err
				}
			}
			f.Complete = string(cell("complete")) == "true"
			if string(cell("rows")) != "0" {
				f.View = s.view(cell("request"))
			}
		}
		return nil
	})
	return f, err
}

// view is the page of the rows that a request for an aggregate adds up, or the first of several.
func (s *search) view(request []byte) string {
	var one string
	var several []string
	if json.Unmarshal(request, &one) != nil && json.Unmarshal(request, &several) == nil && len(several) > 0 {
		one = several[0]
	}
	path, query, _ := strings.Cut(one, "?")
	values, err := url.ParseQuery(query)
	if err != nil || path == "" {
		return ""
	}
	for _, p := range []string{"group_by", "measures"} {
		values.Del(p)
	}
	name := strings.TrimSuffix(path, "/"+contract.Aggregate.String())
	return s.page("/browse") + name[strings.LastIndexByte(name, '/'):] + "?" + values.Encode()
}
