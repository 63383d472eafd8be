package browse

import (
	"cmp"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
)

// A sum over countries is of those that have records. Where one has none of a year, the sum of that
// year is smaller, which looks like any other fall.

// addSummed says of how many countries the sums of the two newest times are, and which have records
// of one of these only. The table has the number of countries of each time.
func (x *figure) addSummed(q *Question, rows *contract.Question, b *by, fields []string, measure string) error {
	place := SummedPlace(rows, fields...)
	if b.as != overTime || b.each || place == "" || !strings.HasPrefix(measure, "sum:") {
		return nil
	}
	counted := rows.As(contract.Aggregate).GroupBy(b.value).Measure("distinct:" + place)
	answer, err := q.Source.Ask(counted.Page(0, contract.MaxLimit))
	if err != nil {
		return err
	}
	counts, differ := map[string]string{}, false
	for _, r := range answer.Records {
		counts[r.Value(b.value)] = q.Language.Number(r.Value("distinct_" + place))
	}
	var times []string
	for _, row := range x.Data.Rows {
		if n := counts[row[0].Text]; n != "" {
			times = append(times, row[0].Text)
			differ = differ || n != counts[times[0]]
		}
	}
	if len(times) < 2 {
		return nil
	}
	last, before := times[len(times)-1], times[len(times)-2]
	text, err := Lacking(q.Language, q.Source, rows, []string{b.value, place}, measure, before, last, 0, q.nameOf)
	if err != nil || !differ && text == "" {
		return err
	}
	if text != "" {
		const sums = "Countries added up: %[2]s for %[1]s, %[4]s for %[3]s."
		x.Chart.Cut = append(x.Chart.Cut, q.Language.T(sums, before, counts[before], last, counts[last])+text)
	}
	x.Data.Head = append(x.Data.Head, q.Language.T("Countries"))
	for i, row := range x.Data.Rows {
		n := counts[row[0].Text]
		x.Data.Rows[i] = append(row, cell{Text: cmp.Or(n, "–"), Number: true, Null: n == ""})
	}
	return nil
}

// SummedPlace is the field with the countries that are added up in groups by some fields, empty
// where there are none: the country of asylum, which is the last, before that of origin.
func SummedPlace(rows *contract.Question, fields ...string) (place string) {
	for i := range rows.Endpoint().Fields {
		name := rows.Endpoint().Fields[i].Name
		chosen := slices.Concat(rows.Texts(name), rows.Texts(name+contract.SeveralSuffix))
		if isCountry(name) && len(chosen) != 1 && !slices.Contains(fields, name) {
			place = name
		}
	}
	return place
}

// Lacking says which countries have records of one of two times only, and the figures of these,
// unless they come to less than an amount. The fields are the time and that of the countries.
func Lacking(
	l *lang.Language, source Source, rows *contract.Question, fields []string, measure, before, last string,
	least float64, nameOf func(code string) string,
) (text string, err error) {
	asked := rows.As(contract.Aggregate).Keep("start_date", before).GroupBy(fields...).Measure(measure)
	answer, err := source.Ask(asked.Page(0, contract.MaxLimit))
	if err != nil {
		return "", err
	}
	of := map[string]map[string]string{before: {}, last: {}}
	for _, r := range answer.Records {
		if figures, code := of[r.Value(fields[0])], r.Value(fields[1]); figures != nil && code != "" {
			figures[code] = r.Value(strings.ReplaceAll(measure, ":", "_"))
		}
	}
	for _, times := range [][2]string{{last, before}, {before, last}} {
		at, other := times[0], times[1]
		var only []group
		sum := 0.0
		for code, figure := range of[other] {
			if _, has := of[at][code]; !has {
				g := newGroup(l, code, nameOf(code), figure)
				only, sum = append(only, g), sum+g.number
			}
		}
		if len(only) == 0 || sum < least {
			continue
		}
		sortByFigure(only)
		var names []string
		for _, g := range only[:min(len(only), maxNamed)] {
			names = append(names, l.T("%[1]s (%[2]s)", g.name, cmp.Or(g.text, "–")))
		}
		if more := len(only) - maxNamed; more > 0 {
			names = append(names, l.T("%s more", lang.Count(more)))
		}
		text += " " + l.T("Without records for %[1]s: %[2]s.", at, l.List(names))
	}
	return text, nil
}
