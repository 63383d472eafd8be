package encode

import "math/bits"

// fseTable codes one of the three kinds of codes of zstd's sequences (RFC 8878, 4.1): a state machine in which frequent codes take fewer bits. Its
// memory is reused.
type fseTable struct {
	counts [64]uint32 // of each code

	single bool // there is one code, which takes no bits
	symbol uint8

	log     uint // of the number of states
	norm    []int16
	next    []uint16 // the states, for the codes in turn
	change  [64]fseChange
	symbols [1 << maxFSELog]uint8
}

// fseChange is how a code changes the state: bits go out, and the rest tells where in next to look.
type fseChange struct {
	bits uint32 // added to a state, it has the number of bits above its lower 16
	find int32
}

const maxFSELog = 9

// build makes a table for counts, of at most 1<<log states.
func (t *fseTable) build(log uint) {
	total, used, last := uint32(0), 0, 0
	for s, n := range t.counts {
		if total += n; n > 0 {
			used++
			last = s
		}
	}
	t.single, t.symbol = used <= 1, uint8(last)
	if t.log = 0; t.single {
		return
	}
	t.log = min(log, max(5, uint(bits.Len32(total))))
	for 1<<t.log < 2*used {
		t.log++
	}
	t.normalize(t.counts[:last+1], total)
	t.spread()
}

// normalize shares the states out among the codes, at least one each.
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
	// What rounding left goes to the largest; what it took too much comes from the largest in turn.
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

// spread lays the codes over the states as decoders do, and makes what step needs.
func (t *fseTable) spread() {
	size := 1 << t.log
	mask, stride := size-1, size>>1+size>>3+3
	at := 0
	for s, n := range t.norm {
		for range n {
			t.symbols[at] = uint8(s)
			at = (at + stride) & mask
		}
	}
	if cap(t.next) < size {
		t.next = make([]uint16, 1<<maxFSELog)
	}
	t.next = t.next[:size]
	var starts [64]int
	total := 0
	for s, n := range t.norm {
		starts[s] = total
		c := &t.change[s]
		switch {
		case n == 0:
			*c = fseChange{}
		case n == 1:
			*c = fseChange{uint32(t.log<<16) - uint32(size), int32(total - 1)}
		default:
			most := t.log - uint(bits.Len16(uint16(n-1))-1)
			*c = fseChange{uint32(most<<16) - uint32(n)<<most, int32(total) - int32(n)}
		}
		total += int(n)
	}
	for i, s := range t.symbols[:size] {
		t.next[starts[s]] = uint16(size + i)
		starts[s]++
	}
}

// first is the state that decodes to symbol and costs nothing to come to.
func (t *fseTable) first(symbol uint8) uint32 {
	if t.single {
		return 0
	}
	c := t.change[symbol]
	n := (c.bits + 1<<15) >> 16
	return uint32(t.next[int32((n<<16-c.bits)>>n)+c.find])
}

// step codes symbol: the bits that go out, how many, and the state to go on with.
func (t *fseTable) step(state uint32, symbol uint8) (out uint64, n uint, next uint32) {
	if t.single {
		return 0, 0, 0
	}
	c := t.change[symbol&63]
	k := (state + c.bits) >> 16
	return uint64(state & (1<<(k&31) - 1)), uint(k), uint32(t.next[int32(state>>(k&31))+c.find])
}

// mark is a state as it is written at the end, in log bits.
func (t *fseTable) mark(state uint32) uint64 { return uint64(state) & (1<<t.log - 1) }

// appendTo appends the description of the table.
func (t *fseTable) appendTo(dst []byte) []byte {
	var acc uint64
	held := uint(0)
	write := func(v, n int) {
		acc |= uint64(v) << held
		for held += uint(n); held >= 8; held -= 8 {
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
		if n == 0 { // more codes that do not occur
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
	if held > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}
