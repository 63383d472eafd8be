package mcp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/site"
)

// headline is what is read of a record of a headline figure.
type headline struct {
	Value    json.RawMessage
	From     string `json:"period_start"`
	To       string `json:"period_end"`
	Dataset  string
	Reason   string
	Complete *bool
}

// figure answers with headline figures.
func figure(c *call) (*Answer, error) {
	if err := c.checkCountries(); err != nil {
		return nil, err
	}
	params, path := url.Values{"limit": {strconv.Itoa(mostRows)}}, contract.FiguresPath
	h, _ := contract.HeadlineOf(c.args.Figure, contract.ContractNames)
	switch {
	case h != nil:
		path += "/" + h.Name
	case c.args.Figure != "":
		var all []string
		for _, h := range contract.Headlines {
			all = append(all, h.Name)
		}
		return nil, c.noSuch("figure", c.args.Figure, "_", all)
	case len(c.args.Countries) > 1:
		return nil, &refusal{
			Message: "all figures are of one country: name a figure, or one country",
			Instead: c.with("countries", c.args.Countries[:1]),
		}
	}
	for name, value := range map[string]string{
		contract.CountryParam + contract.SeveralSuffix: strings.Join(c.args.Countries, ","),
		"end_date": c.args.EndDate, "commodity_code": c.args.Commodity,
	} {
		if value != "" {
			params.Set(name, value)
		}
	}
	a, err := c.records(nil, path, params)
	if err != nil {
		return nil, err
	}
	if a.Figure = c.args.Figure; h != nil {
		a.Reading, a.NotThis, a.Units["value"] = h.Reading, h.NotThis, h.Unit
	}
	all := a.Rows
	a.Rows = all[min(c.args.Offset, len(all)):]
	return a, c.describeFigure(a, h, all)
}

// describeFigure adds period and sources, and says what is not known.
func (c *call) describeFigure(a *Answer, h *contract.Headline, rows []json.RawMessage) error {
	known, reason := 0, "no record is of that time"
	var titles []string
	for _, row := range rows {
		var r headline
		_ = json.Unmarshal(row, &r) // which was read before
		switch string(r.Value) {
		case "": // the declaration of a figure
			known++
		case "null":
			reason = r.Reason
		default:
			known++
			titles = append(titles, r.Dataset)
			if a.From == "" || r.From < a.From {
				a.From = r.From
			}
			a.To = max(a.To, r.To)
		}
	}
	if known == 0 {
		of := "any figure"
		if h != nil {
			of = h.Title
		}
		a.Nothing = &Nothing{Statement: fmt.Sprintf("%s is not known of %s: %s", of, c.args.Countries, reason)}
		if c.args.EndDate != "" {
			a.Nothing.Nearest = []existing{{
				Without: "end_date=" + c.args.EndDate, Call: c.with("end_date", nil, "end_date"),
			}}
		}
	} else if known < len(rows) {
		a.Warnings = append(a.Warnings, fmt.Sprintf(
			"%d of %d values are null: not known, not 0; reason says what exists nearest", len(rows)-known, len(rows)))
	}
	if h == nil || known == 0 {
		return nil
	}
	named := slices.DeleteFunc(titles, func(title string) bool { return title == "" })
	if more := known - len(named); more > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf(
			"the datasets of %d values are several or not known: sources does not have them", more))
	}
	return c.cite(a, h.List(contract.ContractNames), func(d *site.SourceDataset) bool {
		return slices.Contains(named, d.Title)
	})
}

// checkCountries refuses what is no code of a country: an answer would look as if nothing were
// known of the country that is meant.
func (c *call) checkCountries() error {
	type place struct{ Code string }
	var found struct{ Data []place }
	params := url.Values{"limit": {strconv.Itoa(mostRows)}, "fields": {"code"}}
	if len(c.args.Countries) == 0 {
		return nil
	}
	if _, err := c.ask(listNamed("location").Path, params, &found); err != nil {
		return err
	}
	for _, code := range c.args.Countries {
		if slices.Contains(found.Data, place{code}) {
			continue
		}
		codes, err := c.codesOf(c.args.Countries, "country")
		if err != nil {
			return err
		}
		r := &refusal{Message: fmt.Sprintf("%q is no code of a country here; want three capital letters", code)}
		if r.Instead = c.with("countries", codes); codes == nil {
			r.Instead = &Call{"find", map[string]any{"words": code, "kind": "country"}}
		}
		return r
	}
	return nil
}
