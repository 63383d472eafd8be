package snapshot

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Packed is an array of unsigned numbers of Width bits each, starting at the lowest bit of the
// first byte, read in place. It is a view into its segment and must not be used after the segment
// is closed.
//
//	width 3, values 5 1 7 0 2:   byte 0         byte 1
//	                             11 001 101     x 010 000 1      (highest bit left; x: padding)
//
// Eight zero bytes follow the last value, so one unaligned 64-bit load reads any value. That needs
// values of at most 57 bits, since a value can start at any of the 8 bits of a byte. Wider ones are
// stored in 64.
type Packed struct {
	data  []byte
	width uint64
	mask  uint64
	n     int
}

// packedPad is the number of zero bytes after the last value of a packed block.
const packedPad = 8

// maxLoad is the widest value that one 64-bit load at its first byte always contains.
const maxLoad = 57

// widthOf is the width in which all numbers up to max fit.
func widthOf(max uint64) int {
	if w := bits.Len64(max); w <= maxLoad {
		return w
	}
	return 64
}

// packedSize is the number of bytes of n packed numbers, including padding.
func packedSize(n, width int) uint64 {
	return (uint64(n)*uint64(width)+7)/8 + packedPad
}

func newPacked(data []byte, n, width int) Packed {
	return Packed{data: data, width: uint64(width), mask: 1<<width - 1, n: n}
}

// At is the number at position i, which is below Len.
func (p Packed) At(i uint32) uint64 {
	bit := uint64(i) * p.width
	return binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7) & p.mask
}

// load returns the numbers from position i on, the first in the lowest bits: as many whole ones as
// maxLoad bits have room for. Above them, and after the last number, are bits of no meaning.
func (p Packed) load(i uint32) uint64 {
	bit := uint64(i) * p.width
	return binary.LittleEndian.Uint64(p.data[bit>>3:]) >> (bit & 7)
}

// Change returns the first position of those from i to end-1 whose number differs from the one
// before it, or end. i is above 0. All bits of a word are compared with those one number before.
func (p Packed) Change(i, end uint32) uint32 {
	from, to := uint64(i)*p.width, uint64(end)*p.width
	at := from &^ 63
	before := uint64(0) // only read for bits below from, when at is 0
	if at > 0 {
		before = loadWord(p.data, at>>3-8)
	}
	care := ^uint64(0) << (from & 63)
	for ; at < to; at += 64 {
		word := loadWord(p.data, at>>3)
		if changed := (word ^ (word<<p.width | before>>(64-p.width))) & care; changed != 0 {
			return min(uint32((at+uint64(bits.TrailingZeros64(changed)))/p.width), end)
		}
		before, care = word, ^uint64(0)
	}
	return end
}

// Len is the number of values.
func (p Packed) Len() int { return p.n }

// Width is the number of bits of each: 0 when all are 0.
func (p Packed) Width() int { return int(p.width) }

// Unpack sets dst to the numbers at positions from, from+1, ..., each truncated to 32 bits. All
// positions are below Len.
func (p Packed) Unpack(dst []uint32, from uint32) {
	bit, width, mask, data := uint64(from)*p.width, p.width&63, p.mask, p.data
	if p.width == 0 {
		clear(dst)
		return
	}
	// Where two or four whole values fit into a load, one load serves them, without an inner loop.
	switch {
	case p.width <= maxLoad/4:
		for ; len(dst) >= 4; dst = dst[4:] {
			word := binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7)
			d := dst[:4:4]
			d[0] = uint32(word & mask)
			word >>= width
			d[1] = uint32(word & mask)
			word >>= width
			d[2] = uint32(word & mask)
			word >>= width
			d[3] = uint32(word & mask)
			bit += 4 * width
		}
	case p.width <= maxLoad/2:
		for ; len(dst) >= 2; dst = dst[2:] {
			word := binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7)
			d := dst[:2:2]
			d[0] = uint32(word & mask)
			d[1] = uint32(word >> width & mask)
			bit += 2 * width
		}
	}
	for k := range dst {
		dst[k] = uint32(binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask)
		bit += p.width
	}
}

// Gather sets dst to the numbers at the positions in at, each truncated to 32 bits.
func (p Packed) Gather(dst []uint32, at []uint32) {
	width, mask, data := p.width, p.mask, p.data
	dst = dst[:len(at)]
	for k, i := range at {
		bit := uint64(i) * width
		dst[k] = uint32(loadWord(data, bit>>3) >> (bit & 7) & mask)
	}
}

// loadWord is binary.LittleEndian.Uint64(data[at:]) with one check of the bounds in place of two
// and the computation of a slice: gathering numbers takes a third less.
func loadWord(data []byte, at uint64) uint64 {
	if at+8 > uint64(len(data)) {
		panic("snapshot: a packed number is beyond its block")
	}
	word := (*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(data)), at))
	return binary.LittleEndian.Uint64(word[:])
}

// within reports whether every number is at most bound. It reads the block through r.
func (p Packed) within(bound uint64, r *reading) bool {
	if bound >= p.mask || p.n == 0 {
		return true
	}
	i := 0
	if p.width <= 32 && p.n >= rangeRows {
		var above rangeTest
		above.set(p.width, bound+1, p.mask)
		count := above.repeat()
		size := count / 8 * int(p.width)
		for at := 0; i+count <= p.n; i += count {
			r.to(at + size)
			if above.any(p.data[at:]) {
				return false
			}
			at += size
		}
	}
	for ; i < p.n; i++ {
		if p.At(uint32(i)) > bound {
			return false
		}
	}
	return true
}

// padded reports whether all bits after the last number are zero.
func (p Packed) padded() bool {
	used := uint64(p.n) * p.width
	last := used >> 3
	if used&7 != 0 {
		if p.data[last]>>(used&7) != 0 {
			return false
		}
		last++
	}
	for _, b := range p.data[last:] {
		if b != 0 {
			return false
		}
	}
	return true
}

// packer appends numbers of one width to bytes.
type packer struct {
	out    []byte
	width  int
	word   uint64
	filled int
}

func newPacker(n, width int) *packer {
	return &packer{out: make([]byte, 0, packedSize(n, width)), width: width}
}

func (p *packer) add(v uint64) { p.addBits(v, p.width) }

func (p *packer) addBits(v uint64, n int) {
	p.word |= v << p.filled
	p.filled += n
	if p.filled >= 64 {
		p.out = binary.LittleEndian.AppendUint64(p.out, p.word)
		p.filled -= 64
		p.word = v >> (n - p.filled)
	}
}

// copy adds some numbers of an array of the same width, of at most maxLoad bits.
func (p *packer) copy(of Packed, from, n int) {
	for n > 0 {
		some := min(n, maxLoad/p.width)
		p.addBits(of.load(uint32(from))&(1<<(some*p.width)-1), some*p.width)
		from, n = from+some, n-some
	}
}

// bytes ends the array with its padding.
func (p *packer) bytes() []byte {
	for ; p.filled > 0; p.filled -= 8 {
		p.out = append(p.out, byte(p.word))
		p.word >>= 8
	}
	return append(p.out, make([]byte, packedPad)...)
}

func packCodes(codes []uint32, width int) []byte {
	p := newPacker(len(codes), width)
	for _, c := range codes {
		p.add(uint64(c))
	}
	return p.bytes()
}
