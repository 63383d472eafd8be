package odata

import (
	"fmt"
	"slices"
	"strings"

	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/internal/nearest"
)

// op is what a node of a $filter does.
type op uint8

// The operations. The ones from is on have a property.
const (
	and op = iota
	or
	not
	constant // the only literal
	is       // the property is true
	eq
	ne
	gt
	ge
	lt
	le
	in
	contains
	startsWith
	endsWith
	grouped // the country is in one of the groups
)

// opNames are the operations as they are written.
var opNames = [...]string{
	"and", "or", "not", "", "", "eq", "ne", "gt", "ge", "lt", "le", "in", "contains", "startswith", "endswith",
	"",
}

// mirrored is an operation with its sides exchanged.
var mirrored = map[op]op{eq: eq, ne: ne, gt: lt, ge: le, lt: gt, le: ge}

// function is what is applied to a property before it is compared.
type function uint8

// The functions.
const (
	itself function = iota
	year
	month
	dayOfMonth
	date
	toLower
	toUpper
)

var functionNames = [...]string{"", "year", "month", "day", "date", "tolower", "toupper"}

// node is a part of a $filter.
type node struct {
	op       op
	kids     []*node
	property int
	function function
	literals []value
	text     string // as it was sent
}

// Bounds of a $filter. Each comparison may be asked of each value of a dictionary.
const (
	maxNodes    = 100
	maxLiterals = 1000
	maxDepth    = 30
)

// works says what a $filter may have.
const works = "a $filter may have eq, ne, gt, ge, lt, le, in, contains, startswith, endswith, and, or, not, year, " +
	"month, day, date, tolower and toupper"

// parser reads a $filter by recursive descent. A fault ends it.
type parser struct {
	set      *set
	filter   string
	rest     string // of it, after the token
	token    string
	depth    int
	nodes    int
	literals int
}

// parseFilter reads a $filter of a set.
func parseFilter(s *set, filter string) (n *node, err error) {
	p := &parser{set: s, filter: filter, rest: filter}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case *reply.Fault:
			n, err = nil, f
		default:
			panic(f)
		}
	}()
	p.next()
	n = p.or()
	if p.token != "" {
		p.fail("%s is not expected there", list.Quoted(p.token))
	}
	return n, nil
}

func (p *parser) fail(format string, args ...any) {
	panic(badRequest("$filter: "+format+"; "+works, args...))
}

// next reads a token: a text with its quotes, a word, number or date, or a sign.
func (p *parser) next() string {
	before := p.token
	p.rest = strings.TrimLeft(p.rest, " \t")
	if p.rest == "" {
		p.token = ""
		return before
	}
	end := 1
	switch c := p.rest[0]; {
	case c == '"':
		p.fail("texts are in single quotes, as 'AFG'")
	case c == '\'':
		for {
			at := strings.IndexByte(p.rest[end:], '\'')
			if at < 0 {
				p.fail("a text has no quote at its end")
			}
			if end += at + 1; end == len(p.rest) || p.rest[end] != '\'' {
				break
			}
			end++ // two quotes are one within the text
		}
	case isWord(c):
		for end < len(p.rest) && isWord(p.rest[end]) {
			end++
		}
	}
	p.token, p.rest = p.rest[:end], p.rest[end:]
	return before
}

func isWord(c byte) bool {
	isLetter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	return isLetter || c >= '0' && c <= '9' || strings.IndexByte("_.-+:/@$", c) >= 0
}

// at is where the token begins.
func (p *parser) at() int { return len(p.filter) - len(p.rest) - len(p.token) }

// is reports whether the token is a word, in any case.
func (p *parser) is(word string) bool { return strings.EqualFold(p.token, word) }

func (p *parser) expect(sign string) {
	if p.token != sign {
		p.fail("%s is missing before %s", list.Quoted(sign), list.Quoted(p.token))
	}
	p.next()
}

func (p *parser) made(n *node) *node {
	if p.nodes++; p.nodes > maxNodes {
		panic(badRequest("$filter has more than %d comparisons; for several values of one property use in", maxNodes))
	}
	return n
}

func (p *parser) or() *node  { return p.joined(or, (*parser).and) }
func (p *parser) and() *node { return p.joined(and, (*parser).unary) }

// joined reads parts with a word between them.
func (p *parser) joined(o op, part func(*parser) *node) *node {
	from := p.at()
	n := part(p)
	if !p.is(opNames[o]) {
		return n
	}
	all := &node{op: o, kids: []*node{n}}
	for p.is(opNames[o]) {
		p.next()
		all.kids = append(all.kids, part(p))
	}
	all.text = p.filter[from:p.at()]
	return all
}

func (p *parser) unary() (n *node) {
	if p.depth++; p.depth > maxDepth {
		panic(badRequest("$filter has more than %d parentheses within one another; write it flat", maxDepth))
	}
	from := p.at()
	defer func() {
		if p.depth--; n != nil { // nil after a fault
			n.text = p.filter[from:p.at()]
		}
	}()
	switch {
	case p.is("not"):
		p.next()
		return p.made(&node{op: not, kids: []*node{p.unary()}})
	case p.token == "(":
		p.next()
		n := p.or()
		p.expect(")")
		return p.compared(n)
	}
	return p.made(p.comparison())
}

// compared reads what a condition is compared with, if anything: true, false or null.
func (p *parser) compared(n *node) *node {
	o := eq
	switch {
	case p.is(opNames[ne]):
		o = ne
	case !p.is(opNames[eq]):
		return n
	}
	p.next()
	literal := p.side().literal
	if literal == nil || literal.kind != boolean && literal.kind != null {
		panic(notImplemented("$filter: a condition can be compared with true, false and null only"))
	}
	return &node{op: o, kids: []*node{n}, literals: []value{*literal}}
}

// side is one side of a comparison: a property or a literal.
type side struct {
	literal  *value
	property int
	function function
}

// comparison reads a function with two parts, a comparison, or a property or literal that is true.
func (p *parser) comparison() *node {
	for o := contains; o <= endsWith; o++ {
		if p.is(opNames[o]) {
			p.next()
			p.expect("(")
			left := p.side()
			p.expect(",")
			right := p.side()
			p.expect(")")
			return p.compared(p.test(o, left, right))
		}
	}
	if at := slices.IndexFunc(p.set.groups, func(g grouping) bool { return g.name == p.token }); at >= 0 {
		return p.inGroups(&p.set.groups[at])
	}
	left := p.side()
	o := slices.IndexFunc(opNames[:], func(name string) bool { return name != "" && p.is(name) })
	switch o := op(max(o, 0)); {
	case o == in:
		p.next()
		return p.list(left)
	case o >= eq && o <= le:
		p.next()
		return p.test(o, left, p.side())
	}
	switch {
	case left.literal != nil && left.literal.kind == boolean:
		return &node{op: constant, literals: []value{*left.literal}}
	case left.literal != nil || p.typeOf(left) != boolean:
		p.fail("%s is not expected where a comparison is", list.Quoted(p.token))
	}
	return &node{op: is, property: left.property}
}

// inGroups reads which groups a country is in.
func (p *parser) inGroups(of *grouping) (n *node) {
	p.next()
	left := side{property: of.property}
	switch {
	case p.is(opNames[in]):
		p.next()
		n = p.list(left)
	case p.is(opNames[eq]):
		p.next()
		n = p.test(eq, left, p.side())
	default:
		panic(notImplemented("$filter: %s can be compared by eq and in only", of.name))
	}
	if slices.ContainsFunc(n.literals, func(v value) bool { return v.kind != text }) {
		p.fail("%s is compared with a text, such as 'western-africa'", of.name)
	}
	n.op = grouped
	return n
}

// side reads a literal, a property, or a function of a property.
func (p *parser) side() side {
	token := p.next()
	switch {
	case token == "":
		p.fail("it ends where a property or a value is expected")
	case token[0] == '\'':
		return p.literal(value{kind: text, text: strings.ReplaceAll(token[1:len(token)-1], "''", "'")})
	case token == "null":
		return p.literal(value{})
	case strings.EqualFold(token, "true"):
		return p.literal(value{kind: boolean, int: 1})
	case strings.EqualFold(token, "false"):
		return p.literal(value{kind: boolean})
	case token[0] >= '0' && token[0] <= '9' || token[0] == '-' || token[0] == '.':
		v, ok := literalOf(token)
		if !ok {
			p.fail("%s is no number, date (2024-05-17) or time (2024-05-17T10:20:30Z)", list.Quoted(token))
		}
		return p.literal(v)
	case p.token == "(":
		f := slices.IndexFunc(functionNames[:], func(name string) bool { return strings.EqualFold(name, token) })
		if f <= 0 {
			panic(notImplemented("$filter: there is no function %s; %s", list.Quoted(token), works))
		}
		p.next()
		s := p.side()
		p.expect(")")
		if s.literal != nil || s.function != itself {
			panic(notImplemented("$filter: %s can be asked of a property only", token))
		}
		return p.applied(s, function(f))
	}
	return side{property: p.propertyOf(token)}
}

func (p *parser) literal(v value) side {
	if p.literals++; p.literals > maxLiterals {
		panic(badRequest("$filter has more than %d values", maxLiterals))
	}
	return side{literal: &v}
}

// propertyOf is the property of a name.
func (p *parser) propertyOf(name string) int {
	at := p.set.indexOf(name)
	switch {
	case at < 0 && strings.ContainsAny(name, "/@$"):
		panic(notImplemented("$filter: %s is not known; properties have no parts, and there are no parameters",
			list.Quoted(name)))
	case at < 0 && slices.ContainsFunc([]string{"add", "sub", "mul", "div", "mod", "has"}, p.is):
		panic(notImplemented("$filter: there is no %s; %s", name, works))
	case at < 0:
		panic(badRequest("$filter: there is no property %s; %s", list.Quoted(name), p.set.near(name)))
	case p.set.Properties[at].isKey():
		panic(notImplemented("$filter: %s cannot be filtered; ask for %s('KEY')", name, p.set.Name))
	}
	return at
}

// applied is a function of a property.
func (p *parser) applied(s side, f function) side {
	of := p.set.Properties[s.property]
	dated := of.kind == day || of.kind == instant
	if f <= date && !dated || f >= toLower && of.kind != text {
		p.fail("%s cannot be asked of %s, which is %s", functionNames[f], of.Name, kindNames[of.kind])
	}
	s.function = f
	return s
}

// typeOf is what a side is.
func (p *parser) typeOf(s side) kind {
	switch {
	case s.literal != nil:
		return s.literal.kind
	case s.function == date:
		return day
	case s.function >= year && s.function <= dayOfMonth:
		return integer
	}
	return p.set.Properties[s.property].kind
}

// test is a comparison of two sides.
func (p *parser) test(o op, left, right side) *node {
	switch {
	case left.literal != nil && right.literal != nil:
		n := &node{op: o, literals: []value{*right.literal}}
		p.check(n.op, left, right)
		verdict := value{kind: boolean}
		if n.holds(left.literal) == yes {
			verdict.int = 1
		}
		return &node{op: constant, literals: []value{verdict}}
	case left.literal == nil && right.literal == nil:
		panic(notImplemented("$filter: two properties cannot be compared; compare %s with a value",
			p.set.Properties[left.property].Name))
	case left.literal != nil && o >= contains:
		panic(notImplemented("$filter: %s needs a property first and then a text", opNames[o]))
	case left.literal != nil:
		return p.test(mirrored[o], right, left)
	}
	p.check(o, left, right)
	return &node{op: o, property: left.property, function: left.function, literals: []value{*right.literal}}
}

// check refuses sides that cannot be compared.
func (p *parser) check(o op, left, right side) {
	a, b := p.typeOf(left), p.typeOf(right)
	number := func(k kind) bool { return k == integer || k == float }
	moment := func(k kind) bool { return k == day || k == instant }
	same := a == b || number(a) && number(b) || moment(a) && moment(b)
	switch {
	case o >= contains:
		same = a == text && b == text
	case a == null || b == null:
		same = true
	case a == boolean && o != eq && o != ne && o != in:
		same = false
	}
	if !same {
		p.fail("%s cannot be compared with %s by %s", kindNames[a], kindNames[b], opNames[o])
	}
}

// list reads the values after in.
func (p *parser) list(left side) *node {
	if left.literal != nil {
		panic(notImplemented("$filter: in needs a property before it"))
	}
	n := &node{op: in, property: left.property, function: left.function}
	p.expect("(")
	for p.token != ")" {
		s := p.side()
		if s.literal == nil {
			panic(notImplemented("$filter: the list after in can have values only"))
		}
		p.check(in, left, s)
		n.literals = append(n.literals, *s.literal)
		if p.token != "," {
			break
		}
		if p.next(); p.token == ")" {
			p.fail("a value is missing after a comma")
		}
	}
	p.expect(")")
	return n
}

// near says which properties a wrong name may have meant.
func (s *set) near(name string) string {
	names := s.names()
	if near := nearest.Of(strings.ToLower(name), names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "the properties are " + strings.Join(names, ", ")
}
