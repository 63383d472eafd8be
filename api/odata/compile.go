package odata

import (
	"math"
	"slices"

	"hdqs/index"
)

// conditions are the parts of a $filter that a record must meet all. not (a or b) is not a and not
// b.
func conditions(n *node) []*node {
	switch {
	case n == nil:
		return nil
	case n.op == and:
		var all []*node
		for _, kid := range n.kids {
			all = append(all, conditions(kid)...)
		}
		return all
	case n.op == not && n.kids[0].op == or:
		var all []*node
		for _, kid := range n.kids[0].kids {
			all = append(all, conditions(&node{op: not, kids: []*node{kid}, text: "not (" + kid.text + ")"})...)
		}
		return all
	case n.op == not && n.kids[0].op == not && n.kids[0].kids[0].op == and:
		return conditions(n.kids[0].kids[0])
	}
	return []*node{n}
}

// walk calls do with the comparisons of a node.
func (n *node) walk(do func(*node)) {
	for _, kid := range n.kids {
		kid.walk(do)
	}
	if len(n.kids) == 0 {
		do(n)
	}
}

// compile makes filters of the index of a $filter: each of its parts restricts one property.
func (s *set) compile(n *node) (filters []index.Filter, err error) {
	for _, part := range conditions(n) {
		switch of, other := part.about(); {
		case other >= 0:
			return nil, notImplemented("$filter: or and not can be about one property only, and this one is about %s "+
				"and %s; ask once for each, or filter by one of them", s.Properties[of].Name, s.Properties[other].Name)
		case of >= 0:
			filters = append(filters, s.filtersOf(part, of)...)
		case part.eval(nil) != yes:
			nothing := func(string) bool { return false }
			at := slices.IndexFunc(s.Properties, func(p property) bool { return p.kind == text })
			filters = append(filters, index.Filter{
				Columns: []string{s.Properties[at].column}, Op: index.Tested,
				Test: &index.Test{Key: "nothing", Text: nothing},
			})
		}
	}
	return filters, nil
}

// filtersOf is a condition on one property: a list of texts, which clients send long ones of and
// the index looks up, or else a test that is asked of each distinct value.
func (s *set) filtersOf(n *node, at int) []index.Filter {
	p := &s.Properties[at]
	columns := []string{p.column}
	if p.kind == text {
		if values := equals(n, nil); values != nil {
			return []index.Filter{{Op: index.Equal, Columns: columns, Values: values}}
		}
	}
	holds := func(v value) bool { return n.eval(&v) == yes }
	t := &index.Test{Key: kindNames[p.kind] + ": " + n.text, Null: holds(value{})}
	switch p.kind {
	case text:
		t.Text = func(x string) bool { return holds(value{kind: text, text: x}) }
	case float:
		t.Float = func(x float64) bool { return holds(value{kind: float, float: x}) }
	case day:
		t.Int = func(x int64) bool { return holds(value{kind: day, int: dayOf(x)}) }
	default:
		t.Int = func(x int64) bool { return holds(value{kind: p.kind, int: x}) }
	}
	n.walk(func(c *node) {
		for i := range c.literals {
			l := &c.literals[i]
			t.Floats = append(t.Floats, l.asFloat())
			switch {
			case l.kind != float:
				t.Ints = append(t.Ints, l.int)
			case math.Abs(l.float) < 1<<62:
				t.Ints = append(t.Ints, int64(math.Floor(l.float)))
			}
		}
	})
	return []index.Filter{{Op: index.Tested, Columns: columns, Test: t}}
}

// equals appends the texts of which a property must have one; nil if that is not what the node
// says.
func equals(n *node, values []index.Value) []index.Value {
	switch {
	case n.op == or:
		for _, kid := range n.kids {
			if values = equals(kid, values); values == nil {
				return nil
			}
		}
		return values
	case n.op != eq && n.op != in || n.function != itself || len(n.kids) > 0:
		return nil
	}
	for i := range n.literals {
		if n.literals[i].kind == null {
			return nil
		}
		values = append(values, index.Value{Text: n.literals[i].text})
	}
	return values
}
