package index

import (
	"math/bits"
	"sort"

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

func (s codeSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
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

// each calls f with every code, ascending, until f gives an error.
func (s codeSet) each(f func(code uint32) error) error {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if err := f(uint32(i<<6 + bits.TrailingZeros64(w))); err != nil {
				return err
			}
		}
	}
	return nil
}

// valuesMatching adds the codes of a coded column's values that pass a filter, and null's code when null does.
func (c *column) valuesMatching(op Op, v *Value, into codeSet) {
	col := c.col
	n := col.Cardinality()
	switch {
	case col.Kind == snapshot.Text || col.Kind == snapshot.Enum:
		c.textsMatching(op, v.Text, into)
	case col.Kind == snapshot.Decimal:
		b := newDecBound(col, v)
		lo := sort.Search(n, func(i int) bool { return b.compare(col.DecOf(uint32(i))) >= 0 })
		hi := sort.Search(n, func(i int) bool { return b.compare(col.DecOf(uint32(i))) > 0 })
		if b.nan {
			lo, hi = n, n
		}
		addOrdered(op, lo, hi, n, into)
	default:
		lo := sort.Search(n, func(i int) bool { return v.Beyond < 0 || v.Beyond == 0 && col.IntOf(uint32(i)) >= v.Int })
		hi := sort.Search(n, func(i int) bool { return v.Beyond < 0 || v.Beyond == 0 && col.IntOf(uint32(i)) > v.Int })
		addOrdered(op, lo, hi, n, into)
	}
	if op == AtLeastOrNull && col.Nullable {
		into.add(uint32(n))
	}
}

// addOrdered adds what op asks for of n ascending values, of which those from lo to hi-1 equal the filter's.
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

// textsMatching adds the codes of the texts that pass a filter.
func (c *column) textsMatching(op Op, text string, into codeSet) {
	n := c.col.Cardinality()
	if op != Equal {
		p := compilePattern(op, text)
		if f := c.foldedTexts(); f != nil {
			f.search(p, into)
		} else {
			searchTexts(n, c.col.TextOf, p, into)
		}
		return
	}
	if hasNUL(text) {
		return
	}
	if c.col.Kind == snapshot.Text {
		at := sort.Search(n, func(i int) bool { return c.col.TextOf(uint32(i)) >= text })
		if at < n && c.col.TextOf(uint32(at)) == text {
			into.add(uint32(at))
		}
		return
	}
	for code := range uint32(n) {
		if c.col.TextOf(code) == text {
			into.add(code)
		}
	}
}

// tuplesMatching adds the tuples of the column's group whose value passes a filter.
func (c *column) tuplesMatching(op Op, v *Value, into codeSet) {
	if !c.col.Coded() {
		t := newNumberTest(c.col, op, v)
		for tuple := range uint32(c.col.Len()) {
			if t.one(tuple) {
				into.add(tuple)
			}
		}
		return
	}
	n := c.col.Cardinality()
	values := newCodeSet(n + 1)
	c.valuesMatching(op, v, values)
	if values.count() > 0 {
		codesIn(c.col.Codes(), 0, c.col.Len(), values, into)
	}
}

// codesIn sets bit i of out for each i below n for which the code at position from+i is in pass, and clears the others. out has whole
// words.
func codesIn(codes snapshot.Packed, from uint32, n int, pass codeSet, out []uint64) {
	var buf [1024]uint32
	for done := 0; done < n; {
		part := buf[:min(len(buf), n-done)]
		codes.Unpack(part, from+uint32(done))
		for len(part) >= 64 {
			out[done>>6] |= inWord(part[:64], pass)
			part, done = part[64:], done+64
		}
		if len(part) > 0 {
			out[done>>6] |= inWord(part, pass)
			done += len(part)
		}
	}
}

// inWord has bit i when codes[i] is in pass.
func inWord(codes []uint32, pass codeSet) uint64 {
	var w uint64
	for i, code := range codes {
		w |= pass[code>>6] >> (code & 63) & 1 << (i & 63)
	}
	return w
}
