package browse

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/textual"
)

// A tile of a country opens the page of its own figure: the same number, its years or months, and
// its provinces. The records below are those that it is made of.

// figureOf is the headline figure that the page is about, nil without one.
func (q *Question) figureOf(s state) *contract.Headline {
	h, _ := contract.HeadlineOf(s.values.Get(figureParam), q.Plan.Endpoint.Names())
	if h == nil || h.Path != q.Plan.Endpoint.Contract().Path {
		return nil
	}
	return h
}

// FigurePage is the page of a headline figure, with the records that it is made of, below a prefix.
func FigurePage(prefix string, h *contract.Headline, rows *contract.Question) string {
	pairs := append(rows.Pairs(), figureParam, h.Name)
	return prefix + "/browse/" + rows.Endpoint().Name() + "?" + contract.QueryOf(pairs...)
}

// firstOfFigure reads the view of one headline figure: its tile, and drawings of its own numbers.
// It is the figure of the address's countries, until its last day if an earlier figure has these
// rows. Of other rows it is the same sum, nil where that is not right: the list's view comes then.
func firstOfFigure(q *Question, s state, h *contract.Headline) (*first, error) {
	names := q.Plan.Endpoint.Names()
	place := []string{names.Name(h.Place), names.Name(h.Place) + contract.SeveralSuffix, contract.SnapshotParam}
	rows := s.asked.Copy().Drop(place...).Pairs()
	isOf := func(r textual.Record) bool { // days as addresses have them
		return r.Rows != nil && slices.Equal(s.asked.Only().Add(r.Rows.In(names).Drop(place...)).Pairs(), rows)
	}
	for _, taken := range [][]string{place, append(place, "end_date", h.Takes)} {
		v := &viewer{q: q, s: s.only(func(name string) bool { return slices.Contains(taken, name) })}
		_, records, _, err := v.headline(h.Name)
		if err != nil {
			return nil, err
		}
		isAll := len(records) > 0 && len(s.asked.Copy().Drop(taken...).Pairs()) == 0
		if isAll || slices.ContainsFunc(records, isOf) {
			t, err := v.tile(h, records)
			if err != nil {
				return nil, err
			}
			return v.drawOwn(t, h)
		}
		if !s.asked.Has("end_date") && !s.asked.Has(h.Takes) {
			break // the other one asks the same
		}
	}
	v := &viewer{q: q, s: s.only(func(string) bool { return true })}
	t, err := v.partTile(h)
	if err != nil || t.Value == "" {
		return nil, err
	}
	return v.drawOwn(t, h)
}

// partTile is the sum that a figure is, of the rows of the address. It has no value if that is no
// right figure.
func (v *viewer) partTile(h *contract.Headline) (t tile, err error) {
	const start, end = contract.PeriodStart, contract.PeriodEnd
	l, rows := v.q.Language, v.s.asked
	if !h.IsPlain() {
		return t, nil
	}
	asked := rows.As(contract.Aggregate).Measure(h.Measures[0], "min:"+start, "max:"+end)
	answer, err := v.q.Source.Ask(asked)
	if _, wrong := Problems(err); wrong || err == nil && len(answer.Records) == 0 {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	r, d := answer.Records[0], drawingOf(h)
	if value, known := r.Text(strings.ReplaceAll(asked.MeasureNames()[0], ":", "_")); known {
		t.Value, t.Exact = rounded(l, value)
	}
	about, err := v.q.about(rows)
	if err != nil {
		return t, err
	}
	t.Title, t.Unit, _ = v.q.whatOf(rows, measure{name: v.q.measureOf(&d).name, declared: h.Measures}, "")
	t.Of = v.q.whereOf(rows, about, false)
	t.Period, t.Age = When(l, h, r.Value("min_"+start), r.Value("max_"+end), about.updated, v.q.Freshness)
	t.Source, t.Coverage = about.Source(l), unitsText(l, coverageOf(rows, answer), false)
	t.Chosen = v.named(rows)
	return t, nil
}

// drawOwn adds drawings of the numbers of a figure to its tile.
func (v *viewer) drawOwn(t tile, h *contract.Headline) (*first, error) {
	f, view := &first{Tiles: []tile{t}}, v.q.Plan.Endpoint.View()
	for _, read := range []func() (*figure, error){
		func() (*figure, error) { return v.overTime(h, view) },
		func() (*figure, error) { return v.byProvince(h) },
	} {
		if err := f.add(v, read); err != nil {
			return nil, err
		}
	}
	if len(f.Drawings) > 0 {
		return f, nil
	}
	for i := range view.Drawings {
		if err := f.add(v, func() (*figure, error) { return v.drawing(&view.Drawings[i], view.Figures) }); err != nil {
			return nil, err
		}
	}
	if len(f.Drawings) == 0 { // beside other countries
		v.s = v.s.only(func(name string) bool { return name == contract.SnapshotParam })
		return f, f.add(v, func() (*figure, error) { return v.drawing(&contract.Drawing{Figure: h.Name}, nil) })
	}
	return f, nil
}

// add adds a drawing that compares something.
func (f *first) add(v *viewer, read func() (*figure, error)) error {
	v.id = "figure" + strings.Repeat("-more", len(f.Drawings))
	x, err := read()
	if err != nil || x == nil || len(x.Refusal.Refused) > 0 || len(x.Data.Rows) < leastDrawn {
		return err
	}
	x.ID = v.id
	f.Drawings = append(f.Drawings, x)
	return nil
}

// overTime draws a figure by year or month, else what the list draws so; nil without either.
func (v *viewer) overTime(h *contract.Headline, view *contract.View) (*figure, error) {
	if h.IsPlain() && h.Series != "" {
		d := contract.Drawing{Title: h.Title, Filters: h.Filters, Measures: h.Measures, By: h.Series}
		if h.Series == "month" {
			d.Months = newestMonths
		}
		return v.aggregate(&d)
	}
	at := slices.IndexFunc(view.Drawings, func(d contract.Drawing) bool { return d.By == "month" || d.By == "year" })
	if at < 0 {
		return nil, nil
	}
	return v.drawing(&view.Drawings[at], nil)
}

// province is by what provinces are drawn: those of one country as a map, where there are
// boundaries.
func (v *viewer) province() string {
	if v.q.hasMap(v.s, 1) {
		return "admin1_code"
	}
	return "admin1_name"
}

// fitted is a drawing as the address allows it: provinces are a map where there are boundaries, and
// shares of some phases, which would look like shares of all people, are added up.
func (v *viewer) fitted(d *contract.Drawing) *contract.Drawing {
	fitted := *d
	if d.As == contract.AsStack {
		of := func(q *contract.Question) []string {
			return q.Only(d.Lines[0], d.Lines[0]+contract.SeveralSuffix).Pairs()
		}
		if phases := of(v.s.asked); len(phases) > 0 && !slices.Equal(phases, of(d.Question(v.q.Plan.Endpoint))) {
			fitted.As, fitted.Lines = "", nil
		}
	}
	if province := v.province(); d.By == "admin1_name" && fitted.As == "" && d.By != province {
		fitted.By, fitted.Group = province, nil
	}
	return &fitted
}

// byProvince draws a figure by the provinces of one country, nil where its records have none.
func (v *viewer) byProvince(h *contract.Headline) (*figure, error) {
	province := v.province()
	if !h.IsPlain() || h.Place != contract.CountryParam || !v.isOne() || !v.q.Plan.Endpoint.HasField(province) {
		return nil, nil
	}
	d := drawingOf(h)
	declared := v.declared(&d)
	if err := v.addMonths(&d, declared); err != nil {
		return nil, err
	}
	at, ok := v.q.reading(v.s.set(append(declared.Pairs(), measureParam, v.q.measureOf(&d).name, byParam, province)...))
	if !ok {
		return nil, nil
	}
	x, err := drawFigure(v.q, at)
	if err != nil || x == nil || x.Limit.Turned != "" || len(x.Refusal.Refused) > 0 {
		return nil, err
	}
	return x, nil
}
