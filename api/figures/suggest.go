package figures

import (
	"slices"

	"hdqs/aggregate"
	"hdqs/api/contract"
)

// refuse returns the error for wrong sums: one issue for each, and in all of them the question to
// ask instead, in which nothing is wrong. The path is that of the request.
func (c *checker) refuse(q *contract.Question, path string, wrong []violation) (err error) {
	all := &contract.Invalid{}
	var right *contract.Question
	if q.Apart != "" {
		right, err = c.rightParts(q)
	}
	if err == nil && right == nil {
		right, err = c.remedy(q, wrong)
	}
	if err != nil {
		return err
	}
	for _, w := range wrong {
		all.Issues = append(all.Issues, contract.WrongSum(w.param, w.text, path, right))
	}
	return all
}

// rightParts is the question about those values of a field whose rows are right by themselves, nil
// if there are none or it is about all of them already.
func (c *checker) rightParts(q *contract.Question) (*contract.Question, error) {
	e := c.plan.Endpoint
	at := slices.IndexFunc(e.Fields, func(f contract.Field) bool { return f.Name == q.Apart })
	alone := *c
	alone.apart, alone.odd = e.Fields[at].Column(), parts{}
	counts, err := c.counts(q, aggregate.Group{Column: alone.apart})
	if err != nil {
		return nil, err
	}
	if _, err := alone.check(q); err != nil {
		return nil, err
	}
	right := slices.DeleteFunc(valuesOf(counts[0]), func(value string) bool {
		return value == "null" || alone.odd[value]
	})
	if len(right) == 0 || len(right) == counts[0].Len() {
		return nil, nil
	}
	return q.Copy().Drop(q.Apart).Keep(q.Apart+contract.SeveralSuffix, right...), nil
}

// maxFixes bounds the search for a remedy. One fix can show another trouble: after latest=true,
// say, the rows of two assessments are left. Grouping by every dimension ends the search.
const maxFixes = 8

// remedy is the question in which nothing is wrong. First it keeps single values where
// that leaves the same places; if no row passes then, it groups instead.
func (c *checker) remedy(q *contract.Question, wrong []violation) (*contract.Question, error) {
	right, rows, err := c.applyFixes(q, wrong)
	if err != nil || rows > 0 || c.group {
		return right, err
	}
	grouping := *c
	grouping.group = true
	if wrong, err = grouping.check(q); err != nil {
		return nil, err
	}
	right, _, err = grouping.applyFixes(q, wrong)
	return right, err
}

// applyFixes changes a question until nothing is wrong, and counts the rows that pass then.
func (c *checker) applyFixes(
	q *contract.Question, wrong []violation,
) (right *contract.Question, rows int, err error) {
	right = q.Copy().Page(0, q.Limit)
	right.Apart = ""
	for range maxFixes {
		for i := range wrong {
			wrong[i].fix(right)
		}
		if wrong, err = c.check(right); err != nil {
			return nil, 0, err
		}
		if len(wrong) == 0 {
			break
		}
	}
	rows, err = c.list.CountRows(right)
	return right, rows, err
}
