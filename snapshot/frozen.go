package snapshot

import (
	"encoding/binary"
	"math/bits"
)

// A posting is one roaring bitmap in CRoaring's frozen form, little-endian:
//
//	bitmaps   1,024 words of 64 bits each
//	runs      pairs of 16 bits: first row, last row less first row
//	arrays    16 bits a row
//	keys      16 bits a container: the chunk of 65,536 rows it is for, ascending
//	counts    16 bits a container: rows less one, for runs the number of pairs
//	types     1 byte a container: 1 bitmap, 2 array, 3 runs
//	header    32 bits: 15 bits of cookie, then the number of containers
//
// In the first three parts the containers follow each other in the order of their keys. Roaring
// writes this form in a load (roaringWriter), the freezer in a replica. The reader here finds and
// checks the containers.
const frozenCookie = 13766

// ContainerType is how the rows of a container are written down.
type ContainerType uint8

// The types of a container.
const (
	BitmapContainer ContainerType = 1 + iota // 1,024 words of 64 bits
	ArrayContainer                           // 16 bits a row, ascending, at most MaxArray of them
	RunContainer                             // pairs of 16 bits, as above, ascending, not touching
)

// The sizes of containers.
const (
	MaxArray      = 4096
	chunkBits     = 16
	chunkRows     = 1 << chunkBits
	bitmapBytes   = chunkRows / 8
	containerHead = 2 + 2 + 1 // key, count, type
)

// Container is the rows of one chunk of a frozen bitmap: the rows from Key*65,536 on, up to the
// next chunk.
type Container struct {
	Key  int
	Type ContainerType
	At   uint32 // where its data starts in the bitmap's bytes
	N    uint32 // number of pairs of a RunContainer, of values of an ArrayContainer, of words of a BitmapContainer
	Rows uint32 // number of rows, 1 to 65,536
}

// Containers calls yield with each container of the frozen bitmap of a table of that many rows. It
// reads any bytes: the error is ErrCorrupt unless they are strictly ascending rows of the table, as
// many as counted. With checked the caller vouches that an earlier call has found these bytes
// right; only the places of the containers are worked out then.
func Containers(data []byte, rows int, checked bool, yield func(Container)) error {
	if len(data) < 4 {
		return corruptf("%d bytes, a posting has at least 4", len(data))
	}
	header := binary.LittleEndian.Uint32(data[len(data)-4:])
	n, chunks := int(header>>15), (rows+chunkRows-1)/chunkRows
	if header&0x7fff != frozenCookie || n > chunks {
		return corruptf("header %#08x, want cookie %d and at most %d containers", header, frozenCookie, chunks)
	}
	if len(data) < 4+containerHead*n {
		return corruptf("%d bytes, %d containers take at least %d", len(data), n, 4+containerHead*n)
	}
	end := len(data) - 4 - containerHead*n
	f := frozen{data: data, keys: data[end : end+2*n], counts: data[end+2*n : end+4*n], types: data[end+4*n : end+5*n]}
	if err := f.measure(end); err != nil {
		return err
	}
	last := -1
	for i := range n {
		key := int(binary.LittleEndian.Uint16(f.keys[2*i:]))
		if key <= last || key >= chunks {
			return corruptf("container %d has key %d after %d, the table has %d chunks", i, key, last, chunks)
		}
		last = key
		c, ok := f.next(i, min(chunkRows, rows-key*chunkRows), checked)
		if !ok {
			return corruptf("container %d, type %d, of chunk %d is not ascending rows as counted", i, c.Type, key)
		}
		c.Key = key
		yield(c)
	}
	return nil
}

// frozen is the parts of a frozen bitmap.
type frozen struct {
	data, keys, counts, types []byte

	bitmaps, runs, arrays int // where the next container of each type starts
}

// measure finds where the three parts start. They must end where the keys start.
func (f *frozen) measure(end int) error {
	bitmaps, pairs, values := 0, 0, 0
	for i, t := range f.types {
		count := int(binary.LittleEndian.Uint16(f.counts[2*i:]))
		switch ContainerType(t) {
		case BitmapContainer:
			bitmaps++
		case ArrayContainer:
			values += count + 1
		case RunContainer:
			pairs += count
		default:
			return corruptf("container %d has type %d, known are 1 to 3", i, t)
		}
	}
	f.runs = bitmaps * bitmapBytes
	f.arrays = f.runs + 4*pairs
	if got := f.arrays + 2*values; got != end {
		return corruptf("containers take %d bytes, the posting has %d", got, end)
	}
	return nil
}

// next reads container i, of a chunk with size rows. It must be called for one container after the
// other.
func (f *frozen) next(i, size int, checked bool) (c Container, ok bool) {
	count := uint32(binary.LittleEndian.Uint16(f.counts[2*i:]))
	c.Type = ContainerType(f.types[i])
	switch c.Type {
	case BitmapContainer:
		c.At, c.N, c.Rows = uint32(f.bitmaps), bitmapBytes/8, count+1
		f.bitmaps += bitmapBytes
		ok = checked || checkBitmap(f.data[c.At:f.bitmaps], int(c.Rows), size)
	case ArrayContainer:
		c.At, c.N, c.Rows = uint32(f.arrays), count+1, count+1
		f.arrays += 2 * int(c.N)
		ok = c.N <= MaxArray && (checked || checkArray(f.data[c.At:f.arrays], size))
	case RunContainer:
		c.At, c.N = uint32(f.runs), count
		f.runs += 4 * int(c.N)
		c.Rows, ok = checkRuns(f.data[c.At:f.runs], size)
	}
	return c, ok
}

// eachRow calls yield with the rows of a container of a bitmap, until yield returns an error.
func (c *Container) eachRow(data []byte, yield func(row uint32) error) error {
	base := uint32(c.Key) << chunkBits
	number := func(i uint32) uint32 { return uint32(binary.LittleEndian.Uint16(data[c.At+2*i:])) }
	for i := range c.N {
		var err error
		switch c.Type {
		case BitmapContainer:
			word := binary.LittleEndian.Uint64(data[c.At+8*i:])
			for ; word != 0 && err == nil; word &= word - 1 {
				err = yield(base + 64*i + uint32(bits.TrailingZeros64(word)))
			}
		case ArrayContainer:
			err = yield(base + number(i))
		case RunContainer:
			first := base + number(2*i)
			err = eachOf(first, first+number(2*i+1)+1, yield)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkBitmap reports whether a bitmap has that many ones, all below size.
func checkBitmap(data []byte, rows, size int) bool {
	n, from := 0, 0
	for ; from+64 <= size; from += 64 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(data[from/8:]))
	}
	if from < size {
		word := binary.LittleEndian.Uint64(data[from/8:])
		if word>>(size&63) != 0 {
			return false
		}
		n += bits.OnesCount64(word)
		from += 64
	}
	for ; from < chunkRows; from += 64 {
		if binary.LittleEndian.Uint64(data[from/8:]) != 0 {
			return false
		}
	}
	return n == rows
}

// checkArray reports whether values ascend and are below size.
func checkArray(data []byte, size int) bool {
	last := -1
	for i := 0; i+2 <= len(data); i += 2 {
		v := int(binary.LittleEndian.Uint16(data[i:]))
		if v <= last {
			return false
		}
		last = v
	}
	return last < size
}

// checkRuns returns how many rows runs have, and whether there is one, they ascend, do not touch
// and are below size.
func checkRuns(data []byte, size int) (rows uint32, ok bool) {
	last := -2
	for i := 0; i+4 <= len(data); i += 4 {
		pair := binary.LittleEndian.Uint32(data[i:])
		first, more := int(pair&0xffff), int(pair>>16)
		if first <= last+1 || first+more >= size {
			return 0, false
		}
		last = first + more
		rows += uint32(more) + 1
	}
	return rows, rows > 0
}
