package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The text rules, for Like and Contains:
//   - case is folded rune by rune with unicode.ToLower, on both sides, and bytes that are not UTF-8
//     count as U+FFFD each;
//   - % matches any number of runes, also zero, _ exactly one, \ makes the next rune literal; a
//     lone \ at the end is literal;
//   - Like compares the whole text, Contains looks for the pattern anywhere in it;
//   - a pattern with a NUL matches nothing.

// pattern is a compiled Like or Contains value. It never changes, so goroutines may share it.
type pattern struct {
	parts    []fragment // between the % signs, in order, never empty
	openHead bool       // any text may come before the first part
	openTail bool       // any text may come after the last part
	never    bool       // nothing matches
}

// fragment is a part of a pattern without %. It matches a fixed number of runes.
type fragment struct {
	pieces []piece
	runes  int
}

// piece is a number of _ followed by literal text, folded.
type piece struct {
	skip int
	lit  string
}

// compilePattern compiles the value of a Like or Contains filter.
func compilePattern(op Op, value string) *pattern {
	p := &pattern{openHead: op == Contains, openTail: op == Contains}
	if strings.IndexByte(value, 0) >= 0 {
		p.never = true
		return p
	}
	var cur fragment
	var lit []byte
	skip := 0
	endPiece := func() {
		if skip > 0 || len(lit) > 0 {
			cur.pieces = append(cur.pieces, piece{skip, string(lit)})
		}
		skip, lit = 0, lit[:0]
	}
	endPart := func() {
		endPiece()
		if cur.runes > 0 {
			p.parts = append(p.parts, cur)
		}
		cur = fragment{}
	}
	trailing := false // the last thing read was %
	runes := []rune(value)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		trailing = false
		switch {
		case r == '%':
			endPart()
			if len(p.parts) == 0 {
				p.openHead = true
			}
			trailing = true
			continue
		case r == '_':
			if len(lit) > 0 {
				endPiece()
			}
			skip++
			cur.runes++
			continue
		case r == '\\' && i+1 < len(runes):
			i++
			r = runes[i]
		}
		lit = utf8.AppendRune(lit, unicode.ToLower(r))
		cur.runes++
	}
	endPart()
	p.openTail = p.openTail || trailing
	return p
}

// literal returns the text of a pattern without wildcards, or else its longest literal piece, which
// every match contains; whole reports which.
func (p *pattern) literal() (lit string, whole bool) {
	for _, part := range p.parts {
		for _, pc := range part.pieces {
			if len(pc.lit) > len(lit) {
				lit = pc.lit
			}
		}
	}
	whole = len(p.parts) == 1 && len(p.parts[0].pieces) == 1 && p.parts[0].pieces[0].skip == 0
	return lit, whole
}

// start returns the literal text with which every match begins, if there is any.
func (p *pattern) start() string {
	if p.openHead || len(p.parts) == 0 || p.parts[0].pieces[0].skip > 0 {
		return ""
	}
	return p.parts[0].pieces[0].lit
}

// match reports whether folded text matches. Each part is placed leftmost, one after the other. A
// part has a fixed length in runes, so the leftmost place also ends first, and backtracking is
// never needed.
func (p *pattern) match(folded string) bool {
	if p.never {
		return false
	}
	if len(p.parts) == 0 {
		return p.openHead || p.openTail || folded == ""
	}
	parts, rest := p.parts, folded
	if !p.openHead {
		end := parts[0].matchAt(rest)
		if end < 0 {
			return false
		}
		if len(parts) == 1 && !p.openTail {
			return end == len(rest)
		}
		parts, rest = parts[1:], rest[end:]
	}
	var last *fragment
	if !p.openTail && len(parts) > 0 {
		last, parts = &parts[len(parts)-1], parts[:len(parts)-1]
	}
	for i := range parts {
		end := parts[i].find(rest)
		if end < 0 {
			return false
		}
		rest = rest[end:]
	}
	if last == nil { // the tail is open
		return true
	}
	at := len(rest)
	for range last.runes {
		if at == 0 {
			return false
		}
		_, n := utf8.DecodeLastRuneInString(rest[:at])
		at -= n
	}
	return last.matchAt(rest[at:]) >= 0
}

// matchAt matches the fragment at the start of text and returns the end of the match, -1 without
// one.
func (f *fragment) matchAt(text string) int {
	at := 0
	for i := range f.pieces {
		pc := &f.pieces[i]
		for range pc.skip {
			if at == len(text) {
				return -1
			}
			_, n := utf8.DecodeRuneInString(text[at:])
			at += n
		}
		if !strings.HasPrefix(text[at:], pc.lit) {
			return -1
		}
		at += len(pc.lit)
	}
	return at
}

// find returns the end of the leftmost match of the fragment in text, -1 without one.
func (f *fragment) find(text string) int {
	first := &f.pieces[0]
	for at := 0; ; {
		if first.skip == 0 {
			i := strings.Index(text[at:], first.lit)
			if i < 0 {
				return -1
			}
			at += i
		}
		if end := f.matchAt(text[at:]); end >= 0 {
			return at + end
		}
		if at == len(text) {
			return -1
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
}

// appendFold appends text in folded form, which is valid UTF-8 even if the text is not.
func appendFold(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			for _, r := range text[i:] {
				dst = utf8.AppendRune(dst, unicode.ToLower(r))
			}
			return dst
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
