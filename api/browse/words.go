package browse

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/say"
	"hdqs/api/textual"
	"hdqs/index"
)

// What fields, parameters and values are called on pages.

// label is the name of a field or a parameter as people say it.
func label(l *lang.Language, name string) string {
	if base, isBound := strings.CutSuffix(name, "_min"); isBound {
		return l.T("%s, at least", label(l, base))
	}
	if base, isBound := strings.CutSuffix(name, "_max"); isBound {
		return l.T("%s, below", label(l, base))
	}
	return l.T(contract.LabelOf(name))
}

// nounLabel is the label of a field with codes without that word: Country, Sector.
func nounLabel(l *lang.Language, name string) string {
	if noun, isCode := strings.CutSuffix(contract.LabelOf(name), " code"); isCode {
		return l.T(noun)
	}
	return label(l, name)
}

// meaning is what a field means. The reference is in English, so other languages leave out what has
// no translation.
func meaning(l *lang.Language, e *contract.Endpoint, field string) string {
	text := e.Texts().Meaning(field)
	if told := l.T(text); l.IsEnglish() || told != text {
		return told
	}
	return ""
}

// worded is a value as people say it. code is the value if it is one that people quote, such as INN
// or phase 3.
func worded(l *lang.Language, field, value string) (text, code string) {
	text = l.T(contract.Words(field, value))
	switch {
	case text == "" && closedFields[contract.ContractNames.Name(field)]:
		return translated(l, value), ""
	case text == "":
		return value, ""
	case strings.ToUpper(value) != value || contract.ContractNames.Name(field) == "admin_level":
		return text, ""
	}
	return text, value
}

// isOurs reports whether our words stand for a value, or for that it is missing.
func isOurs(field, value string) bool { return value == "" || contract.Words(field, value) != "" }

// alone is a value as it stands by itself in a list or a table: our words for it and categories
// begin with a capital letter, and what else a provider writes stays as it is.
func alone(l *lang.Language, field, value string) (text, code string) {
	if text, code = worded(l, field, value); contract.Words(field, value) != "" || field == "category" {
		text = capital(text)
	}
	return text, code
}

// rounded is a number as people read it: with no fraction from 10 000 on, one digit of it from 100
// on, two from 1 on, and three digits that count below. exact is the number if that is another one.
func rounded(l *lang.Language, text string) (short, exact string) {
	exact = l.Number(text)
	x, err := strconv.ParseFloat(text, 64)
	_, fraction, _ := strings.Cut(strings.TrimRight(text, "0"), ".")
	if err != nil || fraction == "" || strings.ContainsAny(text, "eEnN") {
		return exact, ""
	}
	digits := 2
	switch size := max(x, -x); {
	case size >= 10_000:
		digits = 0
	case size >= 100:
		digits = 1
	case size < 1:
		for digits = 3; size < 0.1 && size > 0; digits++ {
			size *= 10
		}
	}
	if digits >= len(fraction) {
		return exact, ""
	}
	return l.Number(strconv.FormatFloat(x, 'f', digits, 64)), exact
}

// Number is a number as people read it.
func Number(l *lang.Language, text string) string {
	short, _ := rounded(l, text)
	return short
}

// Count is a count with narrow spaces between thousands.
func Count(n int) string { return lang.Count(n).String() }

// shortTime leaves out the time of day at which periods begin and end.
func shortTime(text string) string {
	day, clock, found := strings.Cut(text, "T")
	_, err := time.Parse(time.DateOnly, day)
	switch {
	case !found || err != nil: // a word with a T
		return text
	case strings.HasPrefix(clock, "00:00:00") || strings.HasPrefix(clock, "23:59:59"):
		return day
	}
	return day + " " + clock
}

// span is a period: as a year or a month where it is a whole one.
func span(l *lang.Language, start, end string) string {
	start, end = shortTime(start), shortTime(end)
	switch {
	case end == "":
		return l.T("since %s", start)
	case start == end:
		return start
	case len(start) != 10 || len(end) != 10:
	case start[:4] == end[:4] && start[4:] == "-01-01" && end[4:] == "-12-31":
		return start[:4]
	case start[:8] == end[:8] && start[8:] == "01" && isLastDay(end):
		return start[:7]
	}
	return l.T("%s to %s", start, end)
}

// isLastDay reports whether a day is the last one of its month.
func isLastDay(day string) bool {
	at, err := time.Parse(time.DateOnly, day)
	return err == nil && at.AddDate(0, 0, 1).Day() == 1
}

const levelParam = "admin_level"

// levelNames are the values of a filter by level in words.
var levelNames = map[string]string{
	contract.Coarsest: "National totals", "0": "Whole countries", "1": "Provinces", "2": "Districts",
}

// chipText is a filter in words.
func chipText(l *lang.Language, named map[string]map[string]string, p *contract.Param, values []string) string {
	field, isList := strings.CutSuffix(p.Name, contract.SeveralSuffix)
	text := strings.Join(values, ", ")
	if isList {
		text = strings.Join(splitLists(values), ", ")
	}
	switch {
	case field == latestParam && text == contract.LatestEdition:
		return l.T("Latest round")
	case field == latestParam && isTrue(text):
		return l.T("Only the newest records")
	case field == latestParam:
		return l.T("Records of all times")
	case field == contract.EverybodyParam && isTrue(text):
		return l.T("All ages and sexes together")
	case field == "start_date":
		return l.T("Since %s", text)
	case text == "%":
		return l.T("%[1]s: %[2]s", label(l, field), l.T("any"))
	}
	if text = valueWords(l, named[field], p, values); field == levelParam {
		return text
	}
	return l.T("%[1]s: %[2]s", nounLabel(l, field), text)
}

// valueWords are the values of a filter in words.
func valueWords(l *lang.Language, named map[string]string, p *contract.Param, values []string) string {
	if strings.HasSuffix(p.Name, contract.SeveralSuffix) {
		values = splitLists(values)
	}
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = filterWords(l, named, p, value)
	}
	return l.List(words)
}

// filterWords are the records that a value of a filter chooses, in words. A filter that looks for a
// part of a text chooses all codes that have it: PRO is also a part of PRO-CPN.
func filterWords(l *lang.Language, named map[string]string, p *contract.Param, value string) string {
	text, names := p.Literal(value), []string(nil)
	switch {
	case p.Type == contract.Boolean:
		return l.T(map[bool]string{true: "yes", false: "no"}[isTrue(text)])
	case p.Op != index.Contains:
		text, _ = worded(l, strings.TrimSuffix(p.Name, contract.SeveralSuffix), text)
		return cmp.Or(named[p.Literal(value)], text)
	}
	for _, code := range slices.Sorted(maps.Keys(named)) {
		if strings.Contains(strings.ToLower(code), strings.ToLower(text)) {
			names = append(names, named[code])
		}
	}
	if whole := named[text]; whole != "" && len(names) > 1 {
		return l.T("%s, all", whole)
	}
	return cmp.Or(l.List(names), "…"+text+"…")
}

// plainDigits is a number without zeros at the end of its decimals.
func plainDigits(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// coverageText says that not all units of a country have records, empty if they do.
func coverageText(l *lang.Language, units []string) string {
	if units[0] == "" || units[0] == units[1] {
		return ""
	}
	text := map[string]string{"1": "%[1]s of %[2]s provinces", "2": "%[1]s of %[2]s districts"}[units[2]]
	return l.T(cmp.Or(text, "%[1]s of %[2]s units"), l.Number(units[0]), l.Number(units[1]))
}

// PartOf says in words what a figure is only a part of, empty if it is whole or that is not known.
func PartOf(l *lang.Language, h *contract.Headline, r textual.Record) string {
	isPart := r.Value("complete") == "false"
	switch months, outOf := r.Value("months"), r.Value("out_of"); {
	case months != r.Value("of_months"):
		had, _ := strconv.Atoi(months)
		of, _ := strconv.Atoi(r.Value("of_months"))
		period := l.Period(r.Value("period_start"), r.Value("period_end"))
		return l.T("%[2]s only: %[1]s of 12 months are missing", lang.Count(of-had), period)
	case h.LeastOthers > 0 && isPart:
		return l.T("the list has %s countries of asylum only", r.Value("other_places"))
	case h.OutOfFilters != "" && outOf != "":
		return analysedOf(l, h, []textual.Record{r})
	case h.Whole && !r.Reason.IsZero():
		said, _ := l.Say(r.Reason)
		return said
	}
	return ""
}

// analysedOf says of how many people in all figures are, empty if that is not known of one.
func analysedOf(l *lang.Language, h *contract.Headline, records []textual.Record) string {
	if h.OutOfFilters == "" || len(records) == 0 {
		return ""
	}
	sum := new(big.Rat)
	for _, r := range records {
		people, isNumber := new(big.Rat).SetString(r.Value("out_of"))
		if !isNumber {
			return ""
		}
		sum.Add(sum, people)
	}
	return l.T("of %s people analysed", l.Rounded(sum.FloatString(0)))
}

// Parts says in words what figures that are shown as one are only parts of: what all of them are,
// and of how many countries some are. It is empty if all are whole, or that is not known.
func Parts(l *lang.Language, h *contract.Headline, records []textual.Record) string {
	parts, units, n := make([]string, len(records)), make([]string, len(records)), 0
	analysed := analysedOf(l, h, records)
	for i, r := range records {
		parts[i] = cmp.Or(analysed, PartOf(l, h, r))
		units[i] = coverageText(l, fieldsOf(r, "units", "units_known", "admin_level"))
		if parts[i] == "" && r.Value("complete") == "false" {
			parts[i] = l.T("preliminary: the newest months can still change")
		}
	}
	common := ""
	if len(slices.Compact(slices.Clone(parts))) == 1 {
		common = parts[0]
	}
	for i := range records {
		if units[i] != "" || parts[i] != common {
			n++
		}
	}
	said := []string{common}
	if len(records) == 1 {
		said = append(said, units...)
	} else if n > 0 {
		said = append(said, l.T("countries whose figure is not complete: %s", lang.Count(n)))
	}
	return strings.Join(slices.DeleteFunc(said, func(text string) bool { return text == "" }), l.T(";")+" ")
}

// Reason is why a figure of a country has no value, with the names of the country and of its list.
func Reason(l *lang.Language, e *contract.Endpoint, r textual.Record, country string) say.Text {
	return r.Reason.Named(map[string]string{
		r.Value("location_code"): country, e.Name(): l.T("“%s”", l.T(e.Summary)),
	})
}

// When is the time of a headline figure in words, and how old it is: on the day of the load, and
// against the source of its list.
func When(l *lang.Language, h *contract.Headline, start, end, updated string, of Freshness) (period, age string) {
	period, age = whenIs(l, h, start, end, updated, of.Loaded)
	if of.StaleSince != "" {
		age = strings.TrimPrefix(age+l.T(",")+" ", l.T(",")+" ") +
			l.T("older than its source since %s", l.DayOf(of.StaleSince))
	}
	return period, age
}

// whenIs is When on a day. A figure of what goes on for years is of the day on which its file was
// updated.
func whenIs(l *lang.Language, h *contract.Headline, start, end, updated, on string) (period, age string) {
	isMonthly := h.Series == "month"
	if updated != "" && h.Series != "year" && goesOn(start, end, on) {
		return l.T("report of %s", shortPeriod(l, updated, updated)), lang.Age(l, updated, on, isMonthly)
	}
	period = l.Period(start, end)
	if lasts := h.Question(contract.ContractNames).Texts("aggregation_period"); len(lasts) == 1 && end != "" {
		text, _ := worded(l, "aggregation_period", lasts[0])
		period = l.T("%[1]s to %[2]s", text, l.DayOf(end))
	}
	return period, lang.Age(l, end, on, isMonthly)
}

// isTrue reports whether a flag that the interface accepts is set.
func isTrue(text string) bool {
	return slices.Contains([]string{"1", "true", "t", "y", "yes", "on"}, strings.ToLower(text))
}
