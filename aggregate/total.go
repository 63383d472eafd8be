package aggregate

import (
	"math"
	"math/bits"
)

// total is a sum of at most 128 bits, in two's complement, divided by 10^scale.
type total struct {
	high, low uint64
	scale     int
}

// add adds v * 2^width. The sum must have 128 bits.
func (t *total) add(v int64, width int) {
	low, high := uint64(v)<<width, uint64(v>>(64-width))
	var carry uint64
	t.low, carry = bits.Add64(t.low, low, 0)
	t.high, _ = bits.Add64(t.high, high, carry)
}

// value is the Sum, or the Mean of n values. ok is false if that takes larger integers.
func (t total) value(f Func, n uint32, kind Kind) (v Value, ok bool) {
	negative := int64(t.high) < 0
	if negative {
		var borrow uint64
		t.low, borrow = bits.Sub64(0, t.low, 0)
		t.high, _ = bits.Sub64(0, t.high, borrow)
	}
	if f == Sum {
		t.strip()
		if t.high > 0 || t.low > math.MaxInt64 {
			return Value{}, false
		}
		v = Value{Kind: kind, Int: int64(t.low), Scale: uint8(t.scale)}
		if negative {
			v.Int = -v.Int
		}
		return v, true
	}
	mean, ok := t.mean(n)
	if negative {
		mean = -mean
	}
	return Value{Kind: Float, Float: mean}, ok
}

// strip removes zeros from the end of the fraction of a total that is not negative.
func (t *total) strip() {
	for t.scale > 0 {
		if t.high == 0 {
			if t.low%10 > 0 {
				return
			}
			t.low /= 10
			t.scale--
			continue
		}
		high, rest := t.high/10, t.high%10
		low, rest := bits.Div64(rest, t.low, 10)
		if rest > 0 {
			return
		}
		t.high, t.low = high, low
		t.scale--
	}
}

// mean is a total that is not negative divided by n, rounded once.
func (t *total) mean(n uint32) (f float64, ok bool) {
	over, divisor := bits.Mul64(uint64(powers[t.scale]), uint64(n))
	switch {
	case over > 0:
		return 0, false
	case t.high == 0 && t.low < 1<<53 && divisor < 1<<53:
		return float64(t.low) / float64(divisor), true // both are exact, and dividing rounds once
	}
	// The total is shifted to 127 bits, and the divisor to 64, so the quotient has 63 or 64. A
	// remainder becomes its lowest bit, which is far below those that a float keeps, so the
	// conversion rounds it as the exact quotient is to be rounded.
	high, low, up := t.high, t.low, 0
	if high == 0 {
		high, low, up = low, 0, 64
	}
	shift := bits.LeadingZeros64(high)
	high, low = high<<shift|low>>(64-shift), low<<shift
	up += shift
	lost := low & 1
	high, low = high>>1, low>>1|high<<63
	down := bits.LeadingZeros64(divisor)
	quotient, rest := bits.Div64(high, low, divisor<<down)
	if rest|lost > 0 {
		quotient |= 1
	}
	return math.Ldexp(float64(quotient), down-up+1), true
}
