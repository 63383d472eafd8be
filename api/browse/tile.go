package browse

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/textual"
)

// tile is a headline figure of what is in view.
type tile struct {
	Title, Value, Unit string
	Exact              string // the number that the value rounds
	Of                 string // the country, or how many there are
	IsOne              bool   // the figure is of one of several countries, which goes before it
	Period, Source     string
	Age                string // that it is old
	Coverage           string
	Partial            []string // countries of which some units have no records
	LeftOut            []string // places without a value, and why
	Reading, Not       string
	Note               string // that it is not complete
	Chosen             []link // filters that were chosen for the reader
}

// addTiles adds the headline figures of some names that have records.
func (f *first) addTiles(v *viewer, names []string) error {
	for _, name := range names {
		h, records, _, err := v.headline(name)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			continue
		}
		t, err := v.tile(h, records)
		if err != nil {
			return err
		}
		d := drawingOf(h)
		t.Chosen = v.named(v.declared(&d))
		f.Tiles = append(f.Tiles, t)
	}
	return nil
}

// shareOf is the share of all countries together, of a figure that is a sum in per cent of its
// whole; nil of another one, and where the figures are not of one time.
func (v *viewer) shareOf(h *contract.Headline, records []textual.Record) (*big.Rat, error) {
	i := slices.IndexFunc(contract.Headlines, func(of *contract.Headline) bool {
		return of.IsPlain() && of.Path == h.Path && of.Filters == h.Filters && of.Measures[0] == h.Measures[0]
	})
	if len(h.Measures) < 2 || h.Measures[1] != h.OutOf || i < 0 || !OneTime(records) {
		return nil, nil
	}
	_, sums, _, err := v.headline(contract.Headlines[i].Name)
	if err != nil {
		return nil, err
	}
	part, whole, parts := new(big.Rat), new(big.Rat), map[string]string{}
	for _, r := range sums {
		parts[r.Value("location_code")] = r.Value("value")
	}
	for _, r := range records {
		a, isPart := new(big.Rat).SetString(parts[r.Value("location_code")])
		b, isWhole := new(big.Rat).SetString(r.Value("out_of"))
		if r.Value("value") != "" && isPart && isWhole {
			part, whole = part.Add(part, a), whole.Add(whole, b)
		}
	}
	if whole.Sign() == 0 {
		return nil, nil
	}
	return part.Mul(part.Quo(part, whole), big.NewRat(100, 1)), nil
}

// tile is a figure of one country, of all that are in view, or of the one where it is highest, if
// figures of several are none.
func (v *viewer) tile(h *contract.Headline, records []textual.Record) (t tile, err error) {
	l := v.q.Language
	t = tile{Title: l.T(h.Title), Unit: l.T(h.Unit), Reading: l.T(h.Reading), Not: l.T(h.NotThis)}
	sum, byCode := new(big.Rat), map[string]textual.Record{}
	var known []group
	for _, r := range records {
		code, value := r.Value("location_code"), r.Value("value")
		if value == "" {
			reason, _ := l.Say(Reason(l, v.q.Plan.Endpoint, r, v.nameOf(code)))
			t.LeftOut = append(t.LeftOut, l.T("%[1]s: %[2]s", v.nameOf(code), reason))
			continue
		}
		number, _ := new(big.Rat).SetString(value)
		sum.Add(sum, number)
		known = append(known, newGroup(l, code, v.nameOf(code), value))
		byCode[code] = r
	}
	t.LeftOut = cutList(l, t.LeftOut)
	sortByFigure(known)
	n := len(known)
	if n == 0 {
		return t, nil
	}
	var whole *big.Rat // all together
	if h.IsPlain() && strings.HasPrefix(h.Measures[0], "sum:") && OneTime(records) {
		whole = sum
	} else if n > 1 {
		if whole, err = v.shareOf(h, records); err != nil {
			return t, err
		}
	}
	order := "%[2]s, the highest of %[1]s countries"
	if h.LeastFirst {
		order = "%[2]s, the lowest of %[1]s countries"
		slices.Reverse(known)
	}
	t.Value, t.Exact, t.Of = known[0].text, known[0].exact, known[0].name
	switch {
	case n == 1:
	case whole != nil:
		t.Value, t.Exact = rounded(l, plainDigits(whole.FloatString(sumDigits)))
		t.Of = l.T("%s countries", lang.Count(n))
	default:
		t.Of, t.IsOne = l.T(order, lang.Count(n), t.Of), true
		known = known[:1]
	}
	t.describe(v, h, known, byCode)
	return t, nil
}

// describe adds when the figures of countries are of, who provides them, and what they lack.
func (t *tile) describe(v *viewer, h *contract.Headline, known []group, records map[string]textual.Record) {
	l, sources, parts := v.q.Language, map[string]bool{}, map[string]bool{}
	var shown []textual.Record
	var partial []string
	var start, end, updated string
	for _, g := range known {
		r := records[g.value]
		if from := r.Value("period_start"); start == "" || from < start {
			start = from
		}
		end, updated = max(end, r.Value("period_end")), max(updated, r.Value("updated"))
		sources[r.Value("provider")] = true
		switch isPart := r.Value("complete") == "false"; {
		case isPart && h.LeastOthers > 0:
			t.Note = l.T("Refugees in a few countries of asylum only.")
		case isPart:
			t.Note = l.T("Preliminary: months are missing, or not finished.")
		}
		parts[PartOf(l, h, r)] = true
		shown = append(shown, r)
		if text := coverageText(l, fieldsOf(r, "units", "units_known", "admin_level")); text != "" {
			t.Coverage = l.T("From %s.", text)
			partial = append(partial, g.name+" "+text)
		}
	}
	if len(known) > 1 {
		t.Coverage, t.Partial = "", cutList(l, partial)
	}
	if len(parts) == 1 && (len(known) == 1 || h.Series == "month") && h.OutOfFilters == "" {
		t.Note = cmp.Or(slices.Collect(maps.Keys(parts))[0], t.Note)
	}
	t.Coverage = cmp.Or(analysedOf(l, h, shown), t.Coverage) // it is all that there can be
	if start != "" {
		t.Period, t.Age = When(l, h, start, end, updated, v.q.Freshness)
	}
	delete(sources, "")
	if names := slices.Sorted(maps.Keys(sources)); len(names) == 1 {
		t.Source = names[0]
	} else if len(names) > 1 {
		t.Source = l.T("%s providers", lang.Count(len(names)))
	}
}

// cutList leaves out what is too much to read.
func cutList(l *lang.Language, all []string) []string {
	if n := len(all) - maxLeftOut; n > 0 {
		return append(all[:maxLeftOut], l.T("and %s more countries, in the table", lang.Count(n)))
	}
	return all
}

// maxLeftOut is how many places without a figure are named, sumDigits how many decimals a sum has.
const (
	maxLeftOut = 8
	sumDigits  = 6
)
