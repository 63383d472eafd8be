package aggregate

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"hdqs/snapshot"
)

// Kind is what a Value is.
type Kind uint8

// The kinds of Value.
const (
	Null    Kind = iota
	Text         // Text
	Int          // Int, or Text has the digits of an integer that is beyond 64 bits
	Decimal      // Int divided by 10^Scale, or Text has the digits; without superfluous zeros
	Float        // Float: a mean
	Bool         // Int is 0 or 1
	Time         // Int is microseconds since 1970-01-01T00:00:00
	Differ       // no value: the rows of the newest period do not agree (Latest)
)

// Value is a field of a group, or a measure. Texts may point into the segment.
type Value struct {
	Kind  Kind
	Scale uint8
	Int   int64
	Float float64
	Text  string
}

// Append appends the value as text: numbers as exact plain digits, a mean as the shortest decimal
// that reads back as the same float, times as 2006-01-02T15:04:05. Null and Differ are empty.
func (v Value) Append(dst []byte) []byte {
	switch v.Kind {
	case Text:
		return append(dst, v.Text...)
	case Int, Decimal:
		if v.Text != "" {
			return append(dst, v.Text...)
		}
		return snapshot.Dec{Mantissa: v.Int, Scale: v.Scale}.Append(dst)
	case Float:
		return strconv.AppendFloat(dst, v.Float, 'f', -1, 64)
	case Bool:
		return strconv.AppendBool(dst, v.Int != 0)
	case Time:
		return time.UnixMicro(v.Int).UTC().AppendFormat(dst, "2006-01-02T15:04:05.999999")
	}
	return dst
}

// String is the text of Append.
func (v Value) String() string { return string(v.Append(nil)) }

// Number is the float that is nearest to a number.
func (v Value) Number() float64 {
	f, _ := strconv.ParseFloat(v.String(), 64) // beyond all floats it is infinite
	return f
}

// intDecimal is the value of mantissa / 10^scale.
func intDecimal(m int64, scale int, kind Kind) Value {
	for ; scale > 0 && m%10 == 0; scale-- {
		m /= 10
	}
	return Value{Kind: kind, Int: m, Scale: uint8(scale)}
}

// bigDecimal is the value of mantissa / 10^scale.
func bigDecimal(mantissa *big.Int, scale int, kind Kind) Value {
	if mantissa.IsInt64() && scale <= snapshot.MaxScale {
		return intDecimal(mantissa.Int64(), scale, kind)
	}
	return Value{Kind: kind, Text: plain(mantissa.String(), scale)}
}

// plain is the digits of an integer divided by 10^scale, without zeros at the end of the fraction.
func plain(digits string, scale int) string {
	if scale == 0 {
		return digits
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, fraction := digits[:len(digits)-scale], strings.TrimRight(digits[len(digits)-scale:], "0")
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}

// bigMean is the value of mantissa / 10^scale / n, rounded once.
func bigMean(mantissa *big.Int, scale int, n uint32) Value {
	denominator := new(big.Int).Mul(pow10(scale), big.NewInt(int64(n)))
	quotient := new(big.Rat).SetFrac(mantissa, denominator)
	f, _ := quotient.Float64()
	if math.IsInf(f, 0) {
		// Beyond a float's range: the digits of the nearest number with as many bits.
		text := new(big.Float).SetPrec(53).SetRat(quotient).Text('f', 0)
		return Value{Kind: Decimal, Text: text}
	}
	return Value{Kind: Float, Float: f}
}

func pow10(n int) *big.Int {
	if n < len(powers) {
		return big.NewInt(powers[n])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
