package figures

import (
	"cmp"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/say"
)

// headline is a figure of a place that has rows, as the file of a publication has it.
type headline struct {
	Value string `json:"v,omitempty"` // as JSON has it, empty for null
	Rows  int    `json:"n,omitempty"`
	span
	Units       stored     `json:"u,omitempty"`
	Known       stored     `json:"k,omitempty"`
	Sources     []string   `json:"f,omitempty"` // ids of resources, of which the snapshot has the rest
	Months      int        `json:"m,omitempty"` // of NewestMonths: how many have rows
	Month       string     `json:"y,omitempty"` // of YearApart: the newest one
	Provisional bool       `json:"p,omitempty"`
	Reason      storedText `json:"r,omitzero"`  // why there is no value
	OutOf       number     `json:"o,omitempty"` // the whole that the value is a part of, empty for null

	seen    map[string]bool // which months have rows, while they are counted
	refusal say.Text        // of the aggregate
}

// span is of when and which level a value is.
type span struct {
	Start stored `json:"s,omitempty"`
	End   stored `json:"e,omitempty"`
	Level stored `json:"l,omitempty"`
}

// headlineOf is a figure of a place, with the reason if it has no value, and whether it has rows.
func headlineOf(f *figure, place string) (h *headline, has bool, err error) {
	if h, has = f.of[place]; !has {
		h = &headline{Reason: storedText{f.why[place]}}
	}
	switch {
	case h.Value != "" || !h.Reason.IsZero():
	case has:
		h.Reason.Text, err = f.undecided(place, h)
	default:
		h.Reason.Text, err = f.absent(place)
	}
	return h, has, err
}

// record is the record of a figure of a place.
func (f *figure) record(place string) ([]any, error) {
	h, has, err := headlineOf(f, place)
	if err != nil {
		return nil, err
	}
	var value, complete, request, outOf any
	if h.Value != "" {
		value = number(h.Value)
	}
	if h.OutOf != "" {
		outOf = h.OutOf
	}
	var months, ofMonths, others aggregate.Value
	if has {
		isWhole := f.others.Int >= int64(f.LeastOthers)
		if others = f.others; f.Newest == contract.NewestMonths {
			months, ofMonths = intOf(h.Months), intOf(monthsOfYear)
			isWhole = h.Months == monthsOfYear
		}
		complete = isWhole && !h.Provisional
	}
	requests := f.requests(place)
	texts := make([]string, len(requests))
	for i, q := range requests {
		texts[i] = f.prefix + q.Plan().Paths()[0] + "?" + q.Text()
	}
	if request = texts; f.IsPlain() {
		request = textOf(texts[0])
	}
	var from source
	for i, id := range h.Sources {
		if of := f.sources[id]; i == 0 {
			from = of
		} else {
			from.join(of)
		}
	}
	var updated aggregate.Value
	if from.updated != 0 {
		updated = aggregate.Value{Kind: aggregate.Time, Int: from.updated}
	}
	return []any{
		textOf(place), value, textOf(f.Unit), h.Start.value(), h.End.value(), h.Level.value(),
		h.Units.value(), h.Known.value(),
		intOf(h.Rows), textOf(from.provider), textOf(from.dataset), textOf(from.resource), updated,
		complete, months, ofMonths, outOf, others, request, h.Reason.Text, requests[0],
	}, nil
}

func intOf(n int) aggregate.Value { return aggregate.Value{Kind: aggregate.Int, Int: int64(n)} }

// readValues finds the values of all places that have rows.
func (f *figure) readValues() error {
	if f.Newest == contract.YearApart {
		for month, places := range f.byMonth {
			read := func(places ...string) error { return f.medianChange(month, places) }
			if err := f.together(places, read); err != nil {
				return err
			}
		}
		return nil
	}
	read := f.measure
	if len(f.Measures) > 1 {
		read = f.ratio
	}
	err := f.together(f.codes, read)
	isUnknown := func(h *headline) bool { return h.Known == "" }
	if err != nil || !f.filters.Coarsest || !slices.ContainsFunc(slices.Collect(maps.Values(f.of)), isUnknown) {
		return err
	}
	rows, err := f.ask(f.in(f.base, f.codes...), []string{f.Place}, contract.CoverageName)
	for i := 0; err == nil && i < rows.len(); i++ {
		if h := f.of[rows.at(i, 0).Text]; h != nil {
			h.Units, h.Known = storedOf(rows.at(i, 1)), storedOf(rows.at(i, 2))
		}
	}
	return err
}

// together calls read with places, nil for all. Where the checks of sums refuse that, it calls it
// with those of them that are right by themselves, and then with each of the others. One that is
// refused has no value.
func (f *figure) together(places []string, read func(places ...string) error) error {
	err := read(places...)
	invalid, refused := errors.AsType[*contract.Invalid](err)
	if !refused {
		return err
	}
	if len(places) == 1 {
		if h := f.of[places[0]]; h != nil {
			h.refusal = invalid.Issues[0].Text
		}
		return nil
	}
	var right []string
	err = nil
	if instead := invalid.Issues[0].Instead; instead != nil && instead.Apart != "" {
		right = instead.Texts(f.Place + contract.SeveralSuffix)
		if places != nil && len(right) >= len(places) { // right by themselves, and not together
			right = nil
		}
	}
	if len(right) > 0 {
		err = f.together(right, read)
	}
	for place := range f.of {
		if err == nil && !slices.Contains(right, place) && (places == nil || slices.Contains(places, place)) {
			err = f.together([]string{place}, read)
		}
	}
	return err
}

// measure reads the value of the only measure.
func (f *figure) measure(places ...string) error {
	rows, err := f.ask(f.in(f.base, places...), []string{f.Place}, f.Measures...)
	if err != nil {
		return err
	}
	for i := range rows.len() {
		h, v := f.of[rows.at(i, 0).Text], rows.at(i, 1)
		if h == nil {
			continue
		}
		if rows.covered != nil && f.filters.Coarsest {
			of := rows.covered.of[i]
			h.Units, h.Known = storedOf(of.value(false)), storedOf(of.value(true))
		}
		switch {
		case v.Kind == aggregate.Null || v.Kind == aggregate.Differ:
		case v.Kind == aggregate.Decimal && strings.HasPrefix(f.Measures[0], "sum:"):
			h.Value = v.String() // an integer where every row is
		default:
			h.Value = rows.number(i, 1)
		}
	}
	return nil
}

// ratio reads two measures, and divides their sums, in which each row counts by its weight.
func (f *figure) ratio(places ...string) error {
	by, measures := []string{f.Place}, f.Measures
	if f.Weight != "" {
		by, measures = append(by, f.Weight), append([]string{"count"}, measures...)
	}
	rows, err := f.ask(f.in(f.base, places...), by, measures...)
	if err != nil {
		return err
	}
	sums := map[*headline]*[2]big.Rat{}
	for i := range rows.len() {
		h, weight := f.of[rows.at(i, 0).Text], big.NewRat(1, 1)
		if h == nil {
			continue
		}
		if f.Weight != "" {
			one, n := ratOf(rows.number(i, 1)), ratOf(rows.number(i, 2))
			if one == nil {
				h.Reason.Text = say.Of("some of its records have no %s", f.Weight)
				continue
			}
			weight.Mul(one, n)
		}
		if sums[h] == nil {
			sums[h] = new([2]big.Rat)
		}
		for k := range sums[h] {
			if v := ratOf(rows.number(i, len(by)+len(measures)-2+k)); v != nil {
				sums[h][k].Add(&sums[h][k], v.Mul(v, weight))
			}
		}
	}
	for h, s := range sums {
		if h.Reason.IsZero() {
			h.Value = percentText(&s[0], &s[1])
		}
	}
	return nil
}

// medianChange compares the newest month of places with the same month a year before.
func (f *figure) medianChange(month time.Time, places []string) error {
	by := append(append([]string{f.Place}, f.MatchedBy()...), monthPart)
	before, changes := map[string]*big.Rat{}, map[string][]*big.Rat{}
	for _, years := range []int{1, 0} {
		of := month.AddDate(-years, 0, 0)
		rows, err := f.ask(f.between(f.in(f.base, places...), of, of), by, f.Measures...)
		if err != nil {
			return err
		}
		for i := range rows.len() {
			if rows.at(i, len(by)-1).Text != of.Format("2006-01") {
				continue // prices run to the middle of the next month
			}
			key, price := groupKey(rows.result, i, len(by)-1), ratOf(rows.number(i, len(by)))
			if then, place := before[key], rows.at(i, 0).Text; years == 1 {
				before[key] = price
			} else if price != nil && then != nil && then.Sign() > 0 {
				changes[place] = append(changes[place], new(big.Rat).Quo(price, then))
			}
		}
	}
	one := big.NewRat(1, 1)
	for _, place := range places {
		h, of := f.of[place], changes[place]
		switch {
		case h == nil:
			continue
		case len(of) == 0:
			h.Reason.Text = say.Of("nothing of its newest month, %s, has a price in the same month a year before",
				month.Format("2006-01"))
			continue
		}
		h.Value, h.Rows = percentText(new(big.Rat).Sub(contract.Median(of), one), one), len(of)
	}
	return nil
}

// ratOf reads a number as JSON has it, nil for null.
func ratOf(text string) *big.Rat {
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return n
}

// PercentOf is a number in per cent of another, empty if there is none.
func PercentOf(part, whole string) string {
	if a, b := ratOf(part), ratOf(whole); a != nil && b != nil {
		return percentText(a, b)
	}
	return ""
}

// percentText is a ratio in per cent, rounded half away from zero. It is empty if there is none.
func percentText(part, whole *big.Rat) string {
	if whole.Sign() == 0 {
		return ""
	}
	ratio := new(big.Rat).Quo(part, whole)
	text := ratio.Mul(ratio, big.NewRat(100, 1)).FloatString(contract.HeadlineDigits)
	if text = strings.TrimSuffix(strings.TrimRight(text, "0"), "."); text == "-0" {
		text = "0"
	}
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// absent says what exists besides the rows of a figure, of which a place has none.
func (f *figure) absent(place string) (reason say.Text, err error) {
	kind := f.filters.Copy().Add(f.given).Drop(levelColumn)
	if f.alike == nil {
		if f.alike, err = f.recordsOf(f.in(kind, f.codes...)); err != nil {
			return reason, err
		}
	}
	if records, has := f.alike[place]; has {
		return say.Of("no record of %s is of the newest period; there is, of this kind: %s", place, records), nil
	}
	if f.otherKinds == nil {
		if f.otherKinds, err = f.recordsOf(f.in(f.all(), f.codes...)); err != nil {
			return reason, err
		}
	}
	if records, has := f.otherKinds[place]; has {
		return say.Of("no record of %s in the list %s is of this kind; there is, of other kinds or times: %s",
			place, f.list.Name(), records), nil
	}
	f.dropFuture(kind)
	all, err := f.recordsOfAll(kind)
	return say.Of("no record of %s at any level; %s", place, all), err
}

// undecided says why rows of a place make no value.
func (f *figure) undecided(place string, h *headline) (say.Text, error) {
	var by []string
	for i := range f.list.Dimensions {
		if d := &f.list.Dimensions[i]; d.Kind == contract.Overlapping {
			by = append(by, d.Field)
		}
	}
	if h.refusal.IsZero() {
		return say.Of("its records have no value for it"), nil
	}
	if by == nil || !f.IsPlain() {
		return h.refusal, nil
	}
	rows, err := f.ask(f.in(f.base, place), by, "count")
	if err != nil || rows.len() < 2 {
		return h.refusal, err
	}
	var all []string
	for i := range rows.len() {
		var values []string
		for k := range by {
			values = append(values, cmp.Or(rows.at(i, k).String(), "(empty)"))
		}
		all = append(all, "("+strings.Join(values, ", ")+")")
	}
	return say.Of("the newest records count the same people several times, by %s: %s",
		strings.Join(by, ", "), say.And(all)), nil
}
