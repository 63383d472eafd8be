package index

import (
	"iter"
	"math/bits"
	"sort"
	"strings"

	"hdqs/snapshot"
)

// codeSet is a set of codes, one bit a code.
type codeSet []uint64

func newCodeSet(codes int) codeSet { return make(codeSet, (codes+63)/64) }

func (s codeSet) add(code uint32)      { s[code>>6] |= 1 << (code & 63) }
func (s codeSet) has(code uint32) bool { return s[code>>6]>>(code&63)&1 != 0 }

// addRange adds the codes from to to-1.
func (s codeSet) addRange(from, to int) {
	for ; from < to && from&63 != 0; from++ {
		s.add(uint32(from))
	}
	for ; from+64 <= to; from += 64 {
		s[from>>6] = ^uint64(0)
	}
	for ; from < to; from++ {
		s.add(uint32(from))
	}
}

func (s codeSet) count() int { return countBits(s) }

// run returns the codes, of which there are count, as a span if they are consecutive.
func (s codeSet) run(count int) (codes span) {
	eachRun(s, func(first, end uint32) bool {
		if int(end-first) == count {
			codes = span{uint64(first), uint64(count - 1), 1}
		}
		return false
	})
	return codes
}

// negate makes s the set of all other codes below codes.
func (s codeSet) negate(codes int) {
	for i := range s {
		s[i] = ^s[i]
	}
	if codes&63 != 0 {
		s[len(s)-1] &= 1<<(codes&63) - 1
	}
}

// all yields every code, ascending.
func (s codeSet) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// valuesMatching adds the codes of a coded column's values that pass a filter, whose values are
// given, and the code of null if null passes.
func (c *column) valuesMatching(f *Filter, values []Value, into codeSet) {
	op := f.Op
	if op == Tested {
		c.testedValues(f.Test, into)
		return
	}
	if c.col.Kind == snapshot.Text || c.col.Kind == snapshot.Enum {
		c.textsMatching(op, values, into)
		return
	}
	for i := range values {
		c.numbersMatching(op, &values[i], into)
	}
}

// numbersMatching is valuesMatching for one value of a column that has no texts.
func (c *column) numbersMatching(op Op, v *Value, into codeSet) {
	col := c.col
	n := col.Cardinality()
	var lo, hi int
	if col.Kind == snapshot.Decimal {
		b := newDecBound(col, v)
		lo = sort.Search(n, func(i int) bool { return b.compare(col.DecOf(uint32(i))) >= 0 })
		hi = sort.Search(n, func(i int) bool { return b.compare(col.DecOf(uint32(i))) > 0 })
	} else if v.Beyond == 0 { // each search with a comparison of its own, which the compiler inlines
		lo = sort.Search(n, func(i int) bool { return col.IntOf(uint32(i)) >= v.Int })
		hi = lo + sort.Search(n-lo, func(i int) bool { return col.IntOf(uint32(lo+i)) > v.Int })
	} else if v.Beyond > 0 {
		lo, hi = n, n
	}
	addOrdered(op, lo, hi, n, into)
	if op == AtLeastOrNull && col.Nullable {
		into.add(uint32(n))
	}
}

// addOrdered adds the codes that op selects among n ascending values, of which lo to hi-1 equal the
// filter's value.
func addOrdered(op Op, lo, hi, n int, into codeSet) {
	switch op {
	case Equal:
		into.addRange(lo, hi)
	case Below:
		into.addRange(0, lo)
	default:
		into.addRange(lo, n)
	}
}

// textsMatching adds the codes of the texts that compare to one of values by op.
func (c *column) textsMatching(op Op, values []Value, into codeSet) {
	if op == Equal {
		c.textsEqual(values, into)
		return
	}
	folded := c.foldedTexts()
	p := compilePatterns(op, values, folded.sorted)
	var slots textSlots
	if len(p.literals) > 0 {
		slots = c.textSlots()
	}
	folded.searchAny(&p, slots, into)
}

// textsEqual adds the codes of the texts that the dictionary has. A value with a NUL matches
// nothing.
func (c *column) textsEqual(values []Value, into codeSet) {
	n := c.col.Cardinality()
	for i := range values {
		text, at := values[i].Text, 0
		if c.col.Kind != snapshot.Text { // in the order of their declaration
			for at < n && c.col.TextOf(uint32(at)) != text {
				at++
			}
		} else {
			at = sort.Search(n, func(i int) bool { return c.col.TextOf(uint32(i)) >= text })
		}
		if at < n && c.col.TextOf(uint32(at)) == text && strings.IndexByte(text, 0) < 0 {
			into.add(uint32(at))
		}
	}
}

// tuplesMatching adds the tuples of the column's group whose value passes a filter.
func (c *column) tuplesMatching(f *Filter, given []Value, into codeSet) {
	if !c.col.Coded() {
		for _, t := range c.numberTests(f, given) {
			for tuple := range uint32(c.col.Len()) {
				if t.passesAt(tuple) {
					into.add(tuple)
				}
			}
		}
		return
	}
	n := c.col.Cardinality()
	values := newCodeSet(n + 1)
	c.valuesMatching(f, given, values)
	count := values.count()
	if count == 0 {
		return
	}
	if count*manyTuples < c.col.Len() {
		t := c.tuplesByValue()
		for code := range values.all() {
			for _, tuple := range t.tuples[t.starts[code]:t.starts[code+1]] {
				into.add(tuple)
			}
		}
		return
	}
	c.col.Codes().In(0, c.col.Len(), values, into)
}

// manyTuples is the number of tuples for each passing value from which a list of tuples by value is
// worth making.
const manyTuples = 64

// tupleLists lists the tuples of a group by their value in one column: those of a code are
// tuples[starts[code]:starts[code+1]].
type tupleLists struct {
	starts []uint32
	tuples []uint32
}

func (t *tupleLists) size() int { return 4 * (cap(t.starts) + cap(t.tuples)) }

func listTuples(codes snapshot.Packed, cardinality int) *tupleLists {
	t := &tupleLists{starts: make([]uint32, cardinality+2), tuples: make([]uint32, codes.Len())}
	// The list of null is the last. First count where each list ends; filling the lists backwards
	// then leaves their starts.
	ends := t.starts
	for i := range uint32(codes.Len()) {
		ends[codes.At(i)]++
	}
	sum := uint32(0)
	for code, n := range ends {
		sum += n
		ends[code] = sum
	}
	for i := uint32(codes.Len()); i > 0; i-- {
		code := codes.At(i - 1)
		ends[code]--
		t.tuples[ends[code]] = i - 1
	}
	return t
}
