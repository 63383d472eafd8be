package index

import (
	"encoding/binary"
	"strings"
)

// patterns are the values of a Like or Contains filter. A text matches one of several. They never
// change once compiled.
type patterns struct {
	others []*pattern

	// literals are the Like patterns without wildcards, folded, where there are many values: one
	// pass over the dictionary is then cheaper than a search for each. marked has a bit for each of
	// them by tailHash, so that the pass looks up few other texts.
	literals map[string]struct{}
	marked   codeSet
}

// manyLiterals is the number of values from which on they are looked up in one pass.
const manyLiterals = 4

// compilePatterns compiles the values of a Like or Contains filter.
func compilePatterns(op Op, values []Value) patterns {
	var p patterns
	isLiteral := func(text string) bool {
		return op == Like && len(values) >= manyLiterals && text != "" && !strings.ContainsAny(text, "%_\\\x00")
	}
	var folded []byte
	for i := range values {
		text := values[i].Text
		if !isLiteral(text) {
			p.others = append(p.others, compilePattern(op, text))
			continue
		}
		if p.literals == nil {
			p.literals, p.marked = make(map[string]struct{}, len(values)), newCodeSet(1<<tailBits)
		}
		folded = appendFold(folded[:0], text)
		p.literals[string(folded)] = struct{}{}
		var tail [8]byte
		copy(tail[max(0, 8-len(folded)):], folded[max(0, len(folded)-8):])
		p.marked.add(tailHash(binary.LittleEndian.Uint64(tail[:]), len(folded)))
	}
	return p
}

// tailBits is the number of bits of a tailHash.
const tailBits = 14

// tailHash is a hash of a text's length and last eight bytes, the last of which is the highest in
// tail. If the text is shorter, the lower bytes of tail do not count.
func tailHash(tail uint64, length int) uint32 {
	if length < 8 {
		tail = tail >> (8 * (8 - length)) << (8 * (8 - length))
	}
	return uint32((tail + uint64(length)) * 0x9E3779B97F4A7C15 >> (64 - tailBits))
}

// mayBeLiteral reports whether a text with this tail and length may be one of the literals.
func (p *patterns) mayBeLiteral(tail uint64, length int) bool {
	return p.marked.has(tailHash(tail, length))
}

// match reports whether folded text matches.
func (p *patterns) match(folded string) bool {
	if _, has := p.literals[folded]; has {
		return true
	}
	for _, one := range p.others {
		if one.match(folded) {
			return true
		}
	}
	return false
}
