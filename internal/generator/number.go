package generator

import (
	"bytes"
	"math"
	"strconv"
)

// number is a decimal in the notation of a provider.
type number struct {
	form  byte
	scale uint8
	n     int64
	f     float64
}

const (
	noNumber = iota
	fixed    // n / 10^scale with all digits: 7.1230
	trimmed  // the same without trailing zeros: 51.426
	single   // f in the shortest form of 32 bits, exponent form below 1e-4
	double   // f in the shortest form of 64 bits, exponent form below 1e-4
	asText   // oddities[scale]
)

// oddities are rare notations of decimals that a loader must read.
var oddities = []string{"1e-05", "2.5E-4", "12.50", "1.25e1", "0.0000000001"}

func fix(n, scale int) number     { return number{form: fixed, n: int64(n), scale: uint8(scale)} }
func trim(n, scale int) number    { return number{form: trimmed, n: int64(n), scale: uint8(scale)} }
func floating(f float64) number   { return number{form: double, f: f} }
func floating32(f float64) number { return number{form: single, f: float64(float32(f))} }
func oddity(i int) number         { return number{form: asText, scale: uint8(i)} }
func (n number) isNull() bool     { return n.form == noNumber }
func round(f float64, by int) int { return int(math.Round(f * float64(pow10(by)))) }
func pow10(by int) int64          { return [...]int64{1, 10, 100, 1000, 10000, 100000, 1000000}[by] }

func (n number) append(b []byte) []byte {
	switch n.form {
	case single:
		return appendFloat(b, n.f, 32)
	case double:
		return appendFloat(b, n.f, 64)
	case asText:
		return append(b, oddities[n.scale]...)
	}
	b = strconv.AppendFloat(b, float64(n.n)/float64(pow10(int(n.scale))), 'f', int(n.scale), 64)
	if n.form == trimmed && n.scale > 0 {
		b = bytes.TrimRight(bytes.TrimRight(b, "0"), ".")
	}
	return b
}

// appendFloat prints as Python does, which writes the real files: 1e-05, 0.0001, 12.0.
func appendFloat(b []byte, f float64, bits int) []byte {
	if a := math.Abs(f); a != 0 && a < 1e-4 {
		return strconv.AppendFloat(b, f, 'e', -1, bits)
	}
	before := len(b)
	if b = strconv.AppendFloat(b, f, 'f', -1, bits); bytes.IndexByte(b[before:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}
