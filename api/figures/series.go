package figures

import (
	"errors"
	"strconv"
	"strings"
	"time"

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
	read := func(places ...string) error {
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
			if hasUnits && (level != h.level || rows.at(i, 3) != h.units) {
				continue
			}
			if all[place] == nil {
				all[place] = map[string]string{}
			}
			all[place][strings.Clone(at)] = strings.Clone(rows.number(i, 2))
		}
		return err
	}
	err = read(f.codes...)
	if _, refused := errors.AsType[*contract.Invalid](err); !refused {
		return all, err
	}
	clear(all)
	for place := range f.of {
		if err := read(place); err != nil {
			if _, refused := errors.AsType[*contract.Invalid](err); !refused {
				return nil, err
			}
			delete(all, place)
		}
	}
	return all, nil
}

// packSeries is a figure over time as a text: the last month or year, then the values from it back,
// with commas between them, empty for those that are not known. It is tooLong for what does not
// fit.
func packSeries(of map[string]string) string {
	last := ""
	for at := range of {
		last = max(last, at)
	}
	if last == "" {
		return ""
	}
	text, at := []byte(last), last
	for left, steps := len(of), 0; left > 0; at, steps = before(at), steps+1 {
		if steps == mostSteps {
			return tooLong
		}
		text = append(text, ',')
		if value, has := of[at]; has {
			text = append(text, value...)
			left--
		}
	}
	return string(text)
}

// A series has at most two centuries of months. View dumps may have any year, of which the list is
// asked.
const (
	mostSteps = 2400
	tooLong   = "-"
)

// unpackSeries is the reverse of packSeries.
func unpackSeries(text string) map[string]string {
	of := map[string]string{}
	at, values, _ := strings.Cut(text, ",")
	for value := range strings.SplitSeq(values, ",") {
		if value != "" && isNumber(value) {
			of[at] = value
		}
		at = before(at)
	}
	return of
}

// before is the month or year before one.
func before(at string) string {
	if month, err := time.Parse("2006-01", at); err == nil {
		return month.AddDate(0, -1, 0).Format("2006-01")
	}
	year, _ := strconv.Atoi(at)
	return strconv.Itoa(year - 1)
}

// SeriesOf is a figure of a country over time, by month or year, as the publication of a snapshot
// has kept it, or else computed. It is empty where that is not known, and of figures that cannot be
// compared over time.
func SeriesOf(s *list.Lists, v *state.Served, h *contract.Headline, code string) (map[string]string, error) {
	if h.Series == "" {
		return nil, nil
	}
	c := &headlineReader{
		s: s, a: &list.Reply{Served: v}, chosen: true, codes: []string{code},
		given: contract.Ask(&contract.FigureEndpoints(contract.ContractNames)[0], contract.Figures),
	}
	if kept := keptIn(c, h); kept != nil && keepsSeries(h) && kept.lines[code] != nil {
		if p, err := kept.place(code); err != nil || p.Series != tooLong {
			return unpackSeries(p.Series), err
		}
	}
	f, err := newFigure(c, h)
	if err != nil || f.of[code] == nil {
		return nil, err
	}
	all, err := readSeries(f)
	return all[code], err
}
