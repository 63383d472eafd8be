package index

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sort"
	"strings"
	"unsafe"
)

// foldedTexts is a dictionary in folded form, in one slice of bytes, to be searched as a whole.
// There is a NUL before each text and after the last. A literal of a pattern never has a NUL, so it
// cannot match across two texts. It never changes.
type foldedTexts struct {
	bytes  []byte
	starts []int    // of each text, and one more: text i ends at starts[i+1]-1
	sorted bool     // the texts are in order in folded form, too
	counts [256]int // how often each byte occurs
}

// foldTexts folds n texts.
func foldTexts(n int, text func(code uint32) string) *foldedTexts {
	size := 1
	for i := range n {
		size += len(text(uint32(i))) + 1
	}
	f := &foldedTexts{bytes: make([]byte, 1, size), starts: make([]int, n+1), sorted: true}
	for i := range n {
		f.starts[i] = len(f.bytes)
		f.bytes = append(appendFold(f.bytes, text(uint32(i))), 0)
	}
	f.starts[n] = len(f.bytes)
	for i := 1; i < n && f.sorted; i++ {
		f.sorted = f.text(i-1) <= f.text(i)
	}
	for _, c := range f.bytes {
		f.counts[c]++
	}
	return f
}

// size is the memory in bytes.
func (f *foldedTexts) size() int { return cap(f.bytes) + 8*cap(f.starts) }

// text returns one folded text.
func (f *foldedTexts) text(code int) string {
	b := f.bytes[f.starts[code] : f.starts[code+1]-1]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// searchAny adds the codes of the texts that match one of several patterns. slots finds literals.
func (f *foldedTexts) searchAny(p *patterns, slots textSlots, into codeSet) {
	for _, one := range p.single {
		f.search(one, into)
	}
	for _, text := range p.literals {
		slots.find(f, text, into)
	}
	if len(p.windows) > 0 {
		f.searchWindows(p, into)
	}
}

// searchWindows adds the codes of the texts that match one of the patterns that are found by a
// window.
func (f *foldedTexts) searchWindows(p *patterns, into codeSet) {
	code := 0
	for at := 0; at+windowSize <= len(f.bytes); at++ {
		window := binary.LittleEndian.Uint32(f.bytes[at:])
		if !p.windowMarked.has(windowHash(window)) {
			continue
		}
		found := p.windows[window]
		if len(found) == 0 {
			continue
		}
		for f.starts[code+1] <= at {
			code++
		}
		for _, one := range found {
			if one.match(f.text(code)) {
				into.add(uint32(code))
				at = f.starts[code+1] - 2 // the rest of the text does not matter
				break
			}
		}
	}
}

// search adds the codes of the texts that match p.
func (f *foldedTexts) search(p *pattern, into codeSet) {
	lit, whole := p.literal()
	switch {
	case p.never || len(f.starts) == 1:
	case f.sorted && p.start() != "":
		start, n := p.start(), len(f.starts)-1
		code := sort.Search(n, func(code int) bool { return f.text(code) >= start })
		for ; code < n && strings.HasPrefix(f.text(code), start); code++ {
			if p.match(f.text(code)) {
				into.add(uint32(code))
			}
		}
	case lit == "":
		for code := range len(f.starts) - 1 {
			if p.match(f.text(code)) {
				into.add(uint32(code))
			}
		}
	case whole && p.openHead && p.openTail:
		f.searchLiteral(lit, nil, into)
	case whole && !p.openHead && !p.openTail && f.counts[0] == len(f.starts): // no text has a NUL
		f.searchLiteral("\x00"+lit+"\x00", nil, into)
	default:
		f.searchLiteral(lit, func(code int) bool { return p.match(f.text(code)) }, into)
	}
}

// searchLiteral adds the codes of the texts that contain needle and that accept, if set, accepts.
// It compares 32 positions at once with the two rarest bytes of the needle, at their distance, and
// the whole needle only where both match.
func (f *foldedTexts) searchLiteral(needle string, accept func(code int) bool, into codeSet) {
	k1, k2 := f.rarest(needle)
	places := len(f.bytes) - len(needle) + 1 // number of positions where a match can start
	if places <= 0 {
		return
	}
	// first[i] and second[i] are the two bytes of a match that starts at i.
	first, second := f.bytes[k1:k1+places], f.bytes[k2:k2+places]
	c1, c2 := uint64(needle[k1])*lowBits, uint64(needle[k2])*lowBits
	for at, code := 0, 0; ; {
		var sure bool
		if at, sure = nextPlace(first, second, at, c1, c2); at >= places {
			return
		}
		// A needle of one or two bytes has been compared already.
		if !(sure && len(needle) <= 2) && string(f.bytes[at:at+len(needle)]) != needle {
			at++
			continue
		}
		for f.starts[code+1] <= at+min(1, len(needle)-1) {
			code++
		}
		if accept == nil || accept(code) {
			into.add(uint32(code))
		}
		// Continue after this text, but with its closing NUL: the needle of a whole text starts
		// with one.
		at = max(f.starts[code+1]-1, at+1)
	}
}

// nextPlace returns the first position from at on where first has the byte of c1 and second that of
// c2. The last few positions, too few for a word, are returned unseen, with sure false. The
// positions nearby are tried first: hits often come close together.
func nextPlace(first, second []byte, at int, c1, c2 uint64) (place int, sure bool) {
	for near := at + 32; at < near && at+8 <= len(first); at += 8 {
		if found := pairBits(first[at:], second[at:], c1, c2); found != 0 {
			return at + bits.TrailingZeros64(found)/8, true
		}
	}
	for ; at+32 <= len(first); at += 32 {
		a, b := first[at:at+32:at+32], second[at:at+32:at+32]
		found := pairBits(a[:8], b[:8], c1, c2) | pairBits(a[8:16], b[8:16], c1, c2) |
			pairBits(a[16:24], b[16:24], c1, c2) | pairBits(a[24:], b[24:], c1, c2)
		if found != 0 {
			break
		}
	}
	for ; at+8 <= len(first); at += 8 {
		if found := pairBits(first[at:], second[at:], c1, c2); found != 0 {
			return at + bits.TrailingZeros64(found)/8, true
		}
	}
	return at, false
}

const lowBits, highBits = 0x0101010101010101, 0x8080808080808080

// pairBits sets a bit in each of eight positions where a has the byte of c1 and b that of c2.
// Positions after the first such may have a bit without a match.
func pairBits(a, b []byte, c1, c2 uint64) uint64 {
	x := (binary.LittleEndian.Uint64(a) ^ c1) | (binary.LittleEndian.Uint64(b) ^ c2)
	return (x - lowBits) &^ x & highBits
}

// rarest returns the positions of the two bytes of the needle that are rarest in the dictionary:
// the same position twice for a needle of one byte.
func (f *foldedTexts) rarest(needle string) (k1, k2 int) {
	k2 = -1
	for k := range len(needle) {
		switch n := f.counts[needle[k]]; {
		case k == k1:
		case n < f.counts[needle[k1]]:
			k1, k2 = k, k1
		case k2 < 0 || n < f.counts[needle[k2]]:
			k2 = k
		}
	}
	if k2 < 0 {
		k2 = k1
	}
	return k1, k2
}

// textSlots finds folded texts by their hash: a table with open addressing of codes plus 1, of
// which 0 is an empty slot. Its length is a power of two, and at least a third of it is empty.
type textSlots []uint32

var slotSeed = maphash.MakeSeed()

// slotCount is the length of the table for n texts.
func slotCount(n int) int {
	count := 8
	for 2*count < 3*n {
		count *= 2
	}
	return count
}

// newTextSlots makes the table of a dictionary.
func newTextSlots(f *foldedTexts) textSlots {
	n := len(f.starts) - 1
	s := make(textSlots, slotCount(n))
	for code := range n {
		at := s.first(f.text(code))
		for s[at] != 0 {
			at = (at + 1) & (len(s) - 1)
		}
		s[at] = uint32(code) + 1
	}
	return s
}

// first is the slot where the search for a text begins.
func (s textSlots) first(text string) int {
	return int(maphash.String(slotSeed, text) & uint64(len(s)-1))
}

// find adds the codes of the texts that are equal to one when folded.
func (s textSlots) find(f *foldedTexts, text string, into codeSet) {
	for at := s.first(text); s[at] != 0; at = (at + 1) & (len(s) - 1) {
		if code := s[at] - 1; f.text(int(code)) == text {
			into.add(code)
		}
	}
}
