package find

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

// numbered are texts, each with a number, in the order in which they were added. A map of Go takes
// twice the time: for half of the texts it is asked once.
type numbered struct {
	texts []string
	slots []slot // a text is in the first one from its hash on that was free
}

// slot has a number and one, zero if it is free.
type slot struct{ hash, next uint32 }

var seed = maphash.MakeSeed()

// find returns the number of a text, or none, and the slot that it has or could have.
func (t *numbered) find(text string, hash uint32) (number int32, at uint32) {
	last := uint32(len(t.slots) - 1)
	for at = hash & last; t.slots[at].next != 0; at = (at + 1) & last {
		if s := t.slots[at]; s.hash == hash && t.texts[s.next-1] == text {
			return int32(s.next - 1), at
		}
	}
	return none, at
}

// of returns the number of a text, or none.
func (t *numbered) of(text string) int32 {
	if t.slots == nil {
		return none
	}
	number, _ := t.find(text, uint32(maphash.String(seed, text)))
	return number
}

// add returns the number of a text, which isNew if it is the first time.
func (t *numbered) add(text string) (number int32, isNew bool) {
	if 4*len(t.texts) >= 3*len(t.slots) {
		t.grow(max(64, 2*len(t.slots)))
	}
	hash := uint32(maphash.String(seed, text))
	number, at := t.find(text, hash)
	if number != none {
		return number, false
	}
	t.texts = append(t.texts, text)
	t.slots[at] = slot{hash, uint32(len(t.texts))}
	return int32(len(t.texts) - 1), true
}

// grow makes more slots, a power of two.
func (t *numbered) grow(slots int) {
	old := t.slots
	t.slots = make([]slot, slots)
	last := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.next != 0 {
			at := s.hash & last
			for t.slots[at].next != 0 {
				at = (at + 1) & last
			}
			t.slots[at] = s
		}
	}
}

// grouping groups entries by texts.
type grouping struct {
	numbered
	last []int32 // by number: the last entry
	uses []use
}

// expect makes room for about so many texts.
func (g *grouping) expect(texts int) {
	g.grow(1 << bits.Len(uint(texts)))
	g.texts, g.last = make([]string, 0, texts), make([]int32, 0, texts)
	g.uses = make([]use, 0, 2*texts)
}

// use is an entry with a text.
type use struct{ text, id int32 }

// add adds an entry, which is no less than earlier ones, to those with a text.
func (g *grouping) add(text string, id int32) {
	n, isNew := g.numbered.add(text)
	if isNew {
		g.last = append(g.last, none)
	}
	if g.last[n] != id {
		g.last[n], g.uses = id, append(g.uses, use{n, id})
	}
}

// sorted returns the texts in order, and the rank of each number.
func (g *grouping) sorted() (texts []string, ranks []int32) {
	type beginning struct {
		bytes  uint64 // the first ones, which nearly always differ
		number int32
	}
	order := make([]beginning, len(g.texts))
	for i, text := range g.texts {
		var first [8]byte
		copy(first[:], text)
		order[i] = beginning{binary.BigEndian.Uint64(first[:]), int32(i)}
	}
	slices.SortFunc(order, func(a, b beginning) int {
		if a.bytes != b.bytes {
			return cmp.Compare(a.bytes, b.bytes)
		}
		return strings.Compare(g.texts[a.number], g.texts[b.number])
	})
	texts, ranks = make([]string, len(order)), make([]int32, len(order))
	for i, of := range order {
		texts[i], ranks[of.number] = g.texts[of.number], int32(i)
	}
	return texts, ranks
}

// groups are the entries of each text, in the order of ranks, or without them of numbers.
func (g *grouping) groups(ranks []int32) groups {
	at := func(u use) int32 {
		if ranks == nil {
			return u.text
		}
		return ranks[u.text]
	}
	all := groups{make([]int32, len(g.last)+1), make([]int32, len(g.uses))}
	for _, u := range g.uses {
		all.ends[at(u)+1]++
	}
	for i := range g.last {
		all.ends[i+1] += all.ends[i]
	}
	next := slices.Clone(all.ends)
	for _, u := range g.uses {
		all.ids[next[at(u)]] = u.id
		next[at(u)]++
	}
	return all
}

// groups are entries, ascending in each group.
type groups struct {
	ends []int32 // of the groups before
	ids  []int32
}

func (g groups) at(i int32) []int32 { return g.ids[g.ends[i]:g.ends[i+1]] }
