package find

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/list"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// Figure is a headline figure of a country, or of a part of what it counts.
type Figure struct {
	Name     string       `json:"name"`
	Value    *json.Number `json:"value"` // nil: there is none, see Reason
	Unit     string       `json:"unit"`
	Start    string       `json:"period_start,omitempty"`
	End      string       `json:"period_end,omitempty"`
	Updated  string       `json:"-"` // when its file was
	Provider string       `json:"provider,omitempty"`
	Dataset  string       `json:"dataset,omitempty"`
	Complete bool         `json:"complete"`
	Reading  string       `json:"reading"`
	Not      string       `json:"not"`
	View     string       `json:"view,omitempty"`    // page of the rows that it is made of
	Request  string       `json:"request,omitempty"` // for the same figure; empty: there is none

	reason say.Text           // why there is no value, or what is newer
	extent [2]string          // level and units of the places
	rows   *contract.Question // which rows it is made of, or the first of several requests; nil: of none
}

// readFigure reads a headline figure of a country, as a request for it does. Of a group of
// countries it has only which rows the sum is made of.
func (s *search) readFigure(a *answer) (*Figure, error) {
	h, endpoint := contract.HeadlineOf(a.figure.Name, s.mount.Names)
	f := &Figure{Name: h.Name, Unit: h.Unit, Reading: h.Reading, Not: h.NotThis}
	q, country := contract.Ask(endpoint, contract.Figures), ""
	if a.isOfGroup() {
		q.Keep(contract.GroupParam, a.of[1])
		f.Complete, f.reason = true, say.Of("no record is of all that")
	} else {
		country = s.entries[a.at.country].code
		q.Keep(s.mount.Names.Name(contract.CountryParam), filterOf(a.endpoint(), Country).Exactly(country))
	}
	if a.until != "" {
		q.Keep(contract.EndParam, a.until)
	}
	f.Request = s.mount.Prefix + endpoint.Path + "?" + contract.QueryOf(q.Pairs()...)
	err := s.read(q, func(rows list.Records) error {
		for _, r := range list.TextsOf(rows) {
			if country == "" && r.Rows != nil {
				f.rows = r.Rows.In(s.mount.Names).Drop(s.mount.Names.Name(h.Place))
				return nil
			} else if r.Value(s.mount.Names.Name(contract.CountryParam)) != country {
				continue // a code that differs in case
			}
			if value, known := r.Text("value"); known {
				f.Value = new(json.Number(value))
			}
			f.extent = [2]string{r.Value("admin_level"), r.Value("units")}
			f.Start, f.End = r.Value("period_start"), r.Value("period_end")
			f.Provider, f.Dataset, f.reason = r.Value("provider"), r.Value("dataset"), r.Reason
			f.Updated = r.Value("updated")
			f.Complete, f.rows = r.Value("complete") == "true", r.Rows
			if r.Value("rows") != "0" {
				f.View = s.viewOf(h.Name, h.List(s.mount.Names), r.Rows)
			} else if why := s.elsewhere(a); !why.IsZero() {
				f.reason = why
			}
		}
		return nil
	})
	n := len(a.until)
	isOfMonths := a.figure.Newest == contract.NewestMonths || !a.figure.CanNarrow()
	if err != nil || n == 0 || isOfMonths || f.Value == nil || f.End == "" || f.Start[:n] == f.End[:n] {
		return f, err
	}
	// Records may be of other times: an appeal of two years, beside one of the first of them.
	f.rows = f.rows.Copy().Keep(contract.StartParam, a.until)
	whole := &question{list: a.list, until: a.until}
	part, err := s.narrowed(&answer{question: whole, figure: a.figure, at: place{a.at.country, none, none}}, f)
	if err == nil && part.Value != nil && *part.Value == *f.Value {
		return f, nil
	}
	return part, err
}

// viewOf is the page of a figure of some rows of a list.
func (s *search) viewOf(figure string, e *contract.Endpoint, rows *contract.Question) string {
	return s.page("/browse/") + e.Name() + "?" + contract.QueryOf(append(rows.Pairs(), "figure", figure)...)
}

// narrowed is the figure of the answer's filters: the sum that the figure is, over fewer rows. It
// has no number where the checks of sums refuse it, or where only some of the units have rows.
func (s *search) narrowed(a *answer, base *Figure) (*Figure, error) {
	f := *base
	if f.Request, f.rows = "", nil; base.rows == nil || a.at.country != none && !s.elsewhere(a).IsZero() {
		return &f, nil // without records
	}
	f.Value, f.reason, f.View, f.Reading, f.Not = nil, say.Text{}, "", "", "" // which are of the whole
	f.Start, f.End = "", ""
	q := base.rows.Copy().In(s.mount.Names)
	s.narrow(q, a)
	if a.until != "" && a.figure.Newest == contract.NewestMonths {
		q.Keep(contract.StartParam, a.until).Keep(contract.EndParam, a.until)
	}
	for _, field := range []string{"sector_code", "category"} { // filters that match a part of a code
		if q.Has(field) {
			q.GroupBy(field)
		}
	}
	if why, err := s.keepPeople(q, a); err != nil || !why.IsZero() {
		f.reason = why
		return &f, err
	}
	values := append(q.MeasureNames()[:1], a.figure.Measures[1:]...) // one in each request
	if !isOwnMeasure(f.Name, a.measure) {
		values = []string{"latest:" + s.mount.Names.Name(a.measure)}
		f.Unit = cmp.Or(q.Endpoint().Texts().Unit(a.measure), contract.LabelOf(a.measure))
	}
	q.Measure(append(values, "min:"+contract.PeriodStart, "max:"+contract.PeriodEnd)...)
	isByName := a.at.unit != none && s.entries[a.at.unit].lists&(1<<a.list) == 0
	if isByName && q.Endpoint().HasField("admin_level") {
		q.Measure(append(q.MeasureNames(), "max:admin_level")...)
	}
	isProvince := false
	f.View = s.viewOf(f.Name, q.Endpoint(), q)
	if isPartOfOther(s.Index, a) {
		f.reason = say.Of("the list has the unit by its name only, which others have as a part")
		return &f, nil
	}
	f.reason, f.rows = say.Of("no record is of all that"), q
	f.Request = s.mount.Prefix + q.Plan().Paths()[0] + "?" + q.Text()
	err := s.read(q, func(rows list.Records) error {
		for _, r := range list.TextsOf(rows) {
			n, known := r.Text(sumField(q))
			if len(values) > 1 {
				n = figures.PercentOf(n, r.Value(strings.Replace(values[1], ":", "_", 1)))
				known = n != ""
			}
			if !known || !isExactly(q, a, r) || r.Value("min_"+contract.PeriodStart) == "" {
				continue
			}
			if strings.HasPrefix(values[0], "sum:") && len(values) == 1 { // of money, as in the whole figure
				n = strings.TrimSuffix(n, ".0")
			}
			f.Value, f.reason = new(json.Number(n)), say.Text{}
			isProvince = isByName && r.Value("max_admin_level") == "1" && s.entries[a.at.unit].kind == Province
			f.Start, f.End = r.Value("min_"+contract.PeriodStart), r.Value("max_"+contract.PeriodEnd)
		}
		c := rows.Notes().Coverage
		if a.at.unit != none && c.IsPart() {
			c.All = partsOf(s.Index, a, c)
		}
		if f.Value != nil && c.IsPart() && a.isNarrow() && !isProvince {
			f.Value, f.reason = nil, say.Of("only %s of %s units have such records", c.Have, c.All)
		}
		if c := rows.Notes().Countries; f.Value != nil && c.IsPart() {
			f.Value, f.reason = nil, say.Of("only %s of %s countries have such records", c.Have, c.All)
		}
		return nil
	})
	if invalid, refused := errors.AsType[*contract.Invalid](err); refused {
		f.reason, err = invalid.Issues[0].Text, nil
	} else if f.Start == "" { // of no record
		f.Value, f.View = nil, ""
	}
	f.Provider, f.Dataset = "", "" // of all rows of the figure
	return &f, err
}

// partsOf is how many units the unit that was asked for is made of, of the level that the list has
// of its country: itself, or its districts.
func partsOf(x *Index, a *answer, c say.Coverage) int {
	n := map[Kind]int{}
	for i := range x.entries {
		e := &x.entries[i]
		if e.kind == Province && e.country == a.at.country || e.kind == District && e.parent == a.at.unit {
			n[e.kind]++
		}
	}
	if c.All <= n[Province] {
		return 1
	}
	return max(n[District], 1)
}

// isExactly reports whether a group has the values of the filters that match parts of codes.
func isExactly(q *contract.Question, a *answer, r textual.Record) bool {
	for _, field := range []string{"sector_code", "category"} {
		for _, want := range q.Texts(field) {
			if r.Has(field) && !strings.EqualFold(r.Value(field), q.Plan().Param(field).Literal(want)) {
				return false
			}
		}
	}
	return true
}

// isPartOfOther reports whether a unit is asked for by its name, as the list does not have its
// code, and other units of the country have that name as a part.
func isPartOfOther(x *Index, a *answer) bool {
	if a.at.unit == none || x.entries[a.at.unit].lists&(1<<a.list) != 0 {
		return false
	}
	u := &x.entries[a.at.unit]
	return slices.ContainsFunc(x.entries, func(e entry) bool {
		return e.kind == u.kind && e.country == u.country && e.code != u.code && strings.Contains(e.folded, u.folded)
	})
}

// sumField is the field with the measure of a figure's question.
func sumField(q *contract.Question) string { return strings.Replace(q.MeasureNames()[0], ":", "_", 1) }

// notApart says which ranges of ages there are, by their least ages, where none are a group's.
func (of group) notApart(ranges map[int]string) say.Text {
	var names []string
	for _, low := range slices.Sorted(maps.Keys(ranges)) {
		names = append(names, ranges[low])
	}
	ages := strconv.Itoa(of.least) + "+"
	if of.less > 0 {
		ages = fmt.Sprintf("%d-%d", of.least, of.less-1)
	}
	return say.Of("people aged %s cannot be counted alone: the ranges of ages here are %s", ages, say.And(names))
}

// keepPeople keeps the rows of a sex or an age. It says why there are none: a range of ages can
// have some of the people that were asked for, and others.
func (s *search) keepPeople(q *contract.Question, a *answer) (why say.Text, err error) {
	of := a.who
	if of == (group{}) {
		return why, nil
	}
	if e := q.Endpoint(); e.HasField("category") {
		if of.category == "" {
			return say.Of("the list does not count them"), nil
		}
		q.Drop(contract.EverybodyParam).Keep("category", of.category).GroupBy("category")
		return why, nil
	}
	var total *big.Rat
	ages := q.Copy().Drop("gender", "age_range").GroupBy("gender", "age_range", "min_age", "max_age")
	ranges, genders := map[int]string{}, map[string]bool{}
	end, open := map[int]int{}, 1<<30
	counted, all := new(big.Rat), new(big.Rat) // by sex and age, or by sex
	err = s.read(ages, func(rows list.Records) error {
		for _, r := range list.TextsOf(rows) {
			low, errLow := strconv.Atoi(r.Value("min_age"))
			high, errHigh := strconv.Atoi(r.Value("max_age"))
			n, isNumber := new(big.Rat).SetString(r.Value(sumField(q)))
			switch isSex := r.Value("gender") != "all"; {
			case !isNumber:
			case !isSex && r.Value("age_range") == "all":
				total = n
			case isSex && errLow != nil:
				all.Add(all, n)
			case isSex:
				counted.Add(counted, n)
			}
			if errLow != nil {
				continue // all ages
			}
			if errHigh != nil {
				high = open
			}
			ranges[low], end[low], genders[r.Value("gender")] = r.Value("age_range"), high, true
		}
		return nil
	})
	if err != nil {
		return why, err
	}
	isOfAges := of.least > 0 || of.less > 0
	isOfAll := slices.Contains(slices.Collect(maps.Values(end)), open) // not of some ages: 0-4 and 5-19
	if !isOfAges || !isOfAll {
		counted = all
	}
	if total == nil || counted.Cmp(total) != 0 {
		return say.Of("only %s of its people are counted by sex and age", counted.RatString()), nil
	}
	if of.gender != "" {
		q.Keep("gender", of.gender)
	}
	if !isOfAges {
		return why, nil
	}
	last := cmp.Or(of.less, open+1) - 1
	var chosen []string
	next := of.least
	for next <= last && ranges[next] != "" {
		chosen, next = append(chosen, ranges[next]), end[next]+1
	}
	if next != last+1 {
		return of.notApart(ranges), nil
	}
	q.KeepAll("age_range", chosen)
	if of.gender == "" && !genders["all"] {
		q.KeepAll("gender", []string{"f", "m"})
	}
	return why, nil
}
