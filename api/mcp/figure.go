package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// figure answers with headline figures.
func figure(c *call) (*Answer, error) {
	codes, groups, err := countriesOf(c)
	if err != nil {
		return nil, err
	}
	h, e := contract.HeadlineOf(c.args.Figure, contract.ContractNames)
	switch {
	case h != nil:
	case c.args.Figure != "":
		return nil, c.noSuch("figure", c.args.Figure, "_", contract.HeadlineNames())
	case groups != nil:
		return nil, &refusal{
			Message: "all figures are of one country: name a figure",
			Instead: c.with("figure", contract.Headlines[0].Name),
		}
	case len(c.args.Countries) > 1:
		return nil, &refusal{
			Message: "all figures are of one country: name a figure, or one country",
			Instead: c.with("countries", c.args.Countries[:1]),
		}
	}
	if c.args.History {
		return figureHistory(c, h)
	}
	if h == nil {
		e = &contract.FigureEndpoints[contract.ContractNames][0]
	}
	a, _, values, err := c.records(nil, contract.PlanOf(e, contract.Figures), "limit", strconv.Itoa(mostRows),
		contract.CountryParam+contract.SeveralSuffix, strings.Join(codes, ","),
		contract.GroupParam+contract.SeveralSuffix, strings.Join(groups, ","),
		"end_date", c.args.EndDate, "commodity_code", c.args.Commodity)
	if err != nil {
		return nil, err
	}
	if a.Figure = c.args.Figure; h != nil {
		a.Reading, a.NotThis, a.Units["value"] = h.Reading, h.NotThis, h.Unit
	}
	a.Rows = a.Rows[min(c.args.Offset, len(a.Rows)):]
	describeFigure(c, a, h, values)
	return a, nil
}

// figureHistory answers with what a figure was in earlier publications.
func figureHistory(c *call, h *contract.Headline) (*Answer, error) {
	switch {
	case h == nil:
		return nil, &refusal{
			Message: "history is of one figure: name it", Instead: c.with("history", nil, "history"),
		}
	case c.args.EndDate != "" || c.args.Commodity != "":
		return nil, &refusal{
			Message: "history has all publications, and goes with no end_date or commodity_code",
			Instead: c.with("end_date", nil, "end_date", "commodity_code"),
		}
	}
	at := slices.Index(contract.Headlines, h)
	plan := contract.PlanOf(&contract.FigureHistories[contract.ContractNames][at], contract.Figures)
	a, _, values, err := c.records(nil, plan, "limit", strconv.Itoa(mostRows),
		contract.CountryParam+contract.SeveralSuffix, strings.Join(c.args.Countries, ","))
	if err != nil {
		return nil, err
	}
	a.Figure, a.Reading, a.NotThis, a.Units["value"] = h.Name, h.Reading, h.NotThis, h.Unit
	if len(values) == 0 {
		a.Nothing = &nothing{Statement: fmt.Sprintf("no value of %s was ever kept of %s", h.Title, c.args.Countries)}
	}
	for _, row := range values {
		if row.Value("definition_changed") == "true" {
			a.warn(say.Of("definition_changed: that value was computed by another rule than the one before, so the " +
				"two cannot be compared"))
			break
		}
	}
	a.Rows = a.Rows[min(c.args.Offset, len(a.Rows)):]
	return a, nil
}

// describeFigure adds period and sources, and says what is not known.
func describeFigure(c *call, a *Answer, h *contract.Headline, rows []textual.Record) {
	known, reason := 0, "no record is of that time"
	var titles []string
	for _, row := range rows {
		_, isValue := row.Text("value")
		from, to := row.Value("period_start"), row.Value("period_end")
		switch _, isDeclaration := row.Text("reading"); {
		case isDeclaration:
			known++
		case !isValue:
			reason = row.Value("reason")
		default:
			known++
			titles = append(titles, row.Value("dataset"))
			if a.From == "" || from < a.From {
				a.From = from
			}
			a.To = max(a.To, to)
		}
	}
	if known == 0 {
		of := "any figure"
		if h != nil {
			of = h.Title
		}
		a.Nothing = &nothing{Statement: fmt.Sprintf("%s is not known of %s: %s", of, c.args.Countries, reason)}
		if c.args.EndDate != "" {
			a.Nothing.Nearest = []existing{{
				Without: "end_date=" + c.args.EndDate, Call: c.with("end_date", nil, "end_date"),
			}}
		}
	} else if known < len(rows) {
		a.Warnings = append(a.Warnings, fmt.Sprintf(
			"%d of %d values are null: not known, not 0; reason says what exists nearest", len(rows)-known, len(rows)))
	}
	for _, row := range rows {
		if part := partOf(h, row); part != "" && len(a.Warnings) < mostWarnings {
			a.Warnings = append(a.Warnings, cmp.Or(row.Value("figure"), row.Value(contract.CountryParam))+": "+part)
		}
	}
	if h == nil || known == 0 {
		return
	}
	named := slices.DeleteFunc(titles, func(title string) bool { return title == "" })
	if more := known - len(named); more > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf(
			"the datasets of %d values are several or not known: sources does not have them", more))
	}
	c.cite(a, h.List(contract.ContractNames), func(d *state.SourceDataset) bool {
		return slices.Contains(named, d.Title)
	})
}

// mostWarnings is how many warnings an answer has of values that are parts.
const mostWarnings = 12

// partOf says what a value is only a part of, empty if it is whole or that is not known.
func partOf(h *contract.Headline, row textual.Record) string {
	if h == nil {
		h, _ = contract.HeadlineOf(row.Value("figure"), contract.ContractNames)
	}
	months, outOf := row.Value("months"), row.Value("out_of")
	switch _, isValue := row.Text("value"); {
	case h == nil || !isValue:
	case months != row.Value("of_months"):
		return fmt.Sprintf("%s of %s months have records", months, row.Value("of_months"))
	case h.LeastOthers > 0 && row.Value("complete") == "false":
		return fmt.Sprintf("only what %s countries of asylum have", row.Value("other_places"))
	case h.OutOfFilters != "" && outOf != "":
		return fmt.Sprintf("of %s people who were analysed, which is not the whole country", outOf)
	case h.Whole && !row.Reason.IsZero():
		return row.Reason.String()
	}
	return ""
}

// countriesOf are the codes or the groups of countries of a call. It refuses what is neither: an
// answer would look as if nothing were known of the country that is meant.
func countriesOf(c *call) (codes, groups []string, err error) {
	bound := c.served.Bound
	for _, code := range c.args.Countries {
		if bound.Groups.Group(code) != nil {
			groups = append(groups, code)
		} else {
			codes = append(codes, code)
		}
	}
	if codes != nil && groups != nil {
		return nil, nil, &refusal{
			Message: "countries are codes or groups of countries, not both", Instead: c.with("countries", groups),
		}
	}
	for _, code := range codes {
		if slices.ContainsFunc(bound.Countries, func(of state.Country) bool { return of.Code == code }) {
			continue
		}
		codes, err := c.codesOf(c.args.Countries, "country")
		if err != nil {
			return nil, nil, err
		}
		r := &refusal{Message: fmt.Sprintf("%q is no code of a country here; want three capital letters", code)}
		r.Instead = c.with("countries", codes)
		if codes == nil || len(codes) > len(c.args.Countries) && c.args.Figure == "" { // which needs one country
			r.Instead = &Call{"find", map[string]any{"words": code, "kind": "country"}}
		}
		if bound.Groups.Group(contract.Slug(code)) != nil {
			r.Instead = c.with("countries", []string{contract.Slug(code)})
		}
		return nil, nil, r
	}
	return codes, groups, nil
}
