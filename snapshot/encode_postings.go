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
func postingsPayload(b *block, codes []uint32, count int) ([]byte, error) {
	return postingsWithin(b, codes, count, nil, math.MaxUint32)
}

// postingsWithin is postingsPayload with room for as many row ids as there are codes, or nil. Bitmaps
// of more than limit bytes are an error.
func postingsWithin(b *block, codes []uint32, count int, room []uint32, limit uint64) ([]byte, error) {
	b.count = uint32(count)
	starts, sorted := startsOf(codes, count)
	if sorted {
		b.encoding = encStarts
		out := make([]byte, 0, 4*len(starts))
		for _, s := range starts {
			out = binary.LittleEndian.AppendUint32(out, s)
		}
		return out, nil
	}
	b.encoding = encFrozen
	out := make([]byte, alignUp(4*uint64(count)))
	head := len(out)
	if room == nil {
		room = make([]uint32, len(codes))
	} else {
		out = slices.Grow(out, max(0, int(limit)-head))
	}
	rows := rowsByCode(codes, starts, room)
	var bitmap roaring.Bitmap
	for c := range count {
		out = append(out, make([]byte, alignUp(uint64(len(out)))-uint64(len(out)))...)
		var err error
		if out, err = appendFrozen(out, &bitmap, rows[starts[c]:starts[c+1]]); err != nil {
			return nil, fmt.Errorf("posting %d of %d: %w", c, count, err)
		}
		if uint64(len(out)-head) > limit {
			return nil, tablef("bitmaps of %d of %d codes take %d bytes, at most %d are possible", c+1, count,
				len(out)-head, limit)
		}
		binary.LittleEndian.PutUint32(out[4*c:], uint32(len(out)-head))
	}
	return out, nil
}

// startsOf counts the rows with a smaller code, for each code, and reports whether rows are sorted
// by code.
func startsOf(codes []uint32, count int) (starts []uint32, sorted bool) {
	starts = make([]uint32, count+1)
	sorted = true
	last := uint32(0)
	for _, c := range codes {
		starts[c+1]++
		sorted = sorted && c >= last
		last = c
	}
	for c := range count {
		starts[c+1] += starts[c]
	}
	return starts, sorted
}

// rowsByCode are the row ids sorted by code; those of code c are at [starts[c], starts[c+1]). There is
// room for them in rows.
func rowsByCode(codes, starts, rows []uint32) []uint32 {
	rows = rows[:len(codes)]
	at := append([]uint32(nil), starts...)
	for row, c := range codes {
		rows[at[c]] = uint32(row)
		at[c]++
	}
	return rows
}

// appendFrozen appends the frozen bitmap of rows, which ascend. It reuses the bitmap. The length of
// dst is a multiple of 8.
func appendFrozen(dst []byte, bitmap *roaring.Bitmap, rows []uint32) ([]byte, error) {
	bitmap.Clear()
	bitmap.AddMany(rows)
	bitmap.RunOptimize()
	from, size := len(dst), int(bitmap.GetFrozenSizeInBytes())
	// 8 bytes more than needed: an empty bitmap takes 4, and FreezeTo makes a pointer to a word of
	// 8 of them, which the pointer checks of the race detector refuse at the end of an allocation.
	dst = slices.Grow(dst, size+8)[:from+size]
	_, err := bitmap.FreezeTo(dst[from:])
	return dst, err
}
