package snapshot

import (
	"encoding/binary"
	"math"
	"slices"
)

// postingsPayload encodes the rows of each code below count: as starts where codes never fall from
// row to row, else as one roaring bitmap for each code.
func postingsPayload(b *block, codes []uint32, count int) ([]byte, error) {
	m := postingsMaker{unpack: func(dst []uint32, from uint32) { copy(dst, codes[from:]) }, n: len(codes)}
	return m.make(b, nil, count, math.MaxUint32)
}

// postingsMaker makes the postings of n codes. It reads them several times, some at a time.
type postingsMaker struct {
	unpack func(dst []uint32, from uint32)
	n      int

	batch int // row ids that are sorted at a time; 0: all
	space []uint32
	rows  []uint32
	freezer
}

func (m *postingsMaker) each(do func(row uint32, codes []uint32)) {
	m.space = slices.Grow(m.space[:0], codesAtOnce)[:codesAtOnce]
	for row := 0; row < m.n; row += codesAtOnce {
		codes := m.space[:min(codesAtOnce, m.n-row)]
		m.unpack(codes, uint32(row))
		do(uint32(row), codes)
	}
}

// codesAtOnce is how many codes are unpacked at a time.
const codesAtOnce = 4096

// make appends the payload to out, which is empty. Bitmaps of more than limit bytes are an error.
func (m *postingsMaker) make(b *block, out []byte, count int, limit uint64) ([]byte, error) {
	b.count = uint32(count)
	starts, sorted, err := m.starts(count)
	if err != nil {
		return nil, err
	}
	if sorted {
		b.encoding = encStarts
		for _, s := range starts {
			out = binary.LittleEndian.AppendUint32(out, s)
		}
		return out, nil
	}
	b.encoding = encFrozen
	head := int(alignUp(4 * uint64(count)))
	out = append(out, make([]byte, head)...)
	for from := 0; from < count; {
		to := m.sort(starts, from)
		for c := from; c < to; c++ {
			out = append(out, make([]byte, alignUp(uint64(len(out)))-uint64(len(out)))...)
			rows := m.rows[starts[c]-starts[from] : starts[c+1]-starts[from]]
			out = m.append(out, rows)
			if uint64(len(out)-head) > limit {
				return nil, tablef("bitmaps of %d of %d codes take %d bytes, at most %d are possible", c+1, count,
					len(out)-head, limit)
			}
			binary.LittleEndian.PutUint32(out[4*c:], uint32(len(out)-head))
		}
		from = to
	}
	return out, nil
}

// starts counts the rows with a smaller code, for each code, and reports whether rows are sorted by
// code.
func (m *postingsMaker) starts(count int) (starts []uint32, sorted bool, err error) {
	starts = make([]uint32, count+1)
	sorted = true
	last := uint32(0)
	m.each(func(row uint32, codes []uint32) {
		for _, c := range codes {
			if int64(c) >= int64(count) {
				err = tablef("a code is %d of %d", c, count)
				return
			}
			starts[c+1]++
			sorted = sorted && c >= last
			last = c
		}
	})
	for c := range count {
		starts[c+1] += starts[c]
	}
	return starts, sorted, err
}

// sort sets rows to the row ids with the codes from one to another, sorted by code, and returns the
// other code: there are at most batch of them, unless one code has more.
func (m *postingsMaker) sort(starts []uint32, from int) (to int) {
	to = len(starts) - 1
	if m.batch > 0 {
		for to = from + 1; to < len(starts)-1 && int(starts[to+1]-starts[from]) <= m.batch; to++ {
		}
	}
	n := int(starts[to] - starts[from])
	m.rows = slices.Grow(m.rows[:0], n)[:n]
	at := slices.Clone(starts[from:to])
	first := starts[from]
	m.each(func(row uint32, codes []uint32) {
		for k, c := range codes {
			if i := int(c) - from; uint(i) < uint(len(at)) {
				m.rows[at[i]-first] = row + uint32(k)
				at[i]++
			}
		}
	})
	return to
}

// freezer writes frozen bitmaps. It uses its memory again.
type freezer struct{ chunks []chunk }

// chunk is a container that is to be written.
type chunk struct {
	rows  []uint32
	count int // rows less one, or the number of runs
	ContainerType
}

// The bytes that roaring counts for a container besides its content when it chooses a type.
const (
	besideBitmap = 32
	besideRuns   = 2
)

// append appends the frozen bitmap of rows, which ascend. Its containers have the types that
// roaring gives them: those of stored segments, of which deltas must make the same bytes.
func (f *freezer) append(dst []byte, rows []uint32) []byte {
	f.chunks = f.chunks[:0]
	bitmaps, runs, arrays := 0, 0, 0 // bytes
	for len(rows) > 0 {
		c, pairs := chunkOf(rows)
		rows = rows[len(c.rows):]
		switch n := len(c.rows); {
		case besideRuns+4*pairs < min(besideBitmap+bitmapBytes, 2*n):
			c.ContainerType, c.count = RunContainer, pairs
			runs += 4 * pairs
		case n <= MaxArray:
			c.ContainerType, c.count = ArrayContainer, n-1
			arrays += 2 * n
		default:
			c.ContainerType, c.count = BitmapContainer, n-1
			bitmaps += bitmapBytes
		}
		f.chunks = append(f.chunks, c)
	}
	from, n := len(dst), len(f.chunks)
	keys := bitmaps + runs + arrays
	size := keys + containerHead*n + 4
	dst = slices.Grow(dst, size)[:from+size]
	out := dst[from:]
	clear(out[:bitmaps])
	atArray, atRun, at := out[bitmaps+runs:keys], out[bitmaps:bitmaps+runs], out[:bitmaps]
	for i, c := range f.chunks {
		switch c.ContainerType {
		case BitmapContainer:
			for _, row := range c.rows {
				at[row&(chunkRows-1)>>3] |= 1 << (row & 7)
			}
			at = at[bitmapBytes:]
		case ArrayContainer:
			for k, row := range c.rows {
				binary.LittleEndian.PutUint16(atArray[2*k:], uint16(row))
			}
			atArray = atArray[2*len(c.rows):]
		default:
			atRun = putRuns(atRun, c.rows)
		}
		binary.LittleEndian.PutUint16(out[keys+2*i:], uint16(c.rows[0]>>chunkBits))
		binary.LittleEndian.PutUint16(out[keys+2*(n+i):], uint16(c.count))
		out[keys+4*n+i] = byte(c.ContainerType)
	}
	binary.LittleEndian.PutUint32(out[size-4:], frozenCookie|uint32(n)<<15)
	return dst
}

// chunkOf returns the first rows that are in one chunk, and how many runs they are.
func chunkOf(rows []uint32) (c chunk, runs int) {
	key, next := rows[0]>>chunkBits, rows[0]-1
	for i, row := range rows {
		if row>>chunkBits != key {
			rows = rows[:i]
			break
		}
		if row != next {
			runs++
		}
		next = row + 1
	}
	return chunk{rows: rows}, runs
}

// putRuns writes rows as runs and returns what is left of dst.
func putRuns(dst []byte, rows []uint32) []byte {
	for i := 0; i < len(rows); {
		first := i
		for i++; i < len(rows) && rows[i] == rows[i-1]+1; i++ {
		}
		binary.LittleEndian.PutUint16(dst, uint16(rows[first]))
		binary.LittleEndian.PutUint16(dst[2:], uint16(i-first-1))
		dst = dst[4:]
	}
	return dst
}
