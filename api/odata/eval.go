package odata

import (
	"strings"
	"time"
)

// verdict is the result of a condition. Functions of null are unknown, and so is their negation;
// comparisons with null are not: null eq null is yes, null gt 5 is no.
type verdict uint8

// The verdicts.
const (
	no verdict = iota
	yes
	unknown
)

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// eval asks a node that is about one property of a value of it.
func (n *node) eval(v *value) verdict {
	switch {
	case n.op == constant:
		return verdictOf(n.literals[0].int != 0)
	case len(n.kids) > 0:
		return n.join(func(kid int) verdict { return n.kids[kid].eval(v) })
	case n.function != itself:
		applied := n.function.of(*v)
		return n.holds(&applied)
	}
	return n.holds(v)
}

// join is the verdict of a node with parts, of which of gives the verdicts.
func (n *node) join(of func(kid int) verdict) verdict {
	stop, all := no, yes
	switch n.op {
	case not:
		return [...]verdict{no: yes, yes: no, unknown: unknown}[of(0)]
	case eq, ne: // of a condition with true, false or null
		values := [...]value{no: {kind: boolean}, yes: {kind: boolean, int: 1}, unknown: {}}
		return n.holds(&values[of(0)])
	case or:
		stop, all = yes, no
	}
	for i := range n.kids {
		switch v := of(i); v {
		case stop:
			return stop
		case unknown:
			all = unknown
		}
	}
	return all
}

// holds asks a comparison of a value.
func (n *node) holds(v *value) verdict {
	switch n.op {
	case is:
		if v.kind == null {
			return unknown
		}
		return verdictOf(v.int != 0)
	case in:
		for i := range n.literals {
			if equal(v, &n.literals[i]) {
				return yes
			}
		}
		return no
	case eq, ne:
		return verdictOf(equal(v, &n.literals[0]) == (n.op == eq))
	}
	literal := &n.literals[0]
	if v.kind == null || literal.kind == null {
		if n.op >= contains {
			return unknown
		}
		return no
	}
	switch n.op {
	case contains:
		return verdictOf(strings.Contains(v.text, literal.text))
	case startsWith:
		return verdictOf(strings.HasPrefix(v.text, literal.text))
	case endsWith:
		return verdictOf(strings.HasSuffix(v.text, literal.text))
	}
	sign := v.compare(literal)
	switch n.op {
	case gt:
		return verdictOf(sign > 0)
	case ge:
		return verdictOf(sign >= 0)
	case lt:
		return verdictOf(sign < 0)
	}
	return verdictOf(sign <= 0)
}

func equal(a, b *value) bool {
	if a.kind == null || b.kind == null {
		return a.kind == b.kind
	}
	return a.compare(b) == 0
}

// of applies the function to a value.
func (f function) of(v value) value {
	if v.kind == null {
		return v
	}
	switch f {
	case year, month, dayOfMonth:
		y, m, d := time.UnixMicro(v.int).UTC().Date()
		return value{kind: integer, int: [...]int64{year: int64(y), month: int64(m), dayOfMonth: int64(d)}[f]}
	case date:
		return value{kind: day, int: dayOf(v.int)}
	case toLower:
		v.text = strings.ToLower(v.text)
	case toUpper:
		v.text = strings.ToUpper(v.text)
	}
	return v
}
