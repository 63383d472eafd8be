package iceberg

import (
	"bytes"
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
	Timestamp Type = "timestamp" // microseconds since 1970-01-01T00:00:00, without a zone
)

var known = map[Type]bool{String: true, Boolean: true, Long: true, Double: true, Timestamp: true}

// less compares two bounds. Parquet has numbers in the same form as manifests.
func less(of Type, a, b []byte) bool {
	switch of {
	case Long, Timestamp:
		return int64(binary.LittleEndian.Uint64(a)) < int64(binary.LittleEndian.Uint64(b))
	case Double:
		return math.Float64frombits(binary.LittleEndian.Uint64(a)) < math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return bytes.Compare(a, b) < 0
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
