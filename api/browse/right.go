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
	asked            *contract.Question // which records
	fields, measures []string

	rows    []figureRow
	place   string       // the field with the countries
	kept    []string     // the countries in it, nil for all
	left    []string     // countries that are left out
	refused []say.Text   // why there is none
	units   say.Coverage // of the sum

	changing []string // months whose figures can still change
	several  int      // groups without the figure, since their records have several
}

// figureRow is one group: its fields, and its figures as the interface writes them, empty for null.
type figureRow struct{ fields, figures []string }

// read asks for all records, and where that is refused, for those of the countries that are right
// by themselves. What is wrong over countries, such as figures of several years, stays refused.
func (s *rightSum) read() error {
	all := s.q.Plan.Endpoint.Fields
	s.place = all[slices.IndexFunc(all, func(f contract.Field) bool { return isCountry(f.Name) })].Name
	if i := slices.IndexFunc(s.fields, isCountry); i >= 0 {
		s.place = s.fields[i]
	}
	right, err := s.ask(s.asked)
	if err != nil || right == nil {
		return err
	}
	groups, _, err := s.q.groups(s.asked, []string{s.place}, "count")
	if err != nil {
		return err
	}
	s.kept = right.Texts(s.place + contract.SeveralSuffix)
	for _, r := range groups {
		if code, ok := r.Text(s.place); ok && !slices.Contains(s.kept, code) {
			s.left = append(s.left, code)
		}
	}
	s.asked = right.As(contract.Rows)
	_, err = s.ask(s.asked)
	slices.SortFunc(s.rows, func(a, b figureRow) int { return slices.Compare(a.fields, b.fields) })
	return err
}

// ask reads the groups of some records. Where that is refused, it returns the question about those
// countries that are right by themselves, nil without any.
func (s *rightSum) ask(asked *contract.Question) (right *contract.Question, err error) {
	measures, most := slices.Clone(s.measures), ""
	if field, isLatest := strings.CutPrefix(s.measures[0], "latest:"); isLatest {
		measures, most = append(measures, "max:"+field), "max_"+field
	}
	groups := asked.As(contract.Aggregate).GroupBy(s.fields...).Measure(measures...).Page(0, contract.MaxLimit)
	if strings.HasPrefix(s.measures[0], "sum:") {
		groups.Apart = s.place
	}
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
	if s.refused = messages(issues); len(issues) > 0 {
		if of := issues[0].Instead; of != nil && of.Apart != "" {
			right = of
		}
		return right, nil
	}
	s.units = coverageOf(asked, answer)
	names := slices.Clone(s.measures)
	for i := range names {
		names[i] = strings.ReplaceAll(names[i], ":", "_")
	}
	s.changing = slices.Sorted(slices.Values(answer.Notes.Provisional))
	for _, r := range answer.Records {
		row := figureRow{fieldsOf(r, s.fields...), fieldsOf(r, names...)}
		if s.rows = append(s.rows, row); row.figures[0] == "" && r.Value(most) != "" {
			s.several++
		}
	}
	return nil, nil
}
