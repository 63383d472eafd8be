package encode

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

const (
	// piecesWindow is how far back matches go in zstd: so far that a period comes again, not beyond the second cache.
	piecesWindow = 256 << 10

	// maxContent is the most text of a block; a sequence has less.
	maxContent = 128 << 10
)

// The tables of codes, in the order of their descriptions, and the most states that each may have, as a logarithm.
const (
	litLens = iota
	distances
	matchLens
)

var maxLogs = [3]uint{9, 8, 9}

// zstdWriter writes what its matcher finds as a zstd frame.
type zstdWriter struct {
	matcher
	bits  bitWriter
	start int // of the frame in bits.out

	recent [3]uint32 // the last distances, as the decoder will know them
	codes  []zstdCodes
	tables [3]fseTable
	huff   huff0.Scratch
}

// zstdCodes are the three codes of a sequence, their extra bits, and how many of these there are; without a match, only literals count.
type zstdCodes struct {
	litLen, matchLen, distance             uint8
	litLenBits, matchLenBits, distanceBits uint8
	litLenExtra, matchLenExtra             uint16
	distanceExtra                          uint32
	literals                               uint32
	content                                uint32
}

func (c *zstdCodes) matches() bool { return c.content > c.literals }

// lengthCode is the code of a length, the smallest length of the code, and how many extra bits tell which it is.
type lengthCode struct {
	code uint8
	bits uint8
	base uint16
}

// litLenCodes64 and matchLenCodes128 are the codes of small lengths; greater ones have one for each power of two.
var litLenCodes64, matchLenCodes128 = smallCodes(16, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4}, 64), smallCodes(32, []uint8{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5}, 128)

// smallCodes gives each length below plain a code of its own, and the others codes with extra bits.
func smallCodes(plain int, extra []uint8, n int) []lengthCode {
	codes := make([]lengthCode, 0, n)
	for l := range plain {
		codes = append(codes, lengthCode{code: uint8(l), base: uint16(l)})
	}
	for i, b := range extra {
		base := len(codes)
		for range 1 << b {
			codes = append(codes, lengthCode{code: uint8(plain + i), bits: b, base: uint16(base)})
		}
	}
	return codes
}

func litLenCode(n uint32) lengthCode {
	if n < 64 {
		return litLenCodes64[n]
	}
	k := bits.Len32(n) - 1
	return lengthCode{code: uint8(k + 19), bits: uint8(k), base: uint16(1 << k)}
}

// matchLenCode takes the length less 3.
func matchLenCode(n uint32) lengthCode {
	if n < 128 {
		return matchLenCodes128[n]
	}
	k := bits.Len32(n) - 1
	return lengthCode{code: uint8(k + 36), bits: uint8(k), base: uint16(1 << k)}
}

func newZstdWriter(rows Rows) *zstdWriter {
	z := &zstdWriter{}
	z.init(rows, piecesWindow)
	z.next = func() {
		if z.block.full() {
			z.finish()
			z.blocks()
		}
	}
	return z
}

// begin begins a frame that is appended to out.
func (z *zstdWriter) begin(out []byte) {
	z.matcher.start()
	z.start = len(out)
	z.bits = bitWriter{out: appendZstdHeader(out, 0)}
	z.recent = [3]uint32{1, 4, 8}
	z.huff.Reuse = huff0.ReusePolicyNone
}

// end ends the frame.
func (z *zstdWriter) end() []byte {
	z.finish()
	z.blocks()
	out := append(z.bits.out, zstdEnd...)
	binary.LittleEndian.PutUint32(out[z.start+zstdHeader-4:], z.size)
	z.bits.out = nil
	return out
}

// blocks writes what was added as blocks, with tables of codes for all of them in the first.
func (z *zstdWriter) blocks() {
	b := &z.block
	b.close()
	z.encodeSequences(b.sequences)
	literals, codes, fresh := b.literals, z.codes, true
	for len(codes) > 0 {
		n, content, ofBlock := 0, uint32(0), uint32(0)
		for n < len(codes) && content+codes[n].content <= maxContent && (n == 0 || codes[n-1].matches()) {
			content += codes[n].content
			ofBlock += codes[n].literals
			n++
		}
		matches := n
		if !codes[n-1].matches() {
			matches-- // its literals end the block
		}
		z.writeBlock(literals[:ofBlock], codes[:matches], fresh)
		fresh = fresh && matches == 0
		literals, codes = literals[ofBlock:], codes[n:]
	}
	b.forget()
}

// encodeSequences turns sequences into codes, and builds the tables for them.
func (z *zstdWriter) encodeSequences(sequences []sequence) {
	z.codes = z.codes[:0]
	for i := range z.tables {
		clear(z.tables[i].counts[:])
	}
	for _, s := range sequences {
		literals, length := uint32(s.literals()), uint32(s.length())
		if length == 0 {
			z.codes = append(z.codes, zstdCodes{literals: literals, content: literals})
			continue
		}
		value := z.distanceValue(uint32(s.distance()), literals)
		l, m, k := litLenCode(literals), matchLenCode(length-minMatch), uint8(bits.Len32(value)-1)
		z.codes = append(z.codes, zstdCodes{
			litLen: l.code, litLenBits: l.bits, litLenExtra: uint16(literals) - l.base,
			matchLen: m.code, matchLenBits: m.bits, matchLenExtra: uint16(length-minMatch) - m.base,
			distance: k, distanceBits: k, distanceExtra: value - 1<<k,
			literals: literals, content: literals + length,
		})
		z.tables[litLens].counts[l.code]++
		z.tables[distances].counts[k]++
		z.tables[matchLens].counts[m.code]++
	}
	for i := range z.tables {
		z.tables[i].build(maxLogs[i])
	}
}

// distanceValue is what stands for a distance: 1 to 3 for one of the last three, else the distance and 3 more. Right behind another match the last
// distance itself would only lengthen it, so the three are then the two before it and one less than it.
func (z *zstdWriter) distanceValue(d, literals uint32) uint32 {
	r := z.recent
	rank := uint32(0)
	if literals == 0 {
		rank = 1
	}
	switch {
	case rank == 0 && d == r[0]:
		return 1
	case d == r[1]:
		z.recent = [3]uint32{d, r[0], r[2]}
		return 2 - rank
	case d == r[2]:
		z.recent = [3]uint32{d, r[0], r[1]}
		return 3 - rank
	}
	z.recent = [3]uint32{d, r[0], r[1]}
	if rank == 1 && d == r[0]-1 {
		return 3
	}
	return d + 3
}

// writeBlock writes one compressed block.
func (z *zstdWriter) writeBlock(literals []byte, codes []zstdCodes, fresh bool) {
	start := len(z.bits.out)
	out := append(z.bits.out, 0, 0, 0)
	out = z.appendLiterals(out, literals)
	switch n := len(codes); {
	case n < 128:
		out = append(out, byte(n))
	case n < 0x7f00:
		out = append(out, byte(n>>8)+0x80, byte(n))
	default:
		out = append(out, 0xff, byte(n-0x7f00), byte((n-0x7f00)>>8))
	}
	if len(codes) > 0 {
		modes := len(out)
		out = append(out, 0)
		for i := range z.tables {
			mode := byte(3) // as in the block before
			switch t := &z.tables[i]; {
			case t.single:
				mode = 1
				out = append(out, t.symbol)
			case fresh:
				mode = 2
				out = t.appendTo(out)
			}
			out[modes] |= mode << (6 - 2*i)
		}
		z.bits.out = out
		z.writeCodes(codes)
		out = z.bits.out
	}
	size := len(out) - start - 3
	head := uint32(size)<<3 | 2<<1
	out[start], out[start+1], out[start+2] = byte(head), byte(head>>8), byte(head>>16)
	z.bits.out = out
}

// appendLiterals appends the literals of a block, Huffman-coded if that gains.
func (z *zstdWriter) appendLiterals(dst, literals []byte) []byte {
	const least, fourStreams = 32, 1 << 10
	n := uint64(len(literals))
	if n >= least {
		compress := huff0.Compress1X
		if n >= fourStreams {
			compress = huff0.Compress4X
		}
		out, reused, err := compress(literals, &z.huff)
		if err == nil {
			z.huff.Reuse = huff0.ReusePolicyAllow
			kind := uint64(2)
			if reused {
				kind = 3 // as in the block before
			}
			// Both sizes, in 10, 14 or 18 bits each.
			format, width := uint64(0), uint(10)
			switch {
			case n >= 1<<14:
				format, width = 3, 18
			case n >= fourStreams:
				format, width = 2, 14
			}
			head := kind | format<<2 | n<<4 | uint64(len(out))<<(4+width)
			dst = binary.LittleEndian.AppendUint64(dst, head)[:len(dst)+int(4+2*width+7)/8]
			return append(dst, out...)
		}
	}
	switch {
	case n < 1<<5:
		dst = append(dst, byte(n<<3))
	case n < 1<<12:
		dst = append(dst, byte(n<<4|1<<2), byte(n>>4))
	default:
		dst = append(dst, byte(n<<4|3<<2), byte(n>>4), byte(n>>12))
	}
	return append(dst, literals...)
}

// writeCodes writes the codes from the last to the first, for decoders read them from the end.
func (z *zstdWriter) writeCodes(codes []zstdCodes) {
	w := &z.bits
	w.acc, w.held = 0, 0
	w.reserve(uint(len(codes)+1) * 80)
	l, d, m := &z.tables[litLens], &z.tables[distances], &z.tables[matchLens]
	last := &codes[len(codes)-1]
	litLen, distance, matchLen := l.first(last.litLen), d.first(last.distance), m.first(last.matchLen)
	w.write(uint64(last.litLenExtra)|uint64(last.matchLenExtra)<<last.litLenBits, uint(last.litLenBits+last.matchLenBits))
	w.write(uint64(last.distanceExtra), uint(last.distanceBits))
	for i := len(codes) - 2; i >= 0; i-- {
		c := &codes[i]
		var a, b, e uint64
		var na, nb, ne uint
		a, na, distance = d.step(distance, c.distance)
		b, nb, matchLen = m.step(matchLen, c.matchLen)
		e, ne, litLen = l.step(litLen, c.litLen)
		w.write(a|b<<na|e<<(na+nb)|uint64(c.litLenExtra)<<(na+nb+ne), na+nb+ne+uint(c.litLenBits))
		w.write(uint64(c.matchLenExtra)|uint64(c.distanceExtra)<<c.matchLenBits, uint(c.matchLenBits+c.distanceBits))
	}
	w.write(m.mark(matchLen), m.log)
	w.write(d.mark(distance), d.log)
	w.write(l.mark(litLen), l.log)
	w.write(1, 1)
	w.align()
}
