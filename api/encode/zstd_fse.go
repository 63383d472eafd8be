package encode

import "math/bits"

// fseTable is a finite-state entropy code (RFC 8878, 4.1): a state machine in which frequent
// symbols take fewer bits. Its memory is reused.
type fseTable struct {
	log     uint                   // of the number of states
	norm    []int16                // share of the states of each symbol; -1 is a share of less than one
	next    [1 << maxFSELog]uint16 // the states, grouped by symbol
	change  [64]fseChange
	symbols [1 << maxFSELog]uint8
}

// fseChange is the effect of a symbol on the state: some low bits are written, and the others plus
// find are the index of the next state.
type fseChange struct {
	bits uint32 // plus the state, shifted right by 16, is the number of bits to write
	find uint32 // modulo 1<<maxFSELog
}

const maxFSELog = 9

// build makes a table of at most 1<<log states for counts of symbols. A table needs two symbols, so
// it raises counts of 0 until there are two.
func (t *fseTable) build(counts []uint32, log uint) {
	symbols := used(counts)
	for s := 0; symbols < 2; s++ {
		if counts[s] == 0 {
			counts[s] = 1
			symbols++
		}
	}
	total, last := uint32(0), 0
	for s, n := range counts {
		if total += n; n > 0 {
			last = s
		}
	}
	// A quarter as many states as symbols to code is enough, as in the reference encoder.
	t.log = min(log, max(5, uint(max(bits.Len32(total)-2, bits.Len(uint(2*symbols-1))))))
	t.normalize(counts[:last+1], total)
	t.spread()
}

// used returns how many counts are above 0.
func used(counts []uint32) (n int) {
	for _, c := range counts {
		if c > 0 {
			n++
		}
	}
	return n
}

// normalize divides the states among the symbols in proportion to counts, at least one each.
func (t *fseTable) normalize(counts []uint32, total uint32) {
	t.norm = t.norm[:0]
	left, largest := 1<<t.log, 0
	for s, n := range counts {
		share := int(uint64(n) << t.log / uint64(total))
		if n > 0 && share == 0 {
			share = 1
		}
		t.norm = append(t.norm, int16(share))
		if left -= share; n > counts[largest] {
			largest = s
		}
	}
	// The most frequent symbol gets what rounding left over. What is missing is taken from
	// whichever share is the largest.
	for left < 0 {
		for s, n := range t.norm {
			if n > t.norm[largest] {
				largest = s
			}
		}
		t.norm[largest]--
		left++
	}
	t.norm[largest] += int16(left)
}

// spread assigns the states to the symbols as decoders do, and builds next and change.
func (t *fseTable) spread() {
	size := 1 << t.log
	mask, stride := size-1, size>>1+size>>3+3
	high := size // the states from here on belong to symbols with a share of -1, one each
	for s, n := range t.norm {
		if n < 0 {
			high--
			t.symbols[high] = uint8(s)
		}
	}
	at := 0
	for s, n := range t.norm {
		for range n {
			t.symbols[at] = uint8(s)
			for at = (at + stride) & mask; at >= high; at = (at + stride) & mask {
			}
		}
	}
	var starts [64]int
	total := 0
	for s, n := range t.norm {
		starts[s] = total
		c := &t.change[s]
		switch {
		case n == 0:
			*c = fseChange{}
		case n == 1, n < 0:
			n = 1
			*c = fseChange{uint32(t.log<<16) - uint32(size), uint32(total - 1)}
		default:
			most := t.log - uint(bits.Len16(uint16(n-1))-1)
			*c = fseChange{uint32(most<<16) - uint32(n)<<most, uint32(total) - uint32(n)}
		}
		total += int(n)
	}
	for i, s := range t.symbols[:size] {
		t.next[starts[s]] = uint16(size + i)
		starts[s]++
	}
}

// first returns the state to begin with so that symbol is decoded last.
func (t *fseTable) first(symbol uint8) uint32 {
	c := t.change[symbol]
	n := (c.bits + 1<<15) >> 16
	return uint32(t.next[((n<<16-c.bits)>>n+c.find)&(1<<maxFSELog-1)])
}

// step encodes symbol: it returns the bits to write, how many they are, and the next state.
func (t *fseTable) step(state uint32, symbol uint8) (out uint64, n uint, next uint32) {
	c := t.change[symbol&63]
	k := (state + c.bits) >> 16
	return uint64(state & (1<<(k&31) - 1)), uint(k), uint32(t.next[(state>>(k&31)+c.find)&(1<<maxFSELog-1)])
}

// mark returns the form in which the last state is written, in log bits.
func (t *fseTable) mark(state uint32) uint64 { return uint64(state) & (1<<t.log - 1) }

// appendTo appends the description of the table.
func (t *fseTable) appendTo(dst []byte) []byte {
	var acc uint64
	nbits := uint(0)
	write := func(v, n int) {
		acc |= uint64(v) << nbits
		for nbits += uint(n); nbits >= 8; nbits -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	write(int(t.log)-5, 4)
	remaining, threshold, width := 1<<t.log+1, 1<<t.log, int(t.log)+1
	for s := 0; s < len(t.norm) && remaining > 1; {
		n := int(t.norm[s])
		s++
		small := 2*threshold - 1 - remaining
		remaining -= n
		v, size := n+1, width
		if v >= threshold {
			v += small
		}
		if v < small {
			size--
		}
		write(v, size)
		for remaining < threshold && threshold > 1 {
			width--
			threshold >>= 1
		}
		if n == 0 { // a run of symbols that do not occur
			run := 0
			for s+run < len(t.norm) && t.norm[s+run] == 0 {
				run++
			}
			s += run
			for ; run >= 3; run -= 3 {
				write(3, 2)
			}
			write(run, 2)
		}
	}
	if nbits > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}
