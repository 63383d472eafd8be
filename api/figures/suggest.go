package figures

import (
	"hdqs/api/contract"
)

// refuse returns the error for wrong sums: one issue for each, and in all of them the question
// to ask instead, in which nothing is wrong, unless it is a trial. The path is that of the request.
func (c *checker) refuse(q *contract.Question, path string, wrong []violation) error {
	all := &contract.Invalid{}
	var right *contract.Question
	if !q.Trial {
		var err error
		if right, err = c.remedy(q, wrong); err != nil {
			return err
		}
	}
	for _, w := range wrong {
		all.Issues = append(all.Issues, contract.WrongSum(w.param, w.text, path, right))
	}
	return all
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
