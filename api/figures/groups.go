package figures

import (
	"errors"
	"slices"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/index"
)

// sum is a request that is checked, and what was found in its groups.
type sum struct {
	*contract.Question
	measure string            // that adds, or averages
	groups  []aggregate.Group // of the request
	several map[string]parts  // with several values in a group, by column
	periods parts             // with several periods in a group
}

// groups are the groups of a question of the check: the column by which rows are judged apart, if
// there is one, then by.
func (c *checker) groups(by []aggregate.Group) []aggregate.Group {
	if c.apart == "" {
		return by
	}
	return append([]aggregate.Group{{Column: c.apart}}, by...)
}

// partOf is the part of a row of a result that is grouped by groups.
func (c *checker) partOf(rows *aggregate.Result, group int) string {
	if c.apart == "" {
		return ""
	}
	return textOfValue(rows.Group(group, 0))
}

// isWrong reports whether something is wrong that is to be said. Where rows are judged apart, it
// notes which are wrong.
func (c *checker) isWrong(found parts) bool {
	if c.apart != "" {
		c.odd.add(found)
		return false
	}
	return len(found) > 0
}

// several finds, for each column, the parts with a group whose rows have several values of it.
func (c *checker) several(
	r *contract.Question, by []aggregate.Group, columns ...string,
) (found map[string]parts, err error) {
	found = map[string]parts{}
	question := &aggregate.Question{Query: c.query(r), Groups: c.groups(by), Pause: c.pause}
	for _, column := range columns {
		question.Measures = append(question.Measures, aggregate.Measure{Func: aggregate.Distinct, Column: column})
		found[column] = parts{}
	}
	if len(columns) == 0 {
		return found, nil
	}
	rows, err := c.adder.Table.Answer(question)
	if _, many := errors.AsType[*contract.Invalid](tooMany(err)); many {
		for _, column := range columns {
			found[column][""] = true
		}
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	for group := range rows.Len() {
		for i, column := range columns {
			if rows.Measure(group, i).Int > 1 {
				found[column][c.partOf(rows, group)] = true
			}
		}
	}
	return found, nil
}

// judgeGroups finds the parts with a group of which the values of a field are wrong, as judge says.
func (c *checker) judgeGroups(
	r *contract.Question, by []aggregate.Group, field string, judge func(values []string) bool,
) (found parts, err error) {
	groups := c.groups(by)
	rows, err := c.adder.Table.Answer(&aggregate.Question{
		Query: c.query(r), Pause: c.pause, MaxGroups: maxGroups,
		Groups:   append(slices.Clip(groups), aggregate.Group{Column: field}),
		Measures: []aggregate.Measure{{Func: aggregate.Count}},
	})
	if _, many := errors.AsType[*aggregate.TooManyGroups](err); many {
		return parts{"": true}, nil
	}
	if err != nil {
		return nil, err
	}
	found = parts{}
	var values []string
	for i := range rows.Len() {
		values = append(values, textOfValue(rows.Group(i, len(groups))))
		if i+1 < rows.Len() && startAlike(rows, i, len(groups)) {
			continue
		}
		if judge(values) {
			found[c.partOf(rows, i)] = true
		}
		values = nil
	}
	return found, nil
}

// search finds pairs of rows in one group of a request by find. It returns one of them, and the
// parts that have one; many says that there are too many rows to look at.
func (c *checker) search(
	s *sum, by []aggregate.Group, anyPeriod bool,
	find func(*index.Query, *index.Search, func(index.Overlap) bool) error,
) (found *index.Overlap, where parts, many bool, err error) {
	groupOf, err := c.adder.Table.GroupOf(c.groups(by))
	if err != nil {
		return nil, nil, false, err
	}
	search, where := &index.Search{GroupOf: groupOf, AnyPeriod: anyPeriod, Most: maxOverlaps}, parts{}
	if c.apart != "" {
		search.Most = int(c.list.Rows)
	}
	err = find(c.query(s.Question), search, func(of index.Overlap) bool {
		found = &of
		where[c.partOfRow(of.B)] = true
		return c.apart != ""
	})
	if many = errors.Is(err, index.ErrManyOverlaps); many {
		where[""], err = true, nil
	}
	return found, where, many, err
}

// maxGroups is the most groups of what is asked about groups of a request.
const maxGroups = 500_000

// maxOverlaps is the most passing rows that overlap others which a check looks at.
const maxOverlaps = 1 << 18

// partOfRow is the part of a row.
func (c *checker) partOfRow(row uint32) string {
	if c.apart == "" {
		return ""
	}
	column, err := c.list.Segment.Column(c.apart)
	if err != nil {
		return ""
	}
	return column.Text(column.Position(row))
}

// startAlike reports whether a row and the next one have the same first fields.
func startAlike(rows *aggregate.Result, row, fields int) bool {
	for k := range fields {
		if rows.Group(row, k) != rows.Group(row+1, k) {
			return false
		}
	}
	return true
}

// groupKey is the first fields of a group as one key.
func groupKey(rows *aggregate.Result, group, fields int) string {
	var key []byte
	for k := range fields {
		key = appendKey(key, rows.Group(group, k))
	}
	return string(key)
}

func appendKey(key []byte, v aggregate.Value) []byte {
	return append(v.Append(append(key, byte(v.Kind))), 0)
}

// questionOf asks for what a request asks for, but for coverage.
func questionOf(r *contract.Question, e *contract.Endpoint, q *index.Query) *aggregate.Question {
	question := &aggregate.Question{Query: q}
	for _, g := range r.Groups {
		group := aggregate.Group{Column: e.Fields[g.Field].Column(), Part: g.Part, Classes: r.Classes(g)}
		question.Groups = append(question.Groups, group)
	}
	for _, m := range r.Measures {
		if m.Func == contract.Coverage {
			continue
		}
		measure := aggregate.Measure{Func: m.Func}
		if m.Func != aggregate.Count {
			measure.Column = e.Fields[m.Field].Column()
		}
		question.Measures = append(question.Measures, measure)
	}
	return question
}

// tooMany turns the limits on groups and values into errors of the request.
func tooMany(err error) error {
	var param string
	var text say.Text
	if e, ok := errors.AsType[*aggregate.TooManyGroups](err); ok {
		param = "group_by"
		text = say.Of("There are more than %s groups; group by fewer fields, or filter", e.Max)
	} else if e, ok := errors.AsType[*aggregate.TooManyValues](err); ok {
		param = "measures"
		text = say.Of("distinct of %s has more than %s values in all groups; group by fewer fields, or filter",
			e.Column, e.Max)
	} else {
		return err
	}
	return &contract.Invalid{Issues: []contract.Issue{{Type: "too_much", Param: param, Text: text, NullInput: true}}}
}
