package index

import (
	"errors"
	"fmt"
	"unsafe"

	"hdqs/snapshot"
)

// ErrPosting marks a posting that is not the frozen bitmap of rows of its table.
var ErrPosting = errors.New("index: corrupt posting")

// openFrozen makes s a view of a posting of a table of that many rows. With checked false all bytes
// are checked (snapshot.Containers); the error is ErrPosting. With checked true an earlier call has
// done so. It reuses s.chunks.
func openFrozen(s *set, data []byte, rows int, checked bool) error {
	if len(data) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8 != 0 {
		data = alignedCopy(data)
		s.own = true
	}
	s.data, s.rows = data, 0
	if cap(s.chunks) < chunkCount(rows) {
		s.chunks = make([]chunk, chunkCount(rows))
	}
	s.chunks = s.chunks[:chunkCount(rows)]
	clear(s.chunks)
	err := snapshot.Containers(data, rows, checked, func(c snapshot.Container) {
		to := chunk{shape: shapes[c.Type], at: c.At, rows: c.Rows, n: uint16(c.N)}
		if int(c.Rows) == chunkSize(rows, c.Key) {
			to.shape = full
		}
		s.chunks[c.Key] = to
		s.rows += int(c.Rows)
	})
	if err != nil {
		return fmt.Errorf("%w: %v", ErrPosting, err)
	}
	return nil
}

// shapes maps the types of containers to shapes.
var shapes = [...]shape{snapshot.BitmapContainer: bitmap, snapshot.ArrayContainer: array, snapshot.RunContainer: runs}

// maxArray is the largest number of values in an array chunk.
const maxArray = snapshot.MaxArray

// alignedCopy copies data to an address from which 64-bit words can be read in place.
func alignedCopy(data []byte) []byte {
	buf := make([]uint64, (len(data)+7)/8)
	dst := unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), len(data))
	copy(dst, data)
	return dst
}
