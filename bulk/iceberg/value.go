package iceberg

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// Type is the Iceberg type of a column.
type Type string

// The types of columns.
const (
	String    Type = "string"
	Boolean   Type = "boolean"
	Long      Type = "long"
	Double    Type = "double"
	Timestamp Type = "timestamptz" // microseconds since 1970-01-01T00:00:00Z
	Binary    Type = "binary"
)

var known = map[Type]bool{String: true, Boolean: true, Long: true, Double: true, Timestamp: true, Binary: true}

// Int returns a Long or a Timestamp as manifests have it.
func Int(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }

// Float returns a Double as manifests have it.
func Float(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }

// Bool returns a Boolean as manifests have it.
func Bool(v bool) []byte {
	if v {
		return []byte{1}
	}
	return []byte{0}
}

// maxBound is how many characters of a text a bound keeps, as in other writers.
const maxBound = 16

// Least returns a lower bound of texts whose smallest is v.
func Least(v string) []byte {
	short, _ := cut(v)
	return []byte(short)
}

// Most returns an upper bound of texts whose largest is v, nil if there is no short one.
func Most(v string) []byte {
	short, all := cut(v)
	if all {
		return []byte(short)
	}
	// Any text that begins with short is less than short with its last character incremented.
	runes := []rune(short)
	for i := len(runes) - 1; i >= 0; i-- {
		next := runes[i] + 1
		if next == 0xD800 { // the code points of surrogates are no characters
			next = 0xE000
		}
		if next <= utf8.MaxRune {
			return []byte(string(append(runes[:i], next)))
		}
	}
	return nil
}

// cut returns the first characters of a text, and whether they are all of it.
func cut(v string) (short string, all bool) {
	n := 0
	for i := range v {
		if n == maxBound {
			return v[:i], false
		}
		n++
	}
	return v, true
}
