package index

import "hash/maphash"

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
