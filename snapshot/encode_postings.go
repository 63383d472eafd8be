package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// postingsPayload encodes the rows of each code below count: as starts where codes never fall from
// row to row, else as one roaring bitmap for each code.
func postingsPayload(b *block, codes []uint32, count int) []byte {
	m := postingsMaker{
		unpack: func(dst []uint32, from uint32) { copy(dst, codes[from:]) }, n: len(codes), bitmaps: new(roaringWriter),
	}
	payload, err := m.make(b, nil, count, math.MaxUint32)
	if err != nil {
		panic(err) // a code above the last
	}
	return payload
}

// postingsMaker makes the postings of n codes. It reads them several times, some at a time.
type postingsMaker struct {
	unpack func(dst []uint32, from uint32)
	n      int

	batch int // row ids that are sorted at a time; 0: all
	space []uint32
	rows  []uint32

	bitmaps interface {
		append(dst []byte, rows []uint32) ([]byte, error)
	}
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
			if out, err = m.bitmaps.append(out, rows); err != nil {
				return nil, fmt.Errorf("posting %d of %d: %w", c, count, err)
			}
			if uint64(len(out)-head) > limit {
				return nil, corruptf("bitmaps of %d of %d codes take %d bytes, at most %d are possible", c+1, count,
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
				err = corruptf("a code is %d of %d", c, count)
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

// roaringWriter writes frozen bitmaps with the library, which defines the form. It uses a bitmap
// again.
type roaringWriter struct{ roaring.Bitmap }

// frozenRoom is how many bytes more than needed must follow a bitmap while it is made.
const frozenRoom = 8

// append appends the frozen bitmap of rows, which ascend. The length of dst is a multiple of 8.
func (w *roaringWriter) append(dst []byte, rows []uint32) ([]byte, error) {
	w.Clear()
	w.AddMany(rows)
	w.RunOptimize()
	from, size := len(dst), int(w.GetFrozenSizeInBytes())
	// An empty bitmap takes 4 bytes, and FreezeTo makes a pointer to a word of 8 of them, which the
	// pointer checks of the race detector refuse at the end of an allocation.
	dst = slices.Grow(dst, size+frozenRoom)[:from+size]
	_, err := w.FreezeTo(dst[from:])
	return dst, err
}
