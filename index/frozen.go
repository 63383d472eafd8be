package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unsafe"
)

// A posting is one roaring bitmap in the frozen form of CRoaring, read in place, little-endian:
//
//	bitsets   1,024 words of 64 bits each
//	runs      pairs of 16 bits, first row and last row less first row
//	arrays    16 bits a row
//	keys      16 bits a container: the chunk it is for, ascending
//	counts    16 bits a container: rows less one, for runs the number of pairs
//	types     1 byte a container: 1 bitset, 2 array, 3 runs
//	header    32 bits: 15 bits of cookie, then the number of containers
//
// Within its part the data of the containers stands in the order of their keys.
const (
	frozenCookie = 13766
	frozenBitset = 1
	frozenArray  = 2
	frozenRuns   = 3
)

// ErrPosting marks bytes that are not the frozen bitmap of a table's rows.
var ErrPosting = errors.New("index: corrupt posting")

func postingf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrPosting, fmt.Sprintf(format, args...))
}

// openFrozen makes s a view of the posting in data for a table of that many rows. With checked false every row is looked at: the error
// is ErrPosting for anything but strictly ascending rows of the table, each once. With checked true the caller has done so before, and only
// the places of the containers are worked out. s.chunks is reused.
func openFrozen(s *set, data []byte, rows int, checked bool) error {
	if len(data) < 4 {
		return postingf("%d bytes, a posting has at least 4", len(data))
	}
	header := binary.LittleEndian.Uint32(data[len(data)-4:])
	n := int(header >> 15)
	if header&0x7fff != frozenCookie || n > chunkCount(rows) {
		return postingf("header %#08x, want cookie %d and at most %d containers", header, frozenCookie, chunkCount(rows))
	}
	if len(data) < 4+5*n {
		return postingf("%d bytes, %d containers take at least %d", len(data), n, 4+5*n)
	}
	end := len(data) - 4 - 5*n
	f := frozen{
		keys: data[end : end+2*n], counts: data[end+2*n : end+4*n], types: data[end+4*n : end+5*n],
	}
	if err := f.measure(end); err != nil {
		return err
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8 != 0 {
		data = alignedCopy(data)
		s.own = true
	}
	s.data, s.rows = data, 0
	if cap(s.chunks) < chunkCount(rows) {
		s.chunks = make([]chunk, chunkCount(rows))
	}
	s.chunks = s.chunks[:chunkCount(rows)]
	clear(s.chunks)
	last := -1
	for i := range n {
		key := int(binary.LittleEndian.Uint16(f.keys[2*i:]))
		if key <= last || key >= len(s.chunks) {
			return postingf("container %d has key %d after %d, the table has %d chunks", i, key, last, len(s.chunks))
		}
		last = key
		if err := f.container(s, i, key, chunkSize(rows, key), checked); err != nil {
			return err
		}
	}
	return nil
}

// frozen walks over the containers of a posting.
type frozen struct {
	keys, counts, types []byte
	bitsets, runs, rows int // where the next container of each type starts
}

// measure finds where the three parts start and checks that they end where the keys start.
func (f *frozen) measure(end int) error {
	bitsets, pairs, values := 0, 0, 0
	for i, t := range f.types {
		count := int(binary.LittleEndian.Uint16(f.counts[2*i:]))
		switch t {
		case frozenBitset:
			bitsets++
		case frozenArray:
			values += count + 1
		case frozenRuns:
			pairs += count
		default:
			return postingf("container %d has type %d, known are 1 to 3", i, t)
		}
	}
	f.bitsets, f.runs = 0, bitsets*8*chunkWords
	f.rows = f.runs + 4*pairs
	if got := f.rows + 2*values; got != end {
		return postingf("containers take %d bytes, %d are there", got, end)
	}
	return nil
}

// container reads container i as chunk key of s, which has size rows.
func (f *frozen) container(s *set, i, key, size int, checked bool) error {
	c := &s.chunks[key]
	count := binary.LittleEndian.Uint16(f.counts[2*i:])
	ok := true
	switch f.types[i] {
	case frozenBitset:
		*c = chunk{shape: bitmap, at: uint32(f.bitsets), rows: uint32(count) + 1}
		f.bitsets += 8 * chunkWords
		ok = checked || checkWords(s.words(c), int(c.rows), size)
	case frozenArray:
		*c = chunk{shape: array, at: uint32(f.rows), rows: uint32(count) + 1, n: count + 1}
		f.rows += 2 * (int(count) + 1)
		// Roaring keeps no array longer than this, and the evaluator's buffers count on it.
		ok = count < maxArray && (checked || checkValues(s.values(c), size))
	case frozenRuns:
		*c = chunk{shape: runs, at: uint32(f.runs), n: count}
		f.runs += 4 * int(count)
		if ok = count > 0 && count <= chunkRows/2; ok {
			c.rows, ok = checkPairs(s.pairs(c), size)
		}
	}
	if !ok {
		return postingf("container %d, of type %d for %d rows of chunk %d, does not hold ascending rows as counted", i, f.types[i], size, key)
	}
	if int(c.rows) == size {
		c.shape = full
	}
	s.rows += int(c.rows)
	return nil
}

// maxArray is the largest number of values in an array chunk.
const maxArray = 4096

// checkWords says whether a bitmap has that many ones, all below size.
func checkWords(page *words, rows, size int) bool {
	n := 0
	for _, w := range page {
		n += bits.OnesCount64(w)
	}
	if n != rows {
		return false
	}
	if size < chunkRows {
		if page[size>>6]>>(size&63) != 0 {
			return false
		}
		for _, w := range page[size>>6+1:] {
			if w != 0 {
				return false
			}
		}
	}
	return true
}

// checkValues says whether values ascend and stay below size.
func checkValues(values []uint16, size int) bool {
	last := -1
	for _, v := range values {
		if int(v) <= last {
			return false
		}
		last = int(v)
	}
	return last < size
}

// checkPairs says whether runs ascend, do not touch and stay below size, and how many rows they hold.
func checkPairs(pairs []uint16, size int) (rows uint32, ok bool) {
	last := -2
	for i := 0; i+1 < len(pairs); i += 2 {
		first, more := int(pairs[i]), int(pairs[i+1])
		if first <= last+1 || first+more >= size {
			return 0, false
		}
		last = first + more
		rows += uint32(more) + 1
	}
	return rows, true
}

// alignedCopy copies data to where 64-bit words may be read in place.
func alignedCopy(data []byte) []byte {
	buf := make([]uint64, (len(data)+7)/8)
	dst := unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), len(data))
	copy(dst, data)
	return dst
}
