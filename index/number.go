package index

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"

	"hdqs/snapshot"
)

// decBound compares the values of a decimal column with a filter's value: exactly if that is exact,
// else as the nearest float64.
type decBound struct {
	col   *snapshot.Column
	float float64
	exact *big.Rat
	nan   bool // no value is equal or at least NaN, every value is below
}

func newDecBound(col *snapshot.Column, v *Value) *decBound {
	return &decBound{col: col, float: v.Float, exact: v.Exact, nan: v.Exact == nil && math.IsNaN(v.Float)}
}

// compare returns the sign of d less the bound. NaN is above all.
func (b *decBound) compare(d snapshot.Dec) int {
	if b.nan {
		return -1
	}
	if b.exact != nil {
		return b.col.Rat(d).Cmp(b.exact)
	}
	return cmp.Compare(b.col.Float(d), b.float)
}

// comparer is compare for the mantissas of one ordinary scale. An exact bound costs one division,
// and each comparison then only that of two integers.
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

// compareInt returns the sign of i less a filter's value.
func compareInt(i int64, v *Value) int {
	if v.Beyond != 0 {
		return -int(v.Beyond)
	}
	return cmp.Compare(i, v.Int)
}

// span is the packed numbers lo to lo+more, unless any is 0.
type span struct {
	lo, more uint64
	any      uint64 // 1, or 0 for an empty span
}

func (s *span) has(v uint64) bool { return s.any != 0 && v-s.lo <= s.more }

// spanOf returns the numbers from first to last that pass op. compare orders their values, which
// ascend, against the filter's value.
func spanOf(op Op, first, last uint64, compare func(v uint64) int) span {
	if first > last {
		return span{}
	}
	// lo is the first number whose value is not below, up the first whose value is above.
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

// searchNumbers returns the first number for which f is true. From there on f stays true.
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

// numberTest tests the rows of a column without a dictionary. For each scale (ints have one) the
// packed numbers that pass are one span, since rounding to float64 keeps order. So a test takes no
// division and no floats. Both ends of a span have its scale in the low bits, as all numbers there.
type numberTest struct {
	col   *snapshot.Column
	raw   *snapshot.Numbers
	spans []span // by index of the scale
	mask  uint64 // of that index within a number
	null  bool   // null passes, in a nullable column of ints

	members codeSet // the packed numbers that pass, in place of spans; nil mostly
}

// maxMemberBits is the most bits of packed numbers that are listed in a set, of 128 KiB.
const maxMemberBits = 20

// numberTests returns tests of which a number that passes a filter passes at least one.
func (c *column) numberTests(f *Filter, values []Value) []*numberTest {
	if f.Op == Tested {
		return numbersTested(c.col, f.Test)
	}
	return numberTests(c.col, f.Op, values)
}

// numberTests returns tests of which a number that compares to one of values by op passes at least
// one: a single test wherever that can be, so that rows are read once.
func numberTests(col *snapshot.Column, op Op, values []Value) []*numberTest {
	tests := make([]*numberTest, len(values))
	for i := range values {
		tests[i] = newNumberTest(col, op, &values[i])
	}
	width := tests[0].raw.Packed.Width()
	if len(tests) == 1 || op != Equal || col.Kind == snapshot.Decimal || width > maxMemberBits {
		return tests
	}
	all := tests[0]
	all.members = newCodeSet(1 << width)
	for _, t := range tests {
		if s := &t.spans[0]; s.any != 0 {
			all.members.addRange(int(s.lo), int(s.lo+s.more)+1)
		}
	}
	return tests[:1]
}

func newNumberTest(col *snapshot.Column, op Op, v *Value) *numberTest {
	raw := col.Numbers()
	largest := uint64(1)<<raw.Packed.Width() - 1 // all ones for 64
	if col.Kind != snapshot.Decimal {
		last := min(largest, uint64(math.MaxInt64)-uint64(raw.Base)+raw.First)
		s := spanOf(op, raw.First, last, func(n uint64) int {
			return compareInt(raw.Int(n), v)
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
		case scale == snapshot.DecText && col.ExactTexts() > 0: // which ascend by value
			*s = spanOf(op, 0, uint64(col.ExactTexts()-1), func(n uint64) int {
				return b.compare(snapshot.Dec{Mantissa: int64(n), Scale: snapshot.DecText})
			})
		case scale <= snapshot.MaxScale:
			compare := b.comparer(scale)
			*s = spanOf(op, 0, min(largest, uint64(math.MaxInt64)-uint64(raw.Base)), func(n uint64) int {
				return compare(int64(uint64(raw.Base) + n))
			})
		}
		s.lo, s.more = s.lo<<raw.ScaleBits|uint64(i), s.more<<raw.ScaleBits
	}
	return t
}

// and returns the test of what passes two tests of one column.
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

// never reports whether no number passes.
func (t *numberTest) never() bool {
	if t.members != nil {
		return t.members.count() == 0
	}
	for i := range t.spans {
		if t.spans[i].any != 0 {
			return false
		}
	}
	return !t.null
}

// always reports whether the span has every number: that of a filter for at least 0 mostly does.
func (t *numberTest) always() bool {
	s := &t.spans[0]
	return t.isSpan() && s.any != 0 && s.lo == 0 && s.more >= 1<<t.raw.Packed.Width()-1
}

// passes tests a packed number.
func (t *numberTest) passes(n uint64) bool {
	if t.members != nil {
		return t.members.has(uint32(n))
	}
	return t.spans[n&t.mask].has(n) || t.null && n == 0
}

// passesAt tests the value at a position.
func (t *numberTest) passesAt(i uint32) bool { return t.passes(t.raw.Packed.At(i)) }

// isSpan reports whether the numbers that pass are those of spans[0].
func (t *numberTest) isSpan() bool { return t.members == nil && t.mask == 0 && !t.null }

// testRange sets bit i of out for each i below n for which the value at position from+i passes. out
// has whole words.
func (t *numberTest) testRange(from uint32, n int, out []uint64) {
	if t.members != nil {
		t.raw.Packed.In(from, n, t.members, out)
		return
	}
	if t.isSpan() {
		if s := t.spans[0]; s.any != 0 {
			t.raw.Packed.Within(from, n, s.lo, s.more, out)
		}
		return
	}
	if t.never() {
		return
	}
	var spans [maxScales]span
	copy(spans[:], t.spans)
	var numbers [256]uint64
	for done := 0; done < n; done += len(numbers) {
		part := numbers[:min(len(numbers), n-done)]
		t.raw.Packed.Unpack64(part, from+uint32(done))
		for i := 0; i < len(part); i += 64 {
			out[(done+i)>>6] |= t.word(&spans, part[i:min(i+64, len(part))])
		}
	}
}

// maxScales is above all indexes of a scale.
const maxScales = 32

// word returns a word with bit i set if numbers[i], of at most 64, passes.
func (t *numberTest) word(spans *[maxScales]span, numbers []uint64) (inside uint64) {
	mask := t.mask
	for i, n := range numbers {
		s := &spans[n&mask%maxScales]
		_, outside := bits.Sub64(s.more, n-s.lo, 0)
		inside |= (s.any &^ outside) << (i & 63)
	}
	if t.null {
		for i, n := range numbers {
			if n == 0 {
				inside |= 1 << i
			}
		}
	}
	return inside
}
