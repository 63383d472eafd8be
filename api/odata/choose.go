package odata

import (
	"cmp"
	"slices"
	"strconv"

	"hdqs/api/state"
	"hdqs/index"
)

// The index finds rows by conditions on one property each, and in the order of the table. For what
// else a request asks, the rows that are left are looked at one by one: there may be mostChosen.

// mostChosen is the most rows that a $filter may leave where it joins properties by or, or where
// rows are sorted otherwise than the table. A page has as many.
const mostChosen = 10_000

// mostLooked is the most comparisons that are made row by row, which take 0.1 to 0.3 seconds.
const mostLooked = 2_000_000

// mostAsked is the most questions to the index that a $filter is divided into.
const mostAsked = 64

// by is a property to sort by.
type by struct {
	property int
	down     bool
}

// choice chooses the rows of a request that the index alone does not find.
type choice struct {
	of     *set
	joined []*node // conditions about several properties, of which a row must meet all
	order  []by    // nil for the order of the table
	list   *state.BoundList
	asked  int
}

// page fills a page, of the rows that pass a query.
func (c *choice) page(l *state.BoundList, q *index.Query, to *index.Page) error {
	c.list = l
	rows, err := c.rows(q.Filters, c.joined)
	if err != nil {
		return err
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	if len(rows) > mostChosen {
		return c.tooMany(strconv.Itoa(len(rows)))
	}
	c.of.sort(rows, c.order, c.reader())
	to.Total = len(rows)
	rows = rows[min(q.Offset, uint64(len(rows))):]
	rows = rows[:min(len(rows), q.Limit)]
	to.Rows = len(rows)
	for _, row := range rows {
		if n := len(to.Ranges); n > 0 && to.Ranges[n-1].To == row {
			to.Ranges[n-1].To++
		} else {
			to.Ranges = append(to.Ranges, index.Range{From: row, To: row + 1})
		}
	}
	return nil
}

// tooMany is the error of a $filter that leaves more rows than can be chosen from.
func (c *choice) tooMany(left string) error {
	what := "$orderby other than by what the table is sorted by"
	if len(c.joined) > 0 {
		what = "or between properties"
	}
	help := ""
	for _, name := range []string{"location_code", "origin_location_code", "code", "resource_hdx_id"} {
		if c.of.indexOf(name) >= 0 {
			help = ", such as " + name + " eq 'VALUE'"
			break
		}
	}
	return notImplemented("%s works for at most %d rows, and the $filter leaves %s; add a condition with and%s, "+
		"or leave it out and do it in the client", what, mostChosen, left, help)
}

// rows are the rows that pass filters of the index and meet joined conditions, in no order and
// maybe twice. Where the filters leave many rows, an or becomes a question for each of its parts.
func (c *choice) rows(filters []index.Filter, joined []*node) (rows []uint32, err error) {
	if c.asked++; c.asked > mostAsked {
		return nil, notImplemented("$filter: it has too many combinations of or; write fewer, or ask once for each")
	}
	var found index.Page
	q := index.Query{Filters: filters}
	if err := c.list.Index.Select(&q, &found); err != nil {
		return nil, err
	}
	comparisons := 0
	for _, n := range joined {
		n.walk(func(of *node) { comparisons += max(1, len(of.literals)) })
	}
	at := slices.IndexFunc(joined, func(n *node) bool { return n.parts() != nil })
	switch {
	case len(joined) == 0 && found.Total > mostChosen, comparisons*found.Total > mostLooked && at < 0:
		left := strconv.Itoa(found.Total)
		if c.asked > 1 {
			left = "at least " + left
		}
		return nil, c.tooMany(left)
	case comparisons*found.Total <= mostLooked:
		q.Limit = found.Total
		if err := c.list.Index.Select(&q, &found); err != nil {
			return nil, err
		}
		return c.meeting(&found, joined), nil
	}
	others := slices.Delete(slices.Clone(joined), at, at+1)
	for _, part := range joined[at].parts() {
		more, rest := c.of.divide(part)
		chosen, err := c.rows(slices.Concat(filters, more), slices.Concat(rest, others))
		if rows = append(rows, chosen...); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// parts are conditions of which a row must meet one, if that is what a node says: a or b, or
// not (a and b).
func (n *node) parts() []*node {
	switch {
	case n.op == or:
		return n.kids
	case n.op == not && n.kids[0].op == and:
		parts := make([]*node, len(n.kids[0].kids))
		for i, kid := range n.kids[0].kids {
			parts[i] = &node{op: not, kids: []*node{kid}, text: "not (" + kid.text + ")"}
		}
		return parts
	}
	return nil
}

// meeting are the rows of a page that meet conditions.
func (c *choice) meeting(page *index.Page, joined []*node) (rows []uint32) {
	read := c.reader()
	for _, of := range page.Ranges {
		for row := of.From; row < of.To; row++ {
			if !slices.ContainsFunc(joined, func(n *node) bool { return n.ofRow(read, row) != yes }) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// ofRow asks a node of a row.
func (n *node) ofRow(read reader, row uint32) verdict {
	if len(n.kids) > 0 {
		return n.join(func(kid int) verdict { return n.kids[kid].ofRow(read, row) })
	}
	if n.op == constant {
		return n.eval(nil)
	}
	v := read(n.property, row)
	return n.eval(&v)
}

// sort sorts rows, which are in the order of the table and stay so where they are equal. Null comes
// before all values.
func (s *set) sort(rows []uint32, order []by, read reader) {
	for _, of := range slices.Backward(order) {
		if s.Properties[of.property].isKey() { // keys sort as rows do
			if slices.Sort(rows); of.down {
				slices.Reverse(rows)
			}
			continue
		}
		values := make(map[uint32]value, len(rows))
		for _, row := range rows {
			values[row] = read(of.property, row)
		}
		slices.SortStableFunc(rows, func(a, b uint32) int {
			x, y := values[a], values[b]
			sign := cmp.Compare(min(x.kind, text), min(y.kind, text))
			if x.kind != null && y.kind != null {
				sign = x.compare(&y)
			}
			if of.down {
				return -sign
			}
			return sign
		})
	}
}

// reader reads values of a property of rows.
type reader func(property int, row uint32) value

// reader is the reader of the list.
func (c *choice) reader() reader {
	read := make([]func(row uint32) value, len(c.of.Properties))
	for i := range c.of.Properties {
		p := &c.of.Properties[i]
		column, err := c.list.Segment.Column(p.column)
		if err != nil {
			continue // the key; others are bound
		}
		read[i] = func(row uint32) value {
			at := column.Position(row)
			switch {
			case column.IsNull(at):
				return value{}
			case p.kind == text:
				return value{kind: text, text: column.Text(at)}
			case p.kind == float:
				return value{kind: float, float: column.Float(column.Dec(at))}
			case p.kind == day:
				return value{kind: day, int: dayOf(column.Int(at))}
			}
			return value{kind: p.kind, int: column.Int(at)}
		}
	}
	return func(property int, row uint32) value { return read[property](row) }
}
