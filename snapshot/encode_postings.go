package snapshot

import (
	"encoding/binary"
	"math"
)

// postingsPayload tells the rows of each code below count: as starts when codes never fall from row to row, else as bitmaps.
func postingsPayload(b *block, codes []uint32, count int) ([]byte, error) {
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
	rows := rowsByCode(codes, starts)
	var w frozenWriter
	for c := range count {
		out = append(out, make([]byte, alignUp(uint64(len(out)))-uint64(len(out)))...)
		out = w.append(out, rows[starts[c]:starts[c+1]])
		if len(out)-head > math.MaxUint32 {
			return nil, tablef("bitmaps of %d of %d codes take %d bytes, at most %d are possible", c+1, count, len(out)-head, math.MaxUint32)
		}
		binary.LittleEndian.PutUint32(out[4*c:], uint32(len(out)-head))
	}
	return out, nil
}

// startsOf counts the rows before each code, were rows sorted by code, and tells whether they are.
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

// rowsByCode are the row ids sorted by code; those of code c are at [starts[c], starts[c+1]).
func rowsByCode(codes, starts []uint32) []uint32 {
	rows := make([]uint32, len(codes))
	at := append([]uint32(nil), starts...)
	for row, c := range codes {
		rows[at[c]] = uint32(row)
		at[c]++
	}
	return rows
}
