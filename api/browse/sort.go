package browse

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/textual"
)

// maxSorted is the most records that a page sorts: what one answer of the interface can have.
const maxSorted = contract.MaxLimit

// sort puts the records of an answer in the order of a column, if the address has one, and adds the
// links of the columns. at are the positions of the records among all that pass, in the order of
// the interface; it is nil where that is the page's order too.
func (p *Page) sort(q *Question, s state, answer *Answer) (at []int, err error) {
	name, down := strings.CutPrefix(s.values.Get(sortParam), "-")
	if answer.Total > maxSorted {
		if name != "" {
			const text = "More than %s records are not sorted. Choose fewer with the filters."
			p.Records.Unsorted = p.Language.T(text, Count(maxSorted))
		}
		return nil, nil
	}
	by := -1
	for i := range p.Records.Columns {
		c := &p.Records.Columns[i]
		// Numbers are mostly looked at from the greatest on.
		to := map[bool]string{true: "-" + c.Name, false: c.Name}[c.Number]
		if c.Name == name {
			by, c.Order = i, map[bool]string{true: "descending", false: "ascending"}[down]
			to = map[bool]string{true: c.Name, false: "-" + c.Name}[down]
		}
		c.Sort = s.with(sortParam, to)
	}
	if by < 0 || len(answer.Records) == 0 {
		return nil, nil
	}
	all, err := q.Source.Ask(s.asked.As(contract.Rows).Select(name))
	if err != nil {
		return nil, err
	}
	at = sorted(all.Records, name, isNumber(p.Records.Columns[by].field), down)
	from := min(s.offset(), len(at))
	at = at[from:min(from+len(answer.Records), len(at))]
	answer.Records, err = recordsAt(q, s, at)
	return at, err
}

// sorted are the positions of records by the value of a field. Those without a value are last, and
// equal ones in the order that they have.
func sorted(records []textual.Record, field string, isNumber, down bool) []int {
	type key struct {
		text   string
		number float64
		known  bool
	}
	keys, at := make([]key, len(records)), make([]int, len(records))
	for i, r := range records {
		k := &keys[i]
		at[i] = i
		if k.text, k.known = r.Text(field); k.known && isNumber {
			k.number, _ = strconv.ParseFloat(k.text, 64)
			k.text = ""
		}
	}
	slices.SortStableFunc(at, func(i, j int) int {
		a, b := &keys[i], &keys[j]
		first := knownFirst(a.known, b.known)
		if down {
			a, b = b, a
		}
		return cmp.Or(first, cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
	})
	return at
}

// recordsAt asks for the records at some positions: once for those next to each other.
func recordsAt(q *Question, s state, at []int) (records []textual.Record, err error) {
	for from := 0; from < len(at); {
		to := from + 1
		for to < len(at) && at[to] == at[to-1]+1 {
			to++
		}
		answer, err := q.Source.Ask(s.asked.Copy().Page(at[from], to-from))
		if err != nil {
			return nil, err
		}
		records = append(records, answer.Records...)
		from = to
	}
	return records, nil
}

// knownFirst orders what has a value before what has none.
func knownFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
