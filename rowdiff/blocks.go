package rowdiff

import "math"

// block is neighbouring rows of a state with one value of the first column of the key, or all of
// its rows.
type block struct {
	lead     uint64
	from, to uint32 // row ids; only passing rows count
}

// blocks are the rows of a state that pass, in blocks.
type blocks struct {
	list   []block
	byLead map[uint64]int // positions in list
}

// whole makes one block of all rows.
func (b *blocks) whole(rows int) {
	b.list, b.byLead = b.list[:0], map[uint64]int{}
	if rows > 0 {
		b.list = append(b.list, block{to: uint32(rows)})
		b.byLead[0] = 0
	}
}

// find divides the passing rows of a state into blocks. It reports false if the rows of one value
// are not all next to each other.
func (b *blocks) find(l *list, s *source) bool {
	b.list, b.byLead = b.list[:0], map[uint64]int{}
	var space [windowRows]uint64
	for rows := range l.batches(0, math.MaxUint32) {
		words := space[:rows.Len()]
		s.read(words, rows)
		for i, row := range rows.IDs() {
			if last := len(b.list) - 1; last >= 0 && b.list[last].lead == words[i] {
				b.list[last].to = row + 1
				continue
			}
			if _, twice := b.byLead[words[i]]; twice {
				return false
			}
			b.byLead[words[i]] = len(b.list)
			b.list = append(b.list, block{words[i], row, row + 1})
		}
	}
	return true
}
