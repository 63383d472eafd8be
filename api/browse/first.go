package browse

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/textual"
)

// A page whose address does not say what to draw shows the first view of its list: headline figures
// and drawings that contract.Views declares. Filters that a reader has not chosen are those of the
// declaration; the page names them, each with a link to the page without it, whose address says
// what is drawn.

// first is the first view of a list for the filters of an address.
type first struct {
	Tiles    []tile
	Choosers []chooser
	Drawings []*figure
}

// answers reports whether the view has a figure, and refuses nothing.
func (f *first) answers() bool {
	some := slices.ContainsFunc(f.Tiles, func(t tile) bool { return t.Value != "" })
	for _, x := range f.Drawings {
		if some = some || len(x.Data.Rows) > 0; len(x.Refusal.Refused) > 0 {
			return false
		}
	}
	return some
}

// isEmpty reports whether the view has nothing to show or to choose: its drawings do not suit the
// filters.
func (f *first) isEmpty() bool { return len(f.Drawings)+len(f.Choosers) == 0 && !f.answers() }

// chooser is a form for one value of a field, which must be chosen before anything is drawn.
type chooser struct {
	Name, Label string
	Options     []option
	Keep        []option

	most string // the option with the most records
}

// firstID is the id of the first drawing of a page.
const firstID = "figure"

// viewer reads the first view.
type viewer struct {
	q  *Question
	s  state
	id string // of the drawing

	hasMap bool // a drawing before it is a map: each takes ten thousand bytes
}

// isFirst reports whether the address leaves it to the page what is drawn.
func (s state) isFirst() bool { return !s.values.Has(measureParam) && !s.values.Has(byParam) }

// firstOf reads the first view of a list, nil if the list has none.
func firstOf(q *Question, s state) (*first, error) {
	if h := q.figureOf(s); h != nil {
		f, err := firstOfFigure(q, s, h)
		if err != nil || f != nil {
			return f, err
		}
	}
	view := q.Plan.Endpoint.View()
	if view == nil {
		return nil, nil
	}
	v := &viewer{q: q, s: s}
	f := new(first)
	if ok, err := f.addChoosers(v, view); err != nil || !ok {
		return f, err
	}
	if err := f.addTiles(v, view.Figures); err != nil {
		return nil, err
	}
	if v.province() == "admin1_code" && len(view.Figures) > 0 { // a map of them comes first
		h, _ := contract.HeadlineOf(view.Figures[0], q.Plan.Endpoint.Names())
		x, err := v.byProvince(h)
		if err != nil {
			return nil, err
		}
		if x != nil && x.Map.Blank {
			f.Drawings = append(f.Drawings, x)
		}
	}
	hasMap := len(f.Drawings) > 0
	var one *figure // a drawing of one figure, which compares nothing
	for i := range view.Drawings {
		if d := &view.Drawings[i]; hasMap && d.By == "admin1_name" && d.As == "" {
			continue // bars of the same
		}
		v.id = firstID + strings.Repeat("-more", len(f.Drawings))
		x, err := v.drawing(&view.Drawings[i], view.Figures)
		if err != nil {
			return nil, err
		}
		switch isOne := x != nil && len(x.Refusal.Refused) == 0 && len(x.Data.Rows) < leastDrawn; {
		case isOne && one == nil:
			one = x
		case x != nil && !isOne:
			f.Drawings = append(f.Drawings, x)
			v.hasMap = v.hasMap || x.Map.Blank
		}
	}
	if len(f.Drawings) == 0 && one != nil {
		f.Drawings = append(f.Drawings, one)
	}
	return f, nil
}

// addChoosers adds the forms for what must be chosen, and for what may be. What the reader has not
// chosen is what has the most records. It is not ok if there is nothing to choose from.
func (f *first) addChoosers(v *viewer, view *contract.View) (ok bool, err error) {
	for i, field := range view.Choose {
		c, err := v.chooser(view.Choose[:i+1])
		if err != nil || c == nil {
			return false, err
		}
		if f.Choosers = append(f.Choosers, *c); len(chosenOf(v.s, field)) > 0 {
			continue
		}
		if c.most == "" {
			return false, nil
		}
		v.s = state{path: v.s.path, values: v.s.copy(), asked: v.s.asked.Copy().Keep(field, c.most)}
		v.s.values.Set(field, c.most)
		if v.q.known.named, err = namesOf(v.q, v.s); err != nil {
			return false, err
		}
	}
	for _, field := range view.Offer {
		c, err := v.chooser(append(slices.Clone(view.Choose), field))
		if err != nil {
			return false, err
		}
		if c != nil && len(c.Options) > 1 {
			isAll := len(chosenOf(v.s, field)) == 0
			for i := range c.Options {
				c.Options[i].Selected = c.Options[i].Selected && !isAll
			}
			c.Options = slices.Insert(c.Options, 0, option{Label: v.q.Language.T("all"), Selected: isAll})
			f.Choosers = append(f.Choosers, *c)
		}
	}
	return true, nil
}

// drawing reads one drawing, nil if there is nothing to draw.
func (v *viewer) drawing(d *contract.Drawing, columns []string) (*figure, error) {
	if d.One && !v.isOne() {
		return nil, nil
	}
	if d.Figure == "" {
		return v.aggregate(d)
	}
	h, records, ok, err := v.headline(d.Figure)
	switch {
	case err != nil || len(chosenOf(v.s, h.Place)) == 1:
		return nil, err
	case ok:
		return v.byCountry(h, records, columns)
	}
	for _, name := range columns { // another figure of the list can be of these records
		other, records, ok, err := v.headline(name)
		if err != nil {
			return nil, err
		}
		if ok && other.Place == h.Place {
			return v.byCountry(other, records, columns)
		}
	}
	if plain := drawingOf(h); h.IsPlain() && !h.Whole {
		return v.aggregate(&plain)
	}
	return nil, nil
}

// isOne reports whether one country is chosen.
func (v *viewer) isOne() bool {
	return slices.ContainsFunc(v.q.Plan.Endpoint.Fields, func(f contract.Field) bool {
		return isCountry(f.Name) && len(chosenOf(v.s, f.Name)) == 1
	})
}

// drawingOf is the drawing by country of a figure that is one measure.
func drawingOf(h *contract.Headline) contract.Drawing {
	d := contract.Drawing{Title: h.Title, Filters: h.Filters, Measures: h.Measures, By: h.Place}
	switch h.Newest {
	case contract.NewestEdition:
		d.Filters = strings.TrimPrefix(d.Filters+"&"+latestParam+"="+contract.LatestEdition, "&")
	case contract.NewestMonths:
		d.Months = 12
	}
	return d
}

// declared are the filters of a drawing that the address does not set.
func (v *viewer) declared(d *contract.Drawing) *contract.Question {
	declared := d.Question(v.q.Plan.Endpoint)
	for name := range v.s.values {
		stem := strings.TrimSuffix(name, contract.SeveralSuffix)
		declared.Drop(stem, stem+contract.SeveralSuffix)
	}
	return declared
}

// headline asks for a figure with the filters of the address. It is not ok if the figure does not
// take one of them.
func (v *viewer) headline(name string) (h *contract.Headline, records []textual.Record, ok bool, err error) {
	h, e := contract.HeadlineOf(name, v.q.Plan.Endpoint.Names())
	asked, _, ok := v.ask(h, e)
	if !ok {
		return h, nil, false, nil
	}
	answer, err := v.q.Source.Ask(asked)
	if _, wrong := Problems(err); wrong {
		return h, nil, false, nil
	}
	if err != nil {
		return h, nil, false, err
	}
	return h, answer.Records, true, nil
}

// ask is the question for a figure with the filters of the address, and the parameters of its
// request, as QueryOf takes them.
func (v *viewer) ask(h *contract.Headline, e *contract.Endpoint) (asked *contract.Question, pairs []string, ok bool) {
	d := drawingOf(h)
	own := d.Question(v.q.Plan.Endpoint).Pairs()
	asked = contract.Ask(e, contract.Figures)
	for name, values := range v.s.copy(notFilters...) {
		switch suffix, isPlace := strings.CutPrefix(name, h.Place); {
		case name == contract.SnapshotParam:
			continue
		case isPlace && (suffix == "" || suffix == contract.SeveralSuffix):
			texts := v.s.asked.Texts(name)
			name = contract.CountryParam + suffix
			asked.Keep(name, texts...)
		case name == "end_date", h.Takes != "" && name == h.Takes:
			asked.Add(v.s.asked.Only(name))
		default:
			if i := slices.Index(own, name); i < 0 || i%2 != 0 || !slices.Equal(own[i+1:i+2], values) {
				return nil, nil, false
			}
			continue
		}
		for _, value := range values {
			pairs = append(pairs, name, value)
		}
	}
	return asked, pairs, true
}

// nameOf is the name of a country.
func (v *viewer) nameOf(code string) string {
	return cmp.Or(v.q.nameOf(code), v.q.Language.T("not given"))
}

// chooser is the form for the last of some fields, nil if no record passes.
func (v *viewer) chooser(fields []string) (*chooser, error) {
	field := fields[len(fields)-1]
	by := []string{field}
	if name := strings.TrimSuffix(field, "_code") + "_name"; !isCountry(field) {
		by = append(by, name)
	}
	rows := v.s.asked.Copy().Drop(field, field+contract.SeveralSuffix)
	groups, _, err := v.q.groups(rows.As(contract.Aggregate).Page(0, contract.MaxLimit), by, "count")
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	c := &chooser{Name: field, Label: nounLabel(v.q.Language, field)}
	chosen, records := chosenOf(v.s, field), 0
	for _, r := range groups {
		f := fieldsOf(r, by...)
		if n, _ := strconv.Atoi(r.Value("count")); n > records && f[0] != "" {
			c.most, records = f[0], n
		}
		name := v.nameOf(f[0])
		if len(f) > 1 {
			name = f[1]
		}
		if f[0] != "" {
			c.Options = append(c.Options, option{f[0], name, slices.Contains(chosen, f[0])})
		}
	}
	slices.SortStableFunc(c.Options, func(a, b option) int { return strings.Compare(a.Label, b.Label) })
	for i := range c.Options {
		c.Options[i].Selected = c.Options[i].Selected || len(chosen) == 0 && c.Options[i].Value == c.most
	}
	for _, name := range append(slices.Clone(fields[:len(fields)-1]), "start_date", "end_date") {
		for _, value := range v.s.values[name] {
			c.Keep = append(c.Keep, option{Label: name, Value: value})
		}
	}
	return c, nil
}

// measureOf is what a drawing measures, among what pages offer: the last of these is the number of
// records.
func (q *Question) measureOf(d *contract.Drawing) measure {
	_, field, _ := strings.Cut(d.Measures[0], ":")
	all, name := measuresOf(q.Language, q.Plan.Endpoint), q.Plan.Endpoint.Names().Name(field)
	if at := slices.IndexFunc(all, func(m measure) bool { return m.name == name }); at >= 0 {
		return all[at]
	}
	return all[len(all)-1]
}

// named are filters in words.
func (v *viewer) named(filters *contract.Question) (chosen []link) {
	pairs := filters.Pairs()
	for i := 0; i < len(pairs); i += 2 {
		text := chipText(v.q.Language, v.q.known.named, v.q.Plan.Param(pairs[i]), pairs[i+1:i+2])
		if pairs[i+1] == contract.Coarsest && namesUnits(v.s.asked) {
			text = v.q.Language.T("Totals of the places")
		}
		chosen = append(chosen, link{Text: text})
	}
	return chosen
}

// choose adds the filters that were chosen for the reader, each with the page without it where that
// draws something, and the form that draws something else of the same records.
func (v *viewer) choose(x *figure, d *contract.Drawing, filters *contract.Question) error {
	of, by := v.q.measureOf(d).name, v.q.Plan.Endpoint.Names().Name(d.By)
	pairs := filters.Pairs()
	all, ok := v.q.reading(v.s.set(append(pairs, measureParam, of, byParam, by)...))
	if !ok {
		return nil
	}
	x.Chosen = v.named(filters)
	for i := range x.Chosen {
		without := widened(v.q, all, pairs[2*i], "")
		right, err := v.q.isRight(without)
		if err != nil {
			return err
		}
		if right {
			x.Chosen[i].Address = without.link()
		}
	}
	m, b := v.q.drawnOf(all)
	if b == nil {
		return nil
	}
	x.asked = all
	return x.offer(v.q, all, m, b)
}

// heal adds the page that shows the right figure of what a refused one is about, with that figure:
// of the same records, else of the same places and times, else of the same places, else of all.
// Each is read before it is offered.
func (x *figure) heal(q *Question, s state) error {
	isPlace := func(name string) bool {
		name = strings.TrimSuffix(name, contract.SeveralSuffix)
		is := func(p contract.Param) bool { return p.Name == name && name != levelParam }
		return isCountry(name) || slices.ContainsFunc(q.Plan.Endpoint.Place, is)
	}
	for _, keep := range []func(name string) bool{
		func(name string) bool {
			return !slices.Contains([]string{
				levelParam, levelParam + contract.SeveralSuffix, latestParam, contract.EverybodyParam,
			}, name)
		},
		func(name string) bool {
			return isPlace(name) || isTime(name) || name == contract.SnapshotParam
		},
		isPlace,
		func(string) bool { return false },
	} {
		at := s.only(keep)
		page, err := firstOf(q, at)
		if err != nil {
			return err
		}
		if page == nil || page.answers() || len(page.Choosers) > 0 && len(page.Drawings) == 0 {
			if at = at.set(); hasRecords(q, at) {
				if x.Refusal.Heal = at.link(); page != nil && len(page.Drawings) > 0 {
					x.Refusal.Right = page.Drawings[0]
					x.Refusal.Right.ID = "right"
				}
				return nil
			}
		}
	}
	return nil
}
