package snapshot

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Dec is an exact decimal: Mantissa / 10^Scale, without trailing zeros in Mantissa while Scale > 0
// (0 is {0,0}). Two scales are reserved: DecNull is null; DecText means that Mantissa is a position
// in the column's list of exact texts, for the few values that do not fit or whose shortest float64
// form differs from their exact form.
type Dec struct {
	Mantissa int64
	Scale    uint8
}

// Reserved scales of Dec.
const (
	DecNull = 255
	DecText = 254
	// MaxScale is the largest ordinary scale.
	MaxScale = 18
)

// maxPlain limits the length of an exact text. Every float64 written in plain digits is shorter.
const maxPlain = 1100

// pow10 has the powers of ten that fit an int64.
var pow10 = [MaxScale + 1]int64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// floatPow10 has the same powers as floats, all exact.
var floatPow10 = [MaxScale + 1]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// number is a parsed decimal text: value = digits × 10^exp, digits without leading and trailing
// zeros.
type number struct {
	negative bool
	mantissa uint64 // the value of digits when they are at most 19
	digits   int    // number of significant digits; 0 for zero
	exp      int
}

// scanNumber reads an optional sign, digits with at most one point among them, and an optional
// exponent.
func scanNumber(text string) (n number, ok bool) {
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		n.negative = text[i] == '-'
		i++
	}
	seen, point, zeros := false, false, 0
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if point {
			n.exp--
		}
		switch {
		case c != '0':
			for ; zeros > 0; zeros-- {
				n.mantissa *= 10
				n.digits++
			}
			n.mantissa = n.mantissa*10 + uint64(c-'0')
			n.digits++
		case n.digits > 0:
			zeros++
		}
	}
	if !seen {
		return n, false
	}
	n.exp += zeros
	if i < len(text) {
		if text[i] != 'e' && text[i] != 'E' {
			return n, false
		}
		exp, err := strconv.ParseInt(text[i+1:], 10, 16)
		if err != nil {
			return n, false
		}
		n.exp += int(exp)
	}
	if n.digits == 0 {
		n.exp, n.negative = 0, false
	}
	return n, true
}

// ParseDec parses a decimal: an optional sign, digits with at most one point, an optional exponent,
// and nothing else. It returns false for anything else, for a value that does not fit, and for one
// whose shortest float64 form is another number. PlainDecimal has the exact text of those that are
// numbers.
func ParseDec(text string) (Dec, bool) {
	n, ok := scanNumber(text)
	if !ok {
		return Dec{}, false
	}
	return n.dec()
}

func (n number) dec() (Dec, bool) {
	if n.digits > 19 || n.exp > MaxScale || n.exp < -MaxScale {
		return Dec{}, false
	}
	mantissa, scale := n.mantissa, 0
	if n.exp > 0 {
		high, low := bits.Mul64(mantissa, uint64(pow10[n.exp]))
		if high != 0 {
			return Dec{}, false
		}
		mantissa = low
	} else {
		scale = -n.exp
	}
	if mantissa > math.MaxInt64 {
		return Dec{}, false
	}
	d := Dec{Mantissa: int64(mantissa), Scale: uint8(scale)}
	if n.negative {
		d.Mantissa = -d.Mantissa
	}
	// Up to 15 significant digits survive a float64 for certain.
	if n.digits > 15 && !shortestIs(d.Float(), n) {
		return Dec{}, false
	}
	return d, true
}

// shortestIs reports whether the shortest decimal that parses as f is n.
func shortestIs(f float64, n number) bool {
	var buf [32]byte
	m, ok := scanNumber(string(strconv.AppendFloat(buf[:0], f, 'e', -1, 64)))
	return ok && m == n
}

// PlainDecimal returns a decimal text in plain digits, as TableData needs it in Texts: no exponent,
// no plus sign, no superfluous zero except one before the point. It returns false for a text that
// is not a number as ParseDec parses it, or that is longer than about a thousand digits.
func PlainDecimal(text string) (string, bool) {
	n, ok := scanNumber(text)
	if !ok || n.exp > maxPlain || n.exp < -maxPlain || n.digits > maxPlain {
		return "", false
	}
	if n.digits == 0 {
		return "0", true
	}
	digits := significant(text, n.digits)
	var b strings.Builder
	if n.negative {
		b.WriteByte('-')
	}
	whole := len(digits) + n.exp
	switch {
	case n.exp >= 0:
		b.WriteString(digits)
		b.WriteString(strings.Repeat("0", n.exp))
	case whole > 0:
		b.WriteString(digits[:whole])
		b.WriteByte('.')
		b.WriteString(digits[whole:])
	default:
		b.WriteString("0.")
		b.WriteString(strings.Repeat("0", -whole))
		b.WriteString(digits)
	}
	if b.Len() > maxPlain {
		return "", false
	}
	return b.String(), true
}

// significant returns the n digits of a number's text from the first that is not zero.
func significant(text string, n int) string {
	digits := make([]byte, 0, n)
	for i := 0; len(digits) < n; i++ {
		c := text[i]
		if c >= '1' && c <= '9' || c == '0' && len(digits) > 0 {
			digits = append(digits, c)
		}
	}
	return string(digits)
}

// canonical reports whether d is an ordinary decimal in its only form.
func (d Dec) canonical() bool {
	return d.Scale == 0 || d.Scale <= MaxScale && d.Mantissa%10 != 0
}

// String is the exact value in plain digits: 12.5, 100, 0.00001. It is "null" for null. For an
// exact text, which only the column has (Column.DecString), it is the position.
func (d Dec) String() string {
	switch {
	case d.Scale == DecNull:
		return "null"
	case d.Scale > MaxScale:
		return "text " + strconv.FormatInt(d.Mantissa, 10)
	}
	var buf [48]byte
	return string(d.Append(buf[:0]))
}

// Append appends the exact value of an ordinary decimal in plain digits.
func (d Dec) Append(dst []byte) []byte {
	m := uint64(d.Mantissa)
	if d.Mantissa < 0 {
		dst = append(dst, '-')
		m = -m
	}
	var digits [24]byte
	text := strconv.AppendUint(digits[:0], m, 10)
	whole := len(text) - int(d.Scale)
	if d.Scale == 0 {
		return append(dst, text...)
	}
	if whole > 0 {
		dst = append(dst, text[:whole]...)
		dst = append(dst, '.')
		return append(dst, text[whole:]...)
	}
	dst = append(dst, "0."...)
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

// Float is the float64 nearest to an ordinary decimal.
func (d Dec) Float() float64 {
	const exact = 1 << 53
	if d.Mantissa >= -exact && d.Mantissa <= exact {
		// Both operands are exact floats, so the division rounds once.
		return float64(d.Mantissa) / floatPow10[d.Scale]
	}
	f, err := strconv.ParseFloat(d.String(), 64)
	if err != nil {
		panic("snapshot: decimal does not print as a number: " + d.String())
	}
	return f
}

// Compare orders two ordinary decimals by value: -1, 0 or +1.
func (d Dec) Compare(e Dec) int {
	if (d.Mantissa < 0) != (e.Mantissa < 0) {
		if d.Mantissa < 0 {
			return -1
		}
		return 1
	}
	sign := 1
	a, b := uint64(d.Mantissa), uint64(e.Mantissa)
	if d.Mantissa < 0 {
		sign, a, b = -1, -a, -b
	}
	var highA, highB uint64
	if d.Scale < e.Scale {
		highA, a = bits.Mul64(a, uint64(pow10[e.Scale-d.Scale]))
	} else {
		highB, b = bits.Mul64(b, uint64(pow10[d.Scale-e.Scale]))
	}
	switch {
	case highA < highB || highA == highB && a < b:
		return -sign
	case highA > highB || highA == highB && a > b:
		return sign
	}
	return 0
}

// Rat is the exact value of an ordinary decimal.
func (d Dec) Rat() *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(d.Mantissa), big.NewInt(pow10[d.Scale]))
}
