package mcp

import (
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

// figure answers with headline figures.
func figure(c *call) (*Answer, error) {
	if err := c.checkCountries(); err != nil {
		return nil, err
	}
	a := &Answer{Figure: c.args.Figure, next: maps.Clone(c.args.sent)}
	params, path := url.Values{}, contract.FiguresPath
	h, _ := contract.HeadlineOf(c.args.Figure, contract.ContractNames)
	switch {
	case h != nil:
		path += "/" + h.Name
		a.Reading, a.NotThis, a.Units = h.Reading, h.NotThis, map[string]string{"value": h.Unit}
		if h.Takes != "" && c.args.Commodity != "" {
			params.Set(h.Takes, c.args.Commodity)
		}
	case c.args.Figure != "":
		return nil, c.unknownFigure()
	case len(c.args.Countries) > 1:
		return nil, &refusal{
			Message: "all figures are of one country: name a figure, or one country",
			Instead: c.with("countries", c.args.Countries[:1]),
		}
	}
	if n := len(c.args.Countries); n == 1 {
		params.Set(contract.CountryParam, c.args.Countries[0])
	} else if n > 1 {
		params.Set(contract.CountryParam+contract.SeveralSuffix, strings.Join(c.args.Countries, ","))
	}
	if c.args.EndDate != "" {
		params.Set("end_date", c.args.EndDate)
	}
	a.URL = c.address(path, params)
	params.Set("limit", strconv.Itoa(mostRows))
	var found records
	reply, err := c.ask(path, params, &found)
	if err != nil {
		return nil, err
	}
	a.Total, err = strconv.Atoi(reply.Header.Get(contract.HeaderTotal))
	if err != nil {
		return nil, err
	}
	if c.args.Offset != nil {
		a.from = min(*c.args.Offset, len(found.Data))
	}
	a.Rows = found.Data[a.from:]
	return a, c.describeFigure(a, h)
}

// describeFigure adds licences, and what is wrong.
func (c *call) describeFigure(a *Answer, h *contract.Headline) error {
	known, unknown, datasets := 0, 0, map[string]bool{}
	for _, row := range a.Rows {
		r := object(row)
		switch _, isValue := r["value"]; {
		case r["value"] != nil:
			known++
			if from, _ := r["period_start"].(string); from != "" && (a.From == "" || from < a.From) {
				a.From = from
			}
			to, _ := r["period_end"].(string)
			a.To = max(a.To, to)
		case isValue:
			unknown++
		}
		if title, ok := r["dataset"].(string); ok {
			datasets[title] = true
		}
	}
	if h != nil && len(a.Rows) > 0 && known == 0 {
		a.Nothing = &Nothing{Statement: fmt.Sprintf("%s is not known for %s: %s", h.Title,
			strings.Join(c.args.Countries, ", "), reasonOf(a.Rows[0]))}
		if len(c.args.Countries) == 0 {
			a.Nothing.Statement = h.Title + " is not known for any country"
		}
	} else if unknown > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf(
			"%d of %d values are null: not known, not 0; reason says what exists nearest", unknown, known+unknown))
	}
	if h == nil {
		return nil
	}
	if a.Total == 0 {
		a.Nothing = &Nothing{Statement: "no country has " + h.Title + " up to this date; without end_date there is more"}
		if c.args.EndDate != "" {
			a.Instead = c.with("end_date", "")
			delete(a.Instead.Arguments, "end_date")
		}
	}
	sources, err := c.sourcesOf(h.List(contract.ContractNames))
	if err != nil {
		return err
	}
	a.Updated, a.Stale = sources.Updated, sources.Stale
	if len(datasets) > 0 {
		for title := range datasets { // a figure of several datasets has their titles in one text
			for _, d := range sources.Datasets {
				if strings.Contains(title, d.Title) {
					datasets[d.Title] = true
				}
			}
		}
	}
	named := slices.Clone(sources.Datasets)
	for i := len(named) - 1; i >= 0; i-- {
		if !datasets[named[i].Title] {
			named = slices.Delete(named, i, i+1)
		}
	}
	if known > 0 {
		a.cite(named)
	}
	return nil
}

// reasonOf is why a record has no value.
func reasonOf(row json.RawMessage) string {
	reason, _ := object(row)["reason"].(string)
	return reason
}

// unknownFigure refuses the name of a figure.
func (c *call) unknownFigure() error {
	var all []string
	for _, h := range contract.Headlines {
		all = append(all, h.Name)
	}
	r := &refusal{Message: fmt.Sprintf("there is no figure %q; figures are %s", c.args.Figure, strings.Join(all, ", "))}
	name := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(c.args.Figure))
	if meant := nearest.Of(name, all); meant != "" {
		r.Instead = c.with("figure", meant)
		return r
	}
	hit, err := c.findOne(c.args.Figure, "figure")
	if err != nil {
		return err
	}
	if r.Instead = (&Call{"find", map[string]any{"words": c.args.Figure}}); hit != nil {
		r.Instead = c.with("figure", hit.Code)
	}
	return r
}

// checkCountries refuses names and codes of no country: an answer without them would look as if
// nothing were known of the country that is meant.
func (c *call) checkCountries() error {
	if len(c.args.Countries) == 0 {
		return nil
	}
	if len(c.args.Countries) > mostAsked {
		return &refusal{Message: fmt.Sprintf("%d countries; want at most %d, or none for all", len(c.args.Countries), mostAsked)}
	}
	for _, code := range c.args.Countries {
		if strings.Contains(code, ",") {
			return &refusal{Message: fmt.Sprintf("%q is no code of a country", code)}
		}
	}
	var found struct {
		Data []struct{ Code string }
	}
	params := url.Values{
		"code" + contract.SeveralSuffix: {strings.Join(c.args.Countries, ",")},
		"limit":                         {strconv.Itoa(mostAsked)},
	}
	if _, err := c.ask(listNamed("location").Path, params, &found); err != nil {
		return err
	}
	meant, wrong := slices.Clone(c.args.Countries), []string{}
	for i, code := range meant {
		is := func(l struct{ Code string }) bool { return l.Code == code }
		if slices.ContainsFunc(found.Data, is) {
			continue
		}
		wrong = append(wrong, code)
		hit, err := c.findOne(code, "country")
		if err != nil {
			return err
		}
		if meant[i] = ""; hit != nil {
			meant[i] = hit.Code
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	r := &refusal{
		Message: fmt.Sprintf("%q is no code of a country here; want codes of three capital letters", wrong),
		Instead: c.with("countries", meant),
	}
	if slices.Contains(meant, "") {
		r.Instead = &Call{"find", map[string]any{"words": wrong[slices.IndexFunc(wrong, func(w string) bool {
			return meant[slices.Index(c.args.Countries, w)] == ""
		})], "kind": "country"}}
	}
	return r
}
