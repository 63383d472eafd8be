package snapshot

import (
	"encoding/binary"
	"slices"
)

// freezer writes frozen bitmaps without the library, which makes a list for each container. A
// replica that makes a segment from a delta writes all postings of a table, and compares its digest
// with that of the loader's, which the library wrote. It uses its memory again.
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
func (f *freezer) append(dst []byte, rows []uint32) ([]byte, error) {
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
	return dst, nil
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
