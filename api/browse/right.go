package browse

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
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
}

// figureRow is one group: its fields, and its figures as the interface writes them, empty for null.
type figureRow struct{ fields, figures []string }

// read asks for all records, and where that is refused, for those of the countries that are right
// by themselves. What is wrong over countries, such as figures of several years, stays refused.
func (s *rightSum) read() error {
	refused, err := s.ask(nil, contract.MaxLimit)
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
	if len(codes) == 0 {
		return nil
	}
	s.kept, s.isLong = placesQuery(place, codes), len(codes) > contract.MaxValues
	s.refused, err = s.ask(s.kept, contract.MaxLimit)
	slices.SortFunc(s.rows, func(a, b figureRow) int { return slices.Compare(a.fields, b.fields) })
	return err
}

// placesQuery asks for some countries in place of those of the address.
func placesQuery(place string, codes []string) url.Values {
	return url.Values{place: nil, place + contract.SeveralSuffix: {joinList(codes, ",")}}
}

// halve are the countries that are to be left out. It asks for countries together, unless it seems
// that they are refused. Where they are, it asks for each half: if the first is right, it seems
// that the second is refused.
func (s *rightSum) halve(place string, codes []string, isRefused bool) (left []string, err error) {
	if !isRefused || len(codes) == 1 {
		refused, err := s.ask(placesQuery(place, codes), 0)
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
	more, err := s.halve(place, codes[half:], len(left) == 0)
	return append(slices.Clip(left), more...), err
}

func (s *rightSum) measure() string { return strings.Join(s.measures, ",") }

// ask adds the groups of some records, at most limit, to those there are. It returns why that is
// refused.
func (s *rightSum) ask(more url.Values, limit int) (refused []say.Text, err error) {
	of := state{values: maps.Clone(s.values)}
	maps.Copy(of.values, more)
	query := groupsQuery(of, s.fields, s.measure())
	query.Set("limit", strconv.Itoa(limit))
	answer, err := s.v.q.Source.Ask(s.v.q.Plan.Endpoint, contract.Aggregate, query)
	issues, wrong := Problems(err)
	if err != nil && !wrong {
		return nil, err
	}
	if answer == nil {
		answer = new(Answer)
	}
	if answer.Total > contract.MaxLimit {
		issues = append(issues, tooManyGroups(answer.Total))
	}
	for _, issue := range issues {
		refused = append(refused, issue.Message())
	}
	if len(refused) > 0 {
		return refused, nil
	}
	s.units = answer.Notes.Coverage
	names := slices.Clone(s.measures)
	for i := range names {
		names[i] = strings.ReplaceAll(names[i], ":", "_")
	}
	s.changing = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.changing, answer.Notes.Provisional))))
	for _, r := range answer.Records {
		s.rows = append(s.rows, figureRow{fieldsOf(r, s.fields...), fieldsOf(r, names...)})
	}
	return nil, nil
}
