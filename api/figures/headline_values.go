package figures

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
)

// readValues finds the values of all places that have rows.
func (f *figure) readValues() error {
	switch {
	case len(f.of) == 0:
		return nil
	case f.Value == contract.MedianChange:
		return f.eachPlace(f.medianChange)
	}
	if err := f.readCoverage(); err != nil {
		return err
	}
	read := map[contract.Expression]func([][2]string) error{
		contract.Plain: f.plain, contract.Percent: f.percent, contract.Weighted: f.weighted,
	}[f.Value]
	err := read(f.where())
	if _, refused := errors.AsType[*contract.Invalid](err); !refused {
		return err
	}
	return f.eachPlace(func(place string, _ *headline) error { return read([][2]string{{f.Place, place}}) })
}

// eachPlace calls do for each place that has rows. Where the checks of sums refuse an aggregate,
// the place has no value.
func (f *figure) eachPlace(do func(place string, r *headline) error) error {
	for place, r := range f.of {
		err := do(place, r)
		if invalid, refused := errors.AsType[*contract.Invalid](err); refused {
			r.refusal, _, _ = strings.Cut(invalid.Issues[0].Text, " Right: ")
		} else if err != nil {
			return err
		}
	}
	return nil
}

// readCoverage finds how many units of places of lower levels have rows.
func (f *figure) readCoverage() error {
	lower := false
	for _, r := range f.of {
		lower = lower || r.level.Int != 0 || r.level.Kind == aggregate.Null
	}
	if !lower || !slices.Contains(f.Keep, [2]string{levelColumn, contract.Coarsest}) {
		return nil
	}
	rows, err := f.ask(slices.Concat(f.base(), f.where()), []string{f.Place}, "coverage")
	if err != nil {
		return err
	}
	for i := range rows.len() {
		if r := f.of[rows.at(i, 0).Text]; r != nil {
			r.units, r.known = rows.at(i, 1), rows.at(i, 2)
		}
	}
	return nil
}

// plain reads the value of the only measure.
func (f *figure) plain(where [][2]string) error {
	rows, err := f.ask(slices.Concat(f.base(), where), []string{f.Place}, f.Measures...)
	if err != nil {
		return err
	}
	for i := range rows.len() {
		v := rows.at(i, 1)
		r := f.of[rows.at(i, 0).Text]
		if r == nil || v.Kind == aggregate.Null || v.Kind == aggregate.Differ {
			continue
		}
		if f.Whole && (r.level.Kind != aggregate.Int || r.level.Int != 0) {
			r.reason = "the newest records are of units of the country, not of the whole"
			continue
		}
		r.value = rows.number(i, 1)
	}
	return nil
}

// percent reads the two measures of a ratio.
func (f *figure) percent(where [][2]string) error {
	rows, err := f.ask(slices.Concat(f.base(), where), []string{f.Place}, f.Measures...)
	if err != nil {
		return err
	}
	for i := range rows.len() {
		part, whole := ratOf(rows.number(i, 1)), ratOf(rows.number(i, 2))
		if r := f.of[rows.at(i, 0).Text]; r != nil {
			r.value = percentText(part, whole)
		}
	}
	return nil
}

// weighted reads two means by weights, and divides the weighted sums.
func (f *figure) weighted(where [][2]string) error {
	measures := append([]string{"count"}, f.Measures...)
	rows, err := f.ask(slices.Concat(f.base(), where), []string{f.Place, f.Weight}, measures...)
	if err != nil {
		return err
	}
	sums := map[string]*[2]big.Rat{}
	for i := range rows.len() {
		place := rows.at(i, 0).Text
		weight, n := ratOf(rows.number(i, 1)), ratOf(rows.number(i, 2))
		if r := f.of[place]; r != nil && weight == nil {
			r.reason = "some of its records have no " + f.Weight
			continue
		}
		if sums[place] == nil {
			sums[place] = new([2]big.Rat)
		}
		for k := range sums[place] {
			if mean := ratOf(rows.number(i, 3+k)); mean != nil {
				mean.Mul(mean, n).Mul(mean, weight)
				sums[place][k].Add(&sums[place][k], mean)
			}
		}
	}
	for place, s := range sums {
		if r := f.of[place]; r != nil && r.reason == "" {
			r.value = percentText(&s[0], &s[1])
		}
	}
	return nil
}

// medianChange compares the newest month of a country with the same month a year before.
func (f *figure) medianChange(place string, r *headline) error {
	month := f.months[place]
	by := f.MatchedBy()
	var prices [2]map[string]*big.Rat
	for k := range prices {
		at := slices.Concat([][2]string{{f.Place, place}}, f.inMonth(month.AddDate(-k, 0, 0)))
		rows, err := f.ask(at, by, f.Measures...)
		if err != nil {
			return err
		}
		prices[k] = map[string]*big.Rat{}
		for i := range rows.len() {
			var key strings.Builder
			for field := range by {
				key.WriteString(rows.at(i, field).String() + "\x00")
			}
			prices[k][key.String()] = ratOf(rows.number(i, len(by)))
		}
	}
	var changes []*big.Rat
	for key, now := range prices[0] {
		if before := prices[1][key]; now != nil && before != nil && before.Sign() > 0 {
			changes = append(changes, new(big.Rat).Quo(now, before))
		}
	}
	if len(changes) == 0 {
		r.reason = fmt.Sprintf("nothing of its newest month, %s, has a price in the same month a year before",
			month.Format("2006-01"))
		return nil
	}
	slices.SortFunc(changes, (*big.Rat).Cmp)
	middle := len(changes) / 2
	median := changes[middle]
	if len(changes)%2 == 0 {
		median = new(big.Rat).Add(changes[middle-1], median)
		median.Quo(median, big.NewRat(2, 1))
	}
	one := big.NewRat(1, 1)
	r.value, r.rows = percentText(new(big.Rat).Sub(median, one), one), len(changes)
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

// percentText is a ratio in per cent, rounded half away from zero. It is empty if there is none.
func percentText(part, whole *big.Rat) string {
	if part == nil || whole == nil || whole.Sign() == 0 {
		return ""
	}
	ratio := new(big.Rat).Quo(part, whole)
	text := ratio.Mul(ratio, big.NewRat(100, 1)).FloatString(contract.HeadlineDigits)
	text = strings.TrimRight(text, "0")
	text = cmp.Or(strings.TrimSuffix(text, "."), "0")
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
