package figures

import (
	"maps"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
)

// seriesLength is how many months or years, up to the newest one, a figure over time has.
const seriesLength = 36

// keepsSeries reports whether a publication keeps a figure over time: if sums have to look for
// places in places. To ask for these takes 300 ms at full scale, for the first page of a country.
// Others take 20 ms together, and would make the file larger by two thirds.
func keepsSeries(h *contract.Headline) bool {
	return h.Series != "" && h.Question(contract.ContractNames).Coarsest
}

// readSeries finds the figure over time of all places that have rows: by month up to the newest one
// of the list, or by year. It has values of the same level, and of as many units, as the figure
// itself. Where the checks of sums refuse it, a place has none.
func readSeries(f *figure) (all map[string]map[string]string, err error) {
	all = map[string]map[string]string{}
	asked := f.filters.Copy()
	if f.Series == monthPart {
		newest, err := f.ask(f.all(), nil, newestStart)
		if err != nil || newest.at(0, 0).Kind != aggregate.Time {
			return all, err
		}
		asked.Keep(contract.StartParam, monthOf(newest.at(0, 0)).AddDate(0, 1-seriesLength, 0).Format("2006-01"))
	}
	by, measures := []string{f.Place, f.Series}, []string{f.Measures[0]}
	hasUnits := f.list.Units() != nil
	if hasUnits {
		measures = append(measures, contract.CoverageName)
	}
	return all, f.together(f.codes, func(places ...string) error {
		rows, err := f.ask(f.in(asked, places...), by, measures...)
		for i := 0; err == nil && i < rows.len(); i++ {
			place, at := rows.at(i, 0).Text, rows.at(i, 1).String()
			h, v := f.of[place], rows.at(i, 2)
			if h == nil || v.Kind == aggregate.Null || v.Kind == aggregate.Differ {
				continue
			}
			level := aggregate.Value{}
			if rows.level {
				level = rows.levelOf(i)
			}
			if hasUnits && (storedOf(level) != h.Level || storedOf(rows.at(i, 3)) != h.Units) {
				continue
			}
			if all[place] == nil {
				all[place] = map[string]string{}
			}
			all[place][strings.Clone(at)] = strings.Clone(rows.number(i, 2))
		}
		return err
	})
}

// timesOf are the months or years of which some place has a value, the latest first.
func timesOf(series map[string]map[string]string) []string {
	times := map[string]bool{}
	for _, of := range series {
		for at := range of {
			times[at] = true
		}
	}
	all := slices.Sorted(maps.Keys(times))
	slices.Reverse(all)
	return all
}

// packSeries is a figure over time as a text: its values of all times, with commas between them,
// empty for those that are not known.
func packSeries(of map[string]string, times []string) string {
	values := make([]string, len(times))
	for i, at := range times {
		values[i] = of[at]
	}
	return strings.TrimRight(strings.Join(values, ","), ",")
}

// unpackSeries is the reverse of packSeries.
func unpackSeries(text string, times []string) map[string]string {
	of, values := map[string]string{}, strings.Split(text, ",")
	for i, value := range values[:min(len(values), len(times))] {
		if value != "" && isNumber(value) {
			of[times[i]] = value
		}
	}
	return of
}

// SeriesOf is a figure of a country over time, by month or year, as the publication of a snapshot
// has kept it, or else computed. It is empty where that is not known, and of figures that cannot be
// compared over time.
func SeriesOf(s *list.Lists, v *state.Served, h *contract.Headline, code string) (map[string]string, error) {
	if h.Series == "" {
		return nil, nil
	}
	c := readerOf(s, v, code)
	if kept := keptIn(c, h); kept != nil && keepsSeries(h) && kept.lines[code] != nil {
		p, err := kept.place(code)
		if err != nil {
			return nil, err
		}
		return unpackSeries(p.Series, kept.Times), nil
	}
	f, err := newFigure(c, h)
	if err != nil || f.of[code] == nil {
		return nil, err
	}
	all, err := readSeries(f)
	return all[code], err
}
