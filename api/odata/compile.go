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
			all = append(all, conditions(&node{op: not, kids: []*node{kid}})...)
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
		of := -1
		err = nil
		part.walk(func(c *node) {
			switch {
			case c.op == constant:
			case of < 0:
				of = c.property
			case of != c.property:
				err = notImplemented("$filter: or and not can be about one property only, and this one is about %s "+
					"and %s; ask once for each, or filter by one of them", s.properties[of].name,
					s.properties[c.property].name)
			}
		})
		switch {
		case err != nil:
			return nil, err
		case of >= 0:
			filters = append(filters, s.filtersOf(part, of)...)
		case part.eval(nil) != yes:
			nothing := func(string) bool { return false }
			at := slices.IndexFunc(s.properties, func(p property) bool { return p.kind == text })
			filters = append(filters, index.Filter{
				Columns: []string{s.properties[at].column}, Op: index.Tested,
				Test: &index.Test{Key: "nothing", Text: nothing},
			})
		}
	}
	return filters, nil
}

// filtersOf is a condition on one property: comparisons that the index has itself, or else a test
// that is asked of each distinct value.
func (s *set) filtersOf(n *node, at int) []index.Filter {
	p := &s.properties[at]
	columns := []string{p.column}
	if own := plain(n, p); own != nil {
		for i := range own {
			own[i].Columns = columns
		}
		return own
	}
	get := func(v value) func(int) value { return func(int) value { return v } }
	holds := func(v value) bool { return n.eval(get(v)) == yes }
	t := &index.Test{Key: string(n.append([]byte{byte(p.kind)}, s)), Null: holds(value{})}
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

// plain is a condition as comparisons of the index, without columns; nil if it needs a test.
func plain(n *node, p *property) []index.Filter {
	if n.function != itself || len(n.literals) == 0 && n.op != or {
		return nil
	}
	switch p.kind {
	case text:
		if values := equals(n, nil); values != nil {
			return []index.Filter{{Op: index.Equal, Values: values}}
		}
	case integer, instant:
		if l := n.first(); l.kind != null && l.kind != float && l.int > -1<<62 && l.int < 1<<62 {
			return between(n.op, l.int, l.int+1, index.Equal)
		}
	case day:
		if l := n.first(); l.kind != null && l.int == dayOf(l.int) {
			return between(n.op, l.int, l.int+microsPerDay, 0)
		}
	case float:
		if l := n.first(); l.kind != null && !math.IsInf(math.Nextafter(l.asFloat(), math.Inf(1)), 0) {
			return betweenFloats(n.op, l.asFloat())
		}
	}
	return nil
}

// first is the literal of a node with one, null for others.
func (n *node) first() value {
	if len(n.literals) == 1 {
		return n.literals[0]
	}
	return value{}
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
	case n.op != eq && n.op != in || n.function != itself:
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

// between is a comparison with what is from one number on and before the next. same is the
// operation for exactly that number; 0 if it is more than one.
func between(o op, from, next int64, same index.Op) []index.Filter {
	at := func(o index.Op, n int64) index.Filter { return index.Filter{Op: o, Value: index.Value{Int: n}} }
	switch {
	case o == eq && same != 0:
		return []index.Filter{at(same, from)}
	case o == eq:
		return []index.Filter{at(index.AtLeast, from), at(index.Below, next)}
	case o == ge:
		return []index.Filter{at(index.AtLeast, from)}
	case o == gt:
		return []index.Filter{at(index.AtLeast, next)}
	case o == lt:
		return []index.Filter{at(index.Below, from)}
	case o == le:
		return []index.Filter{at(index.Below, next)}
	}
	return nil
}

func betweenFloats(o op, f float64) []index.Filter {
	at := func(o index.Op, f float64) []index.Filter {
		return []index.Filter{{Op: o, Value: index.Value{Float: f}}}
	}
	switch next := math.Nextafter(f, math.Inf(1)); o {
	case eq:
		return at(index.Equal, f)
	case ge:
		return at(index.AtLeast, f)
	case gt:
		return at(index.AtLeast, next)
	case lt:
		return at(index.Below, f)
	case le:
		return at(index.Below, next)
	}
	return nil
}
