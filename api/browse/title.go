package browse

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hdqs/api/contract"
	"hdqs/api/lang"
)

// What a figure is called: one sentence with what it counts, where and when, and a second line with
// its unit, its source and its days. Pages, pictures, frames, previews, workbooks and citations all
// have these two.

// named is what a title says besides the time.
type named struct {
	what  string // is counted
	each  bool   // what says by what
	by    string // empty for no groups
	where string // empty where the groups are countries
}

// maxNamed is how many countries, and how many values of a filter, a title names.
const maxNamed = 3

// entitle gives a figure of some records its title. It has x.About, whose days the title has.
func (x *figure) entitle(q *Question, rows *contract.Question, n named) {
	l := q.Language
	if from := q.placeText(rows, "origin_location_code"); from != "" && from != n.where {
		n.what = l.T("%[1]s from %[2]s", n.what, from)
	}
	text := n.what
	if n.by != "" && !n.each {
		text = l.T("%[1]s by %[2]s", text, n.by)
	}
	if contract.IsYearly(q.Plan.Endpoint) {
		x.About.updated = "" // they are of their years
	}
	x.sentence, x.lasts = Sentence(l, n.where, text, ""), ""
	if values := rows.Texts("aggregation_period"); len(values) == 1 {
		x.lasts, _ = worded(l, "aggregation_period", values[0])
	}
	x.setTime(l, x.About.from, x.About.to)
}

// Sentence is a title: where, what and when. A part is empty where it is not known.
func Sentence(l *lang.Language, where, what, when string) string {
	if where != "" {
		what = l.T("%[1]s: %[2]s", where, uncapital(what))
	}
	if when != "" {
		what = l.T("%[1]s, %[2]s", what, when)
	}
	return what
}

// setTime completes the title with the time of what is drawn.
func (x *figure) setTime(l *lang.Language, from, to string) {
	if x.About == nil {
		return
	}
	when, exact := shortPeriod(l, from, to), l.Period(from, to)
	switch {
	case x.lasts != "" && to != "":
		exact = l.T("%[1]s to %[2]s", x.lasts, l.DayOf(to))
		when = exact
	case goesOn(from, to, x.About.loaded) && x.About.updated != "":
		when = l.T("report of %s", shortPeriod(l, x.About.earliest, x.About.updated))
		exact = l.Period(x.About.earliest, x.About.updated)
	}
	x.setWhen(l, when, exact)
}

// goesOn reports whether records have the beginning and the end of what goes on for years, such as
// projects, which are not the days that the figures are of. A plan of this year is of this year.
func goesOn(from, to, on string) bool {
	start, err := time.Parse(lang.Instant, from)
	return to > on && (err != nil || start.AddDate(2, 0, 0).Format(lang.Instant) < to)
}

// setWhen completes the title with a time in words, and in words that have its days.
func (x *figure) setWhen(l *lang.Language, when, exact string) {
	x.About.Period, x.when = exact, when
	x.Title = Sentence(l, "", x.sentence, when)
	second := []string{x.About.Unit, cmp.Or(x.About.Source(l), l.T("source not listed in this copy"))}
	if exact != when {
		second = append(second, exact)
	}
	x.Second = ""
	for _, text := range second {
		switch {
		case x.Second == "":
			x.Second = text
		case text != "":
			x.Second = l.T("%[1]s; %[2]s", x.Second, text)
		}
	}
}

// shortPeriod is a time as a title has it: a year where most of one is meant, else months.
func shortPeriod(l *lang.Language, from, to string) string {
	start, err := time.Parse(lang.Instant, from)
	end, failed := time.Parse(lang.Instant, to)
	if err != nil || failed != nil {
		return l.Period(from, to)
	}
	first := time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC)
	last := time.Date(end.Year(), end.Month()+1, 0, 23, 59, 59, 0, time.UTC)
	if start.Year() == end.Year() && end.Sub(start) > 100*24*time.Hour {
		first = time.Date(start.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
		last = time.Date(start.Year(), time.December, 31, 23, 59, 59, 0, time.UTC)
	}
	return l.Period(first.Format(lang.Instant), last.Format(lang.Instant))
}

// whereOf is the place of some records in words: the country with its province or market, a few
// countries, or how many there are.
func (q *Question) whereOf(rows *contract.Question, a *about, byCountry bool) string {
	l := q.Language
	place := ""
	for _, field := range []string{contract.CountryParam, "asylum_location_code"} {
		place = cmp.Or(place, q.placeText(rows, field))
	}
	for _, field := range []string{"admin1", "admin2", "market"} {
		for _, part := range []string{"_code", "_name"} {
			if text := q.placeText(rows, field+part); text != "" {
				place = strings.TrimPrefix(l.T("%[1]s, %[2]s", place, text), l.T(",")+" ")
				break
			}
		}
	}
	switch {
	case place != "":
		return place
	case byCountry:
		return ""
	}
	return a.Places
}

// placeText is what the filter of a place chooses, empty for nothing, or for countries of which the
// title has the number.
func (q *Question) placeText(rows *contract.Question, field string) string {
	for _, name := range []string{field, field + contract.SeveralSuffix} {
		values := rows.Texts(name)
		isCounted := slices.Contains([]string{contract.CountryParam, "asylum_location_code"}, field)
		if len(values) == 0 || isCounted && len(splitLists(values)) > maxNamed {
			continue
		}
		return fewWords(q.Language, q.known.named[field], rows.Plan().Param(name), values)
	}
	return ""
}

// silent are filters that a title does not name: places, times, and how records are counted.
var silent = []string{
	"location_code", "asylum_location_code", "origin_location_code", "admin1_code", "admin1_name", "admin2_code",
	"admin2_name", "market_code", "market_name", "start_date", "end_date", levelParam, latestParam,
	contract.EverybodyParam, contract.SnapshotParam, "aggregation_period",
}

// usual are values that a title does not name. Of others it does: a projection, or a forecast.
var usual = map[string]string{"classification_type": "current", "version": "final"}

// whatOf is what measures of some records count, and in which unit: the title of the figure that is
// declared of the same, else the name of the measure, with the values of other filters. by is the
// field of the groups, whose values the drawing names. around is what figures are above or below
// of.
func (q *Question) whatOf(rows *contract.Question, m measure, by string) (what, unit string, around float64) {
	l, e := q.Language, q.Plan.Endpoint
	what = m.label
	most := -1
	var said []string // parameters that the title implies
	fits := func(title, of, filters string, measures []string, middle float64) {
		own, ok := impliedBy(rows, filters)
		if ok && len(own) > most && slices.Equal(inContract(measures), inContract(m.requested())) {
			what, most, said, around = l.T(title), len(own), own, middle
			if of != "" {
				unit = l.T(of)
			}
		}
	}
	if view := e.View(); view != nil {
		for _, d := range view.Drawings {
			title := d.Title
			if strings.Contains(title, "%s") { // of what must be chosen
				of := view.Choose[len(view.Choose)-1]
				if title = l.T(title, uncapital(q.placeText(rows, of))); !rows.Has(of) {
					continue
				}
			}
			if d.Figure == "" {
				fits(title, d.Unit, d.Filters, d.Measures, d.Around)
			}
		}
	}
	for _, h := range contract.Headlines {
		if h.Path == e.Contract().Path && h.IsPlain() {
			if unit == "" && slices.Equal(inContract(h.Measures), inContract(m.requested())) {
				unit = l.T(h.Unit)
			}
			fits(h.Title, h.Unit, h.Filters, h.Measures, h.Around)
		}
	}
	var rest []string
	pairs := rows.Pairs()
	for i := 0; i < len(pairs); i += 2 {
		p, field := q.Plan.Param(pairs[i]), strings.TrimSuffix(pairs[i], contract.SeveralSuffix)
		values := splitLists(pairs[i+1 : i+2])
		if p == nil || field == by || isSilent(field) || slices.Contains(said, pairs[i]) ||
			isAny(values[0]) || pairs[i+1] == usual[contract.ContractNames.Name(field)] {
			continue
		}
		text := fewWords(l, q.known.named[field], p, pairs[i+1:i+2])
		if strings.HasSuffix(field, "_min") || strings.HasSuffix(field, "_max") {
			text = uncapital(chipText(l, nil, p, values))
		}
		switch {
		case field == "classification_phase" && len(values) == 1:
			what = l.T("People in %[1]s (phase %[2]s)", text, values[0])
		case !strings.Contains(what, uncapital(text)):
			rest = append(rest, text)
		}
	}
	if len(rest) > 0 {
		what = l.T("%[1]s (%[2]s)", what, l.List(rest))
	}
	return what, cmp.Or(unit, unitOf(l, e, m)), around
}

// fewWords are the values of a filter in words, the first few of many.
func fewWords(l *lang.Language, named map[string]string, p *contract.Param, values []string) string {
	all := splitLists(values)
	if len(all) <= maxNamed {
		return valueWords(l, named, p, values)
	}
	return valueWords(l, named, p, []string{strings.Join(all[:maxNamed], ",")}) + l.T(",") + " …"
}

// impliedBy are the parameters of declared filters that a question about records has too. It is not
// ok if the question is about other records.
func impliedBy(rows *contract.Question, filters string) (own []string, ok bool) {
	d := contract.Drawing{Filters: filters}
	pairs := d.Question(rows.Endpoint()).Pairs()
	for i := 0; i < len(pairs); i += 2 {
		given, value := splitLists(rows.Texts(pairs[i])), splitLists(pairs[i+1:i+2])
		isSame := slices.Equal(given, value)
		switch {
		case isSilent(pairs[i]), usual[contract.ContractNames.Name(pairs[i])] != "":
		case given == nil && value[0] == "all", given != nil && value[0] == "%" && !isSame: // which leaves out null
		case !isSame:
			return nil, false
		default:
			own = append(own, pairs[i])
		}
	}
	return own, true
}

// isAny reports whether a value of a filter chooses nothing: all, or any text.
func isAny(value string) bool { return value == "all" || value == "%" }

// isSilent reports whether a title does not name the values of a filter.
func isSilent(field string) bool {
	return slices.Contains(silent, contract.ContractNames.Name(field))
}

// inContract are measures with the contract's names of their fields. The only value of some records
// is the latest one too.
func inContract(measures []string) (all []string) {
	for _, m := range measures {
		function, field, _ := strings.Cut(m, ":")
		if function == "latest" {
			function = only
		}
		all = append(all, function+":"+contract.ContractNames.Name(field))
	}
	return all
}

// uncapital is a text as it stands in a sentence: with a small letter at the beginning, unless the
// word is all capitals.
func uncapital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if next, _ := utf8.DecodeRuneInString(text[size:]); text == "" || unicode.IsUpper(next) {
		return text
	}
	return string(unicode.ToLower(first)) + text[size:]
}

// timeOf is the time between the first and the last of some months or years that have a figure.
func timeOf(labels []string, groups []group) (from, to string) {
	first, last := "", ""
	for i := range groups {
		if g := &groups[i]; g.known && slices.Contains(labels, g.value) {
			first = cmp.Or(first, g.value)
			first, last = min(first, g.value), max(last, g.value)
		}
	}
	form, years, months := "2006-01", 0, 1
	if len(first) == len("2006") {
		form, years, months = "2006", 1, 0
	}
	start, err := time.Parse(form, first)
	end, failed := time.Parse(form, last)
	if err != nil || failed != nil {
		return "", ""
	}
	return start.Format(lang.Instant), end.AddDate(years, months, 0).Add(-time.Second).Format(lang.Instant)
}
