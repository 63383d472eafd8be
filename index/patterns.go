package index

import (
	"encoding/binary"
	"unsafe"
)

// patterns are the values of a Like or Contains filter. A text matches one of several. They never
// change once compiled.
type patterns struct {
	// Where there are many values, a pass over the dictionary for each takes too long. literals are
	// the Like patterns without wildcards, folded, which are looked up.
	literals []string

	// The others with a literal of windowSize bytes anywhere are found by its last bytes: windows
	// has them by those, and windowMarked a bit for each by windowHash. What remains is searched
	// one by one.
	windows      map[uint32][]*pattern
	windowMarked codeSet
	single       []*pattern
}

// manyLiterals is the number of values from which on they are looked up, not searched.
const manyLiterals = 4

// windowSize is the number of bytes by which a literal is found inside of texts.
const windowSize = 4

// windowHash is a hash of the bytes of a window.
func windowHash(window uint32) uint32 { return window * 0x9E3779B1 >> (32 - windowBits) }

// windowBits is the number of bits of a windowHash.
const windowBits = 16

// compilePatterns compiles the values of a Like or Contains filter. sorted is that of the
// dictionary.
func compilePatterns(op Op, values []Value, sorted bool) patterns {
	var p patterns
	isLiteral := func(text string) bool {
		if op != Like || len(values) < manyLiterals || text == "" {
			return false
		}
		for i := range len(text) {
			switch text[i] {
			case '%', '_', '\\', 0:
				return false
			}
		}
		return true
	}
	var others []*pattern
	var folded []byte // of all literals
	var ends []int
	for i := range values {
		text := values[i].Text
		if !isLiteral(text) {
			others = append(others, compilePattern(op, text))
			continue
		}
		if ends == nil {
			ends = make([]int, 0, len(values))
		}
		folded = appendFold(folded, text)
		ends = append(ends, len(folded))
	}
	if len(ends) > 0 {
		p.literals = make([]string, len(ends))
		from, all := 0, unsafe.String(unsafe.SliceData(folded), len(folded))
		for i, end := range ends {
			p.literals[i], from = all[from:end], end
		}
	}
	if p.single = others; len(others) > 0 && len(values) >= manyLiterals {
		p.divide(others, sorted)
	}
	return p
}

// divide finds out which bytes the matches of each pattern must have. Where texts are sorted, those
// that begin with a literal are looked up one by one.
func (p *patterns) divide(others []*pattern, sorted bool) {
	p.single = nil
	p.windows, p.windowMarked = make(map[uint32][]*pattern), newCodeSet(1<<windowBits)
	for _, one := range others {
		switch literal, _ := one.literal(); {
		case one.never:
		case len(literal) >= windowSize && !(sorted && one.start() != ""):
			window := binary.LittleEndian.Uint32([]byte(literal[len(literal)-windowSize:]))
			p.windows[window] = append(p.windows[window], one)
			p.windowMarked.add(windowHash(window))
		default:
			p.single = append(p.single, one)
		}
	}
}
