package snapshot

import (
	"encoding/binary"
	"math/bits"
)

// Roaring's frozen form keeps 65,536 numbers, those with the same upper half, in a container: a bitmap, sorted runs or a sorted array of
// lower halves. All bitmaps come first, then all runs, all arrays, and a directory that is read from its end:
//
//	8192 B a bitmap · start u16, length-1 u16 a run · u16 a value of an array · keys u16 · counts u16 · types u8 · header u32
//
//	keys    the upper halves, ascending
//	counts  the values of a bitmap or array less one; the runs of a run container
//	types   1 bitmap, 2 array, 3 runs
//	header  13766 in the lower 15 bits, above it the number of containers
const (
	frozenCookie    = 13766
	frozenBitmap    = 1
	frozenArray     = 2
	frozenRuns      = 3
	frozenBitmapLen = 8192
)

// frozenWriter makes frozen bitmaps; its buffers serve one after the other.
type frozenWriter struct {
	bitmaps, runs, arrays []byte
	keys, counts, types   []byte
}

// append appends the frozen bitmap of row ids that ascend. Each container is of the sort that takes the fewest bytes.
func (w *frozenWriter) append(dst []byte, rows []uint32) []byte {
	w.bitmaps, w.runs, w.arrays = w.bitmaps[:0], w.runs[:0], w.arrays[:0]
	w.keys, w.counts, w.types = w.keys[:0], w.counts[:0], w.types[:0]
	for len(rows) > 0 {
		// The rows of one container, and how many runs they are.
		key := rows[0] >> 16
		n, runs := 1, 1
		for ; n < len(rows) && rows[n]>>16 == key; n++ {
			if rows[n] != rows[n-1]+1 {
				runs++
			}
		}
		w.keys = binary.LittleEndian.AppendUint16(w.keys, uint16(key))
		w.container(rows[:n], runs)
		rows = rows[n:]
	}
	for _, part := range [...][]byte{w.bitmaps, w.runs, w.arrays, w.keys, w.counts, w.types} {
		dst = append(dst, part...)
	}
	return binary.LittleEndian.AppendUint32(dst, frozenCookie|uint32(len(w.types))<<15)
}

func (w *frozenWriter) container(rows []uint32, runs int) {
	n := len(rows)
	kind, count := byte(frozenArray), n-1
	switch {
	case 4*runs < min(2*n, frozenBitmapLen):
		kind, count = frozenRuns, runs
		for i := 0; i < n; {
			first := i
			for i++; i < n && rows[i] == rows[i-1]+1; i++ {
			}
			w.runs = binary.LittleEndian.AppendUint16(w.runs, uint16(rows[first]))
			w.runs = binary.LittleEndian.AppendUint16(w.runs, uint16(i-1-first))
		}
	case 2*n > frozenBitmapLen:
		kind = frozenBitmap
		from := len(w.bitmaps)
		w.bitmaps = append(w.bitmaps, make([]byte, frozenBitmapLen)...)
		for _, row := range rows {
			w.bitmaps[from+int(row&0xffff)>>3] |= 1 << (row & 7)
		}
	default:
		for _, row := range rows {
			w.arrays = binary.LittleEndian.AppendUint16(w.arrays, uint16(row))
		}
	}
	w.counts = binary.LittleEndian.AppendUint16(w.counts, uint16(count))
	w.types = append(w.types, kind)
}

// frozenReader walks a frozen bitmap, each sort of container at its own pace.
type frozenReader struct {
	bitmaps, runs, arrays []byte
	types, counts, keys   []byte
	yield                 func(row uint32) error
}

// frozenRows calls yield with each row id of a frozen bitmap in ascending order, until it returns an error. Only Verify reads postings so
// plainly.
func frozenRows(b []byte, yield func(row uint32) error) error {
	if len(b) < 4 {
		return corruptf("bitmap of %d bytes has no header", len(b))
	}
	header := binary.LittleEndian.Uint32(b[len(b)-4:])
	n := int(header >> 15)
	if header&0x7fff != frozenCookie || n > 1<<16 || len(b)-4 < 5*n {
		return corruptf("bitmap of %d bytes with header %#x", len(b), header)
	}
	at := len(b) - 4 - 5*n
	r := &frozenReader{keys: b[at:][:2*n], counts: b[at+2*n:][:2*n], types: b[at+4*n:][:n], yield: yield}
	var sizes [4]int
	for i, kind := range r.types {
		count := int(r.count(i))
		switch kind {
		case frozenBitmap:
			sizes[kind] += frozenBitmapLen
		case frozenArray:
			sizes[kind] += 2 * (count + 1)
		case frozenRuns:
			sizes[kind] += 4 * count
		default:
			return corruptf("container %d of %d has type %d", i, n, kind)
		}
	}
	if sizes[frozenBitmap]+sizes[frozenRuns]+sizes[frozenArray] != at {
		return corruptf("containers take %d, %d and %d bytes, there are %d", sizes[frozenBitmap], sizes[frozenRuns], sizes[frozenArray], at)
	}
	r.bitmaps, b = b[:sizes[frozenBitmap]], b[sizes[frozenBitmap]:]
	r.runs, b = b[:sizes[frozenRuns]], b[sizes[frozenRuns]:]
	r.arrays = b[:sizes[frozenArray]]
	for i := range n {
		if err := r.container(i); err != nil {
			return err
		}
	}
	return nil
}

func (r *frozenReader) count(i int) uint16 { return binary.LittleEndian.Uint16(r.counts[2*i:]) }

func (r *frozenReader) container(i int) error {
	key, count := binary.LittleEndian.Uint16(r.keys[2*i:]), int(r.count(i))
	if i > 0 && binary.LittleEndian.Uint16(r.keys[2*i-2:]) >= key {
		return corruptf("container %d has key %d, not above the one before", i, key)
	}
	base := uint32(key) << 16
	switch r.types[i] {
	case frozenBitmap:
		return r.bitmap(base, count+1)
	case frozenRuns:
		return r.run(base, count)
	}
	last := -1
	for range count + 1 {
		v := binary.LittleEndian.Uint16(r.arrays)
		r.arrays = r.arrays[2:]
		if int(v) <= last {
			return corruptf("value %d of a container comes after %d", v, last)
		}
		last = int(v)
		if err := r.yield(base | uint32(v)); err != nil {
			return err
		}
	}
	return nil
}

func (r *frozenReader) bitmap(base uint32, count int) error {
	for k := range uint32(frozenBitmapLen / 8) {
		for word := binary.LittleEndian.Uint64(r.bitmaps[8*k:]); word != 0; word &= word - 1 {
			count--
			if err := r.yield(base | k<<6 | uint32(bits.TrailingZeros64(word))); err != nil {
				return err
			}
		}
	}
	r.bitmaps = r.bitmaps[frozenBitmapLen:]
	if count != 0 {
		return corruptf("bitmap has %d values less than counted", count)
	}
	return nil
}

func (r *frozenReader) run(base uint32, count int) error {
	last := -2
	for range count {
		start := int(binary.LittleEndian.Uint16(r.runs))
		end := start + int(binary.LittleEndian.Uint16(r.runs[2:]))
		r.runs = r.runs[4:]
		if start <= last+1 || end > 1<<16-1 {
			return corruptf("run from %d to %d comes after %d", start, end, last)
		}
		last = end
		for v := start; v <= end; v++ {
			if err := r.yield(base | uint32(v)); err != nil {
				return err
			}
		}
	}
	return nil
}
