package browse

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/say"
)

// rightSum is an aggregate without the countries that make its sums wrong, so that one odd record
// does not blank a figure.
type rightSum struct {
	q                *Question
	isAll            bool               // the address has no filters
	asked            *contract.Question // which records
	fields, measures []string

	rows    []figureRow
	place   string       // the field with the countries
	kept    []string     // the countries in it, nil for all
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
	refused, err := s.ask(s.asked, contract.MaxLimit)
	if err != nil || len(refused) == 0 {
		return err
	}
	if s.refused = refused; !strings.HasPrefix(s.measures[0], "sum:") {
		return nil
	}
	all := s.q.Plan.Endpoint.Fields
	s.place = all[slices.IndexFunc(all, func(f contract.Field) bool { return isCountry(f.Name) })].Name
	if i := slices.IndexFunc(s.fields, isCountry); i >= 0 {
		s.place = s.fields[i]
	}
	groups, _, err := s.q.groups(s.asked, []string{s.place}, "count")
	if err != nil || len(groups) < 2 {
		return err
	}
	var codes []string
	for _, r := range groups {
		if code, ok := r.Text(s.place); ok {
			codes = append(codes, code)
		}
	}
	find := func() ([]string, error) { return s.halve(codes, len(codes) == len(groups)) }
	if !s.isAll {
		s.left, err = find()
	} else { // it takes longer than all else on the page of a list
		query := s.asked.As(contract.Aggregate).GroupBy(s.fields...).Measure(s.measures...).Text()
		s.left, err = s.q.Source.Keep(s.q.Plan.Endpoint.Path+"?"+query, find)
	}
	if err != nil {
		return err
	}
	codes = slices.DeleteFunc(codes, func(code string) bool { return slices.Contains(s.left, code) })
	if len(codes) == 0 {
		return nil
	}
	s.kept = codes
	s.asked = s.of(codes)
	s.refused, err = s.ask(s.asked, contract.MaxLimit)
	slices.SortFunc(s.rows, func(a, b figureRow) int { return slices.Compare(a.fields, b.fields) })
	return err
}

// of asks for some countries in place of those of the address.
func (s *rightSum) of(codes []string) *contract.Question {
	return s.asked.Copy().Drop(s.place).Keep(s.place+contract.SeveralSuffix, codes...)
}

// halve are the countries that are to be left out. It asks for countries together, unless it seems
// that they are refused. Where they are, it asks for each half: if the first is right, it seems
// that the second is refused.
func (s *rightSum) halve(codes []string, isRefused bool) (left []string, err error) {
	if !isRefused || len(codes) == 1 {
		refused, err := s.ask(s.of(codes), 0)
		if err != nil || len(refused) == 0 {
			return nil, err
		}
	}
	if len(codes) == 1 {
		return slices.Clone(codes), nil
	}
	half := len(codes) / 2
	left, err = s.halve(codes[:half], false)
	if err != nil {
		return nil, err
	}
	more, err := s.halve(codes[half:], len(left) == 0)
	return append(slices.Clip(left), more...), err
}

// ask adds the groups of some records, at most limit, to those there are. It returns why that is
// refused.
func (s *rightSum) ask(asked *contract.Question, limit int) (refused []say.Text, err error) {
	groups := asked.As(contract.Aggregate).GroupBy(s.fields...).Measure(s.measures...).Page(0, limit)
	groups.Trial = limit == 0
	answer, err := s.q.Source.Ask(groups)
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
	if len(issues) > 0 {
		return messages(issues), nil
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
