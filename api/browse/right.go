package browse

import (
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/say"
)

// rightSum is an aggregate without the countries that make its sums wrong, so that one odd record
// does not blank a figure.
type rightSum struct {
	v                *viewer
	values           url.Values // which records
	fields, measures []string

	rows    []figureRow
	kept    url.Values   // the filter for the countries in it, nil for all
	isLong  bool         // it has more countries than a request of others may name
	left    []string     // countries that are left out
	refused []say.Text   // why there is none
	units   say.Coverage // of the sum

	changing []string // months whose figures can still change
	at       map[string]int
}

// figureRow is one group: its fields, and its figures as the interface writes them, empty for null.
type figureRow struct{ fields, figures []string }

// read asks for all records, and where that is refused, for those of the countries that are right
// by themselves. What is wrong over countries, such as figures of several years, stays refused.
func (s *rightSum) read() error {
	refused, err := s.ask(nil)
	if err != nil || len(refused) == 0 {
		return err
	}
	if s.refused = refused; !strings.HasPrefix(s.measures[0], "sum:") {
		return nil
	}
	all := s.v.q.Plan.Endpoint.Fields
	place := all[slices.IndexFunc(all, func(f contract.Field) bool { return isCountry(f.Name) })].Name
	if i := slices.IndexFunc(s.fields, isCountry); i >= 0 {
		place = s.fields[i]
	}
	groups, _, err := askGroups(s.v.q, groupsQuery(state{values: s.values}, []string{place}, "count"))
	if err != nil || len(groups) < 2 {
		return err
	}
	var codes []string
	for _, r := range groups {
		if code, ok := r.Text(place); ok {
			codes = append(codes, code)
		}
	}
	find := func() ([]string, error) { return s.halve(place, codes, len(codes) == len(groups)) }
	if query := groupsQuery(state{values: s.values}, s.fields, s.measure()); len(s.v.given) > 0 {
		s.left, err = find()
	} else { // it takes longer than all else on the page of a list
		s.left, err = s.v.q.Source.Keep(s.v.q.Plan.Endpoint.Path+"?"+query.Encode(), find)
	}
	if err != nil {
		return err
	}
	codes = slices.DeleteFunc(codes, func(code string) bool { return slices.Contains(s.left, code) })
	if s.rows, s.at = nil, nil; len(codes) == 0 {
		return nil
	}
	s.kept, s.isLong = placesQuery(place, codes), len(codes) > contract.MaxValues
	s.refused, err = s.ask(s.kept)
	slices.SortFunc(s.rows, func(a, b figureRow) int { return slices.Compare(a.fields, b.fields) })
	return err
}

// placesQuery asks for some countries in place of those of the address.
func placesQuery(place string, codes []string) url.Values {
	return url.Values{place: nil, place + contract.SeveralSuffix: {joinList(codes, ",")}}
}

// halve are the countries that are to be left out. It asks for countries together, unless they are
// known to be refused. Where they are refused, it asks for each half of them.
func (s *rightSum) halve(place string, codes []string, isRefused bool) (left []string, err error) {
	if !isRefused {
		refused, err := s.ask(placesQuery(place, codes))
		if err != nil || len(refused) == 0 {
			return nil, err
		}
	}
	if len(codes) == 1 {
		return slices.Clone(codes), nil
	}
	half := len(codes) / 2
	left, err = s.halve(place, codes[:half], false)
	if err != nil {
		return nil, err
	}
	more, err := s.halve(place, codes[half:], false)
	return append(slices.Clip(left), more...), err
}

func (s *rightSum) measure() string { return strings.Join(s.measures, ",") }

// ask adds the groups of some records to those there are. It returns why that is refused.
func (s *rightSum) ask(more url.Values) (refused []say.Text, err error) {
	of := state{values: maps.Clone(s.values)}
	maps.Copy(of.values, more)
	query := groupsQuery(of, s.fields, s.measure())
	answer, err := s.v.q.Source.Ask(s.v.q.Plan.Endpoint, contract.Aggregate, query)
	issues, wrong := Problems(err)
	if err != nil && !wrong {
		return nil, err
	}
	if answer == nil {
		answer = new(Answer)
	}
	if answer.Total > len(answer.Records) {
		issues = append(issues, tooManyGroups(answer.Total))
	}
	for _, issue := range issues {
		refused = append(refused, issue.Message())
	}
	if len(refused) > 0 {
		return refused, nil
	}
	if s.units = answer.Notes.Coverage; s.at == nil {
		s.at = map[string]int{}
	}
	names := slices.Clone(s.measures)
	for i := range names {
		names[i] = strings.ReplaceAll(names[i], ":", "_")
	}
	s.changing = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.changing, answer.Notes.Provisional))))
	for _, r := range answer.Records {
		row := figureRow{fieldsOf(r, s.fields...), fieldsOf(r, names...)}
		key := strings.Join(row.fields, "\x00")
		if i, known := s.at[key]; known {
			s.rows[i].add(row.figures)
		} else {
			s.at[key], s.rows = len(s.rows), append(s.rows, row)
		}
	}
	return nil, nil
}

// add adds figures of the same group.
func (r *figureRow) add(figures []string) {
	for i, text := range figures {
		sum, some := new(big.Rat).SetString(r.figures[i])
		more, known := new(big.Rat).SetString(text)
		switch {
		case known && some:
			r.figures[i] = plainDigits(sum.Add(sum, more).FloatString(sumDigits))
		case known:
			r.figures[i] = text
		}
	}
}
