package index

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"hdqs/snapshot"
)

// decBound compares the values of a decimal column with a filter's value: exactly when that is exact, else as the nearest float64.
type decBound struct {
	col   *snapshot.Column
	float float64
	exact *big.Rat
	nan   bool // no value is at least, or equal; every value is below
}

func newDecBound(col *snapshot.Column, v *Value) *decBound {
	return &decBound{col: col, float: v.Float, exact: v.Exact, nan: v.Exact == nil && math.IsNaN(v.Float)}
}

// compare is the sign of d less the bound, with NaN above all.
func (b *decBound) compare(d snapshot.Dec) int {
	if b.nan {
		return -1
	}
	if d.Scale != snapshot.DecText {
		if b.exact != nil {
			return d.Rat().Cmp(b.exact)
		}
		return compareFloats(d.Float(), b.float)
	}
	text := b.col.DecString(d)
	if b.exact == nil {
		// The error says that the text is beyond the range of a float64, and f is then the infinity of its sign.
		f, _ := strconv.ParseFloat(text, 64)
		return compareFloats(f, b.float)
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("index: an exact text that is no number: " + text)
	}
	return r.Cmp(b.exact)
}

// comparer is compare for the mantissas of one ordinary scale. With an exact bound it costs a division once and then no more than
// comparing integers.
func (b *decBound) comparer(scale uint8) func(mantissa int64) int {
	if b.exact == nil {
		return func(m int64) int { return b.compare(snapshot.Dec{Mantissa: m, Scale: scale}) }
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	floor, rest := new(big.Int).DivMod(ten.Mul(ten, b.exact.Num()), b.exact.Denom(), new(big.Int))
	if !floor.IsInt64() {
		sign := -floor.Sign()
		return func(int64) int { return sign }
	}
	bound, whole := floor.Int64(), rest.Sign() == 0
	return func(m int64) int {
		switch {
		case m > bound:
			return 1
		case m == bound && whole:
			return 0
		}
		return -1
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareInt is the sign of i less a filter's value.
func compareInt(i int64, v *Value) int {
	switch {
	case v.Beyond != 0:
		return -int(v.Beyond)
	case i < v.Int:
		return -1
	case i > v.Int:
		return 1
	}
	return 0
}

// span is the packed numbers lo to lo+more, if any.
type span struct {
	lo, more uint64
	any      uint64 // 1 or 0
}

func (s *span) has(v uint64) bool { return s.any != 0 && v-s.lo <= s.more }

// spanOf finds the numbers from first to last that pass op, when compare tells their values' order against the filter's value. Values
// ascend with the numbers.
func spanOf(op Op, first, last uint64, compare func(v uint64) int) span {
	if first > last {
		return span{}
	}
	// lo is the first number whose value is not below, up the first whose value is above; last+1 stands for none and may be 0.
	lo, hasLo := searchNumbers(first, last, func(v uint64) bool { return compare(v) >= 0 })
	switch {
	case op == Below && !hasLo:
		return span{first, last - first, 1}
	case op == Below && lo == first, !hasLo:
		return span{}
	case op == Below:
		return span{first, lo - 1 - first, 1}
	case op != Equal:
		return span{lo, last - lo, 1}
	}
	up, hasUp := searchNumbers(lo, last, func(v uint64) bool { return compare(v) > 0 })
	switch {
	case !hasUp:
		return span{lo, last - lo, 1}
	case up == lo:
		return span{}
	}
	return span{lo, up - 1 - lo, 1}
}

// searchNumbers finds the first number for which f, which never turns false again, is true.
func searchNumbers(first, last uint64, f func(v uint64) bool) (v uint64, ok bool) {
	if !f(last) {
		return 0, false
	}
	for first < last {
		mid := first + (last-first)/2
		if f(mid) {
			last = mid
		} else {
			first = mid + 1
		}
	}
	return first, true
}

// numberTest tests the rows of a column without dictionary. For each scale (ints have one) the packed numbers that pass are one span, as
// rounding to float64 keeps order; so testing a row takes no division and no float.
type numberTest struct {
	col   *snapshot.Column
	raw   snapshot.Numbers
	spans []span // by position of the scale
	mask  uint64 // of that position within a number
	null  bool   // a nullable int that is null passes
}

func newNumberTest(col *snapshot.Column, op Op, v *Value) *numberTest {
	raw := col.Numbers()
	largest := uint64(1)<<raw.Packed.Width() - 1 // all ones for 64
	if col.Kind != snapshot.Decimal {
		last := min(largest, uint64(math.MaxInt64)-uint64(raw.Base)+raw.First)
		s := spanOf(op, raw.First, last, func(n uint64) int {
			return compareInt(int64(uint64(raw.Base)+n-raw.First), v)
		})
		return &numberTest{col: col, raw: raw, spans: []span{s}, null: op == AtLeastOrNull && raw.First == 1}
	}
	t := &numberTest{col: col, raw: raw, spans: make([]span, 1<<raw.ScaleBits), mask: 1<<raw.ScaleBits - 1}
	b := newDecBound(col, v)
	largest >>= raw.ScaleBits
	for i, scale := range raw.Scales {
		s := &t.spans[i]
		switch {
		case scale == snapshot.DecNull:
			if op == AtLeastOrNull {
				s.any = 1
			}
		case scale == snapshot.DecText && col.ExactTexts() > 0: // they ascend by value
			*s = spanOf(op, 0, uint64(col.ExactTexts()-1), func(n uint64) int {
				return b.compare(snapshot.Dec{Mantissa: int64(n), Scale: snapshot.DecText})
			})
		case scale <= snapshot.MaxScale:
			compare := b.comparer(scale)
			*s = spanOf(op, 0, min(largest, uint64(math.MaxInt64)-uint64(raw.Base)), func(n uint64) int {
				return compare(int64(uint64(raw.Base) + n))
			})
		}
	}
	return t
}

// and is the test that passes what both of two tests of one column pass.
func (t *numberTest) and(other *numberTest) *numberTest {
	out := *t
	out.null = t.null && other.null
	out.spans = make([]span, len(t.spans))
	for i, a := range t.spans {
		b := other.spans[i]
		lo, hi := max(a.lo, b.lo), min(a.lo+a.more, b.lo+b.more)
		if a.any&b.any != 0 && lo <= hi {
			out.spans[i] = span{lo, hi - lo, 1}
		}
	}
	return &out
}

// never says whether no number passes.
func (t *numberTest) never() bool {
	for i := range t.spans {
		if t.spans[i].any != 0 {
			return false
		}
	}
	return !t.null
}

// passes says whether a packed number passes.
func (t *numberTest) passes(n uint64) bool {
	return t.spans[n&t.mask].has(n>>t.raw.ScaleBits) || t.null && n == 0
}

// one tests the value at a position.
func (t *numberTest) passesAt(i uint32) bool { return t.passes(t.raw.Packed.At(i)) }

// block sets bit i of out for each i below n for which the value at position from+i passes. out has whole words.
func (t *numberTest) testRange(from uint32, n int, out []uint64) {
	if t.mask == 0 && !t.null {
		if s := t.spans[0]; s.any != 0 {
			t.raw.Packed.Within(from, n, s.lo, s.more, out)
		}
		return
	}
	var numbers [256]uint64
	for done := 0; done < n; done += len(numbers) {
		part := numbers[:min(len(numbers), n-done)]
		t.raw.Packed.Unpack64(part, from+uint32(done))
		for i := 0; i < len(part); i += 64 {
			out[(done+i)>>6] |= t.word(part[i:min(i+64, len(part))])
		}
	}
}

// word has bit i when numbers[i], of at most 64, passes.
func (t *numberTest) word(numbers []uint64) uint64 {
	spans, mask, shift := t.spans, t.mask, t.raw.ScaleBits
	var inside, zeros uint64
	for i, n := range numbers {
		s := &spans[n&mask]
		_, outside := bits.Sub64(s.more, n>>(shift&63)-s.lo, 0)
		inside |= (s.any &^ outside) << (i & 63)
		if n == 0 {
			zeros |= 1 << (i & 63)
		}
	}
	if t.null {
		inside |= zeros
	}
	return inside
}
