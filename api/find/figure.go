package find

import (
	"encoding/json"
	"slices"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/say"
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
	Reason   say.Text     `json:"reason,omitzero"`
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
	key := figureKey{s.mount, s.language, name, country}
	return list.MadeOf(s.served, key, func() (*Figure, error) { return s.readFigure(name, country) })
}

// readFigure reads a headline figure of a country, as a request for it does.
func (s *search) readFigure(name, country string) (*Figure, error) {
	endpoints := contract.FigureEndpoints(s.mount.Names)
	endpoint := &endpoints[slices.IndexFunc(endpoints, func(e contract.Endpoint) bool { return e.Name() == name })]
	h := endpoint.Contract().Headline
	code := filterOf(h.List(contract.ContractNames), Country).Exactly(country)
	f := &Figure{
		Name: name, Unit: h.Unit, Reading: h.Reading, Not: h.NotThis,
	}
	q := contract.Ask(endpoint, contract.Figures).Keep(contract.CountryParam, code)
	f.Request = s.mount.Prefix + endpoint.Path + "?" + contract.QueryOf(q.Pairs()...)
	err := s.lists.Query(s.served, s.mount, q, func(_ *list.Reply, rows list.Records) error {
		for _, r := range list.TextsOf(rows) {
			if r.Value(s.mount.Names.Name(contract.CountryParam)) != country {
				continue // a code that differs in case
			}
			if value, known := r.Text("value"); known {
				f.Value = new(json.Number(value))
			}
			f.Start, f.End = r.Value("period_start"), r.Value("period_end")
			f.Provider, f.Dataset, f.Reason = r.Value("provider"), r.Value("dataset"), r.Reason
			f.Complete = r.Value("complete") == "true"
			if r.Value("rows") != "0" { // the page of the rows that it is made of, or of the first of several
				f.View = s.page("/browse/"+h.List(s.mount.Names).Name()) + "?" + contract.QueryOf(r.Rows.Pairs()...)
			}
		}
		return nil
	})
	return f, err
}
