package odata

import (
	"math"
	"slices"

	"hdqs/api/contract"
	"hdqs/api/list"
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

// compile makes filters of the index of a $filter: each of its parts restricts one property, but
// for those that are joined. Groups of countries become filters of the question, since only the
// snapshot that answers has them.
func (s *set) compile(n *node, q *contract.Question) (filters []index.Filter, joined []*node, err error) {
	for _, part := range conditions(n) {
		switch {
		case part.op == grouped:
			if err := s.keepGroups(part, q); err != nil {
				return nil, nil, err
			}
			continue
		case part.has(grouped):
			return nil, nil, notImplemented(
				"$filter: groups of countries can be joined with other conditions by and only")
		}
		more, rest := s.divide(part)
		filters, joined = append(filters, more...), append(joined, rest...)
	}
	return filters, joined, nil
}

// divide divides a condition into filters of the index and conditions about several properties.
func (s *set) divide(n *node) (filters []index.Filter, joined []*node) {
	for _, part := range conditions(n) {
		switch of, other := part.about(); {
		case other >= 0:
			joined = append(joined, part)
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
	return filters, joined
}

// keepGroups keeps the rows of groups of countries.
func (s *set) keepGroups(n *node, q *contract.Question) error {
	at := slices.IndexFunc(s.groups, func(g grouping) bool { return g.property == n.property })
	name := s.groups[at].name
	if q.Has(name) || q.Has(name+contract.SeveralSuffix) {
		return notImplemented("$filter: %s can be asked for once; use %s in ('A','B') for one of several", name, name)
	}
	var slugs []string
	for i := range n.literals {
		slugs = append(slugs, n.literals[i].text)
	}
	q.KeepAll(name, slugs)
	return nil
}

// has reports whether a node has a comparison of a kind.
func (n *node) has(o op) (found bool) {
	n.walk(func(c *node) { found = found || c.op == o })
	return found
}

// resolve makes comparisons of codes of countries of those of their groups.
func (n *node) resolve(groups *contract.CountryGroups) (err error) {
	if n == nil {
		return nil
	}
	n.walk(func(c *node) {
		if c.op != grouped {
			return
		}
		var codes []value
		for i := range c.literals {
			of := groups.Group(c.literals[i].text)
			if of == nil {
				err = badRequest("$filter: there is no group of countries %s; %s lists those that there are",
					list.Quoted(c.literals[i].text), contract.GroupsPath)
				return
			}
			for _, code := range of.Members {
				codes = append(codes, value{kind: text, text: code})
			}
		}
		c.op, c.literals = in, codes
	})
	return err
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
