package encode

import (
	"encoding/binary"
	"slices"
)

// A body is one zstd frame (RFC 8878): a header, compressed blocks, and an empty last block.
//
//	magic 4 · descriptor 0x80: content size of 4 bytes · window 1 · content size 4 · blocks ·
//	empty block 3
const (
	zstdMagic      = "\x28\xb5\x2f\xfd"
	zstdDescriptor = 0x80
	zstdWindow     = 8 << 3 // maxZstdDistance is 1 KB << 8
	zstdHeader     = 4 + 1 + 1 + 4
	zstdEnd        = "\x01\x00\x00"

	// maxZstdDistance is far enough for a period to recur, and still within the second-level cache.
	maxZstdDistance = 256 << 10

	// maxContent is the most text of a block. A sequence takes at most 45 bits, without the extra
	// bits of its lengths, for at least 5 bytes of text. So a block takes at most 9/8 of its text,
	// 126 KB; decoders accept 128 KB.
	maxContent = 112 << 10

	// maxSequences and maxZstdLiterals end a group of blocks. A group has codes of its own, which
	// take about 100 bytes and 20 µs.
	maxSequences    = 24 << 10
	maxZstdLiterals = 64 << 10

	// maxLooseLiterals ends a group that contains stored blocks. The rows between two of them are
	// too few for codes of their own, but after a stored block the codes are described again, and
	// those of many different rows take longer descriptions: with one group 1.3 % more bytes for
	// 9,260 prices in 18 runs.
	maxLooseLiterals = 3 << 10

	// maxLength bounds the match of a sequence and the literals before it.
	maxLength = 1<<16 - 1
)

// zstdWriter writes the matches and literals of its matcher as a zstd frame.
type zstdWriter struct {
	matcher
	zstdFrame
}

// zstdFrame is a frame that is being written. It gathers matches and literals until there are
// enough for a group of blocks with common codes. Stored blocks among them have codes of their own.
type zstdFrame struct {
	bits   bitWriter
	began  int // start of the frame in bits.out
	tables zstdTables

	// recent are the last three distances in the decoder's state, 0 for those that depend on the
	// blocks before: no match has distance 0.
	recent [3]uint32

	// The group being gathered: complete blocks, then the current one.
	literals  []byte
	sequences []zstdSequence
	blocks    []zstdBlock
	matched   int // length of literals at the last match
	content   int // length of the current block's text
}

// zstdBlock holds the ends of a block's literals and sequences within its group, or is a stored
// block, which has none.
type zstdBlock struct {
	literals, sequences int
	stored              *storedBlock
}

// zstdSequence is a number of literals followed by a match:
//
//	literals 16 · match length less 3, 17 · distance value 31
type zstdSequence uint64

func newZstdSequence(literals, length int, distance uint32) zstdSequence {
	return zstdSequence(literals) | zstdSequence(length-minMatch)<<16 | zstdSequence(distance)<<33
}

func (s zstdSequence) literals() uint32      { return uint32(s & 0xffff) }
func (s zstdSequence) matchLen() uint32      { return uint32(s >> 16 & 0x1ffff) } // less 3
func (s zstdSequence) distanceValue() uint32 { return uint32(s >> 33) }

func newZstdWriter(rows Rows) *zstdWriter {
	z := &zstdWriter{}
	z.sparse = true // zstd needs no checksum
	z.init(rows, maxZstdDistance, z)
	return z
}

// begin begins a frame that is appended to out.
func (z *zstdWriter) begin(out []byte) {
	z.matcher.start()
	z.began = len(out)
	z.bits = bitWriter{out: appendZstdHeader(out, 0)}
	z.forget()
}

func appendZstdHeader(dst []byte, content int) []byte {
	dst = append(dst, zstdMagic...)
	dst = append(dst, zstdDescriptor, zstdWindow)
	return binary.LittleEndian.AppendUint32(dst, uint32(content))
}

// end ends the frame.
func (z *zstdWriter) end() []byte {
	z.finish()
	z.endBlock()
	z.write(true)
	out := append(z.bits.out, zstdEnd...)
	binary.LittleEndian.PutUint32(out[z.began+zstdHeader-4:], z.size)
	z.bits.out = nil
	return out
}

// stored adds a stored block. Call prime before the next rows.
func (z *zstdWriter) stored(b *storedBlock) {
	z.finish()
	z.endBlock()
	if len(z.literals) > maxLooseLiterals || len(z.sequences) > maxSequences {
		z.write(true)
	}
	z.blocks = append(z.blocks, zstdBlock{len(z.literals), len(z.sequences), b})
	z.recent = [3]uint32{}
	z.skip(b.plain)
}

// block returns a stored block of the rows from to to-1. It describes its own codes and refers back
// to at most reach rows before it.
func (z *zstdWriter) block(from, to uint32) *storedBlock {
	z.begin(nil)
	z.rows([]Run{{from - min(reach, from), from}}, 0)
	z.finish()
	z.bits.out = z.bits.out[:0]
	z.forget()
	before := z.size
	z.rows([]Run{{from, to}}, 0)
	z.finish()
	z.endBlock()
	z.write(false)
	return &storedBlock{data: slices.Clone(z.bits.out), plain: z.size - before}
}

// forget drops everything gathered and the last distances.
func (z *zstdFrame) forget() {
	z.literals, z.sequences, z.blocks = z.literals[:0], z.sequences[:0], z.blocks[:0]
	z.matched, z.content = 0, 0
	z.recent = [3]uint32{}
}

// run gathers ops, whose text starts at position at.
func (z *zstdWriter) run(ops []op, text []byte, at int) {
	z.reserve(len(text), len(ops))
	// State is kept in local variables, and so in registers.
	literals, end := z.literals[:cap(z.literals)], len(z.literals)
	sequences, n := z.sequences[:cap(z.sequences)], len(z.sequences)
	matched, content := z.matched, z.content
	first, second, third := z.recent[0], z.recent[1], z.recent[2]
	for i := range ops {
		x := &ops[i]
		length, plain := int(x.length), int(x.plain)
		from := at + length
		at = from + plain
		if length < shortMatch { // too short to be a match
			from, plain, length = from-length, plain+length, 0
		}
		if length > maxLength || end-matched+plain > maxLength || content+length+plain > maxContent {
			z.literals, z.sequences = literals[:end], sequences[:n]
			z.matched, z.content, z.recent = matched, content, [3]uint32{first, second, third}
			z.long(length, x.distance, text[from:at])
			z.reserve(len(text), len(ops))
			literals, end = z.literals[:cap(z.literals)], len(z.literals)
			sequences, n = z.sequences[:cap(z.sequences)], len(z.sequences)
			matched, content = z.matched, z.content
			first, second, third = z.recent[0], z.recent[1], z.recent[2]
			continue
		}
		content += length + plain
		if length > 0 {
			adjacent := uint32(uint64(int64(end-matched)-1) >> 63)
			var value uint32
			value, second, third = distanceValue(x.distance, adjacent, first, second, third)
			first = x.distance
			sequences[n] = newZstdSequence(end-matched, length, value)
			n++
			matched = end
		}
		if plain <= shortLiterals && from+shortLiterals <= len(text) {
			*(*[shortLiterals]byte)(literals[end : end+shortLiterals]) = *(*[shortLiterals]byte)(text[from:])
		} else {
			copy(literals[end:], text[from:at])
		}
		end += plain
	}
	z.literals, z.sequences = literals[:end], sequences[:n]
	z.matched, z.content, z.recent = matched, content, [3]uint32{first, second, third}
}

// reserve makes room for the literals of a text and for sequences. Copies of literals may write up
// to shortLiterals bytes too many.
func (z *zstdFrame) reserve(text, sequences int) {
	z.literals = slices.Grow(z.literals, text+shortLiterals)
	z.sequences = slices.Grow(z.sequences, sequences)
}

// long gathers a match of any length, 0 for no match, and any number of literals after it.
func (z *zstdFrame) long(length int, distance uint32, literals []byte) {
	for length > 0 {
		n := length
		if n > maxLength {
			n = maxLength - minMatch // what is left is never too short
		}
		if z.content+n > maxContent {
			z.nextBlock()
		}
		z.match(n, distance)
		length -= n
	}
	for len(literals) > 0 {
		n := min(len(literals), maxLength)
		if z.content+n > maxContent || len(z.literals)-z.matched+n > maxLength {
			z.nextBlock()
		}
		z.literals = append(z.literals, literals[:n]...)
		z.content += n
		literals = literals[n:]
	}
}

// match gathers a match that fits the current block.
func (z *zstdFrame) match(length int, distance uint32) {
	pending := len(z.literals) - z.matched
	z.matched = len(z.literals)
	adjacent := uint32(0)
	if pending == 0 {
		adjacent = 1
	}
	r := &z.recent
	value, second, third := distanceValue(distance, adjacent, r[0], r[1], r[2])
	*r = [3]uint32{distance, second, third}
	z.sequences = append(z.sequences, newZstdSequence(pending, length, value))
	z.content += length
}

// distanceValue returns the value that encodes distance d: 1 to 3 for one of the last three
// distances a, b and c, otherwise d+3. Directly after another match (adjacent is 1) the last
// distance is impossible, so 1 and 2 then mean the two before it. It also returns the second and
// third of the last three distances from then on. Which case applies is unpredictable, so the code
// is written for conditional moves instead of branches.
func distanceValue(d, adjacent, a, b, c uint32) (value, second, third uint32) {
	value, second, third = d+3, a, b
	if d == c {
		value = 3 - adjacent
	}
	if d == b {
		value, third = 2-adjacent, c
	}
	if d == a && adjacent == 0 {
		value, second, third = 1, b, c
	}
	return value, second, third
}

// nextBlock ends the current block, and its group if that is large enough.
func (z *zstdFrame) nextBlock() {
	z.endBlock()
	if len(z.sequences) > maxSequences || len(z.literals) > maxZstdLiterals {
		z.write(true)
	}
}

// endBlock adds the current block to the group unless it is empty.
func (z *zstdFrame) endBlock() {
	if z.content > 0 {
		z.blocks = append(z.blocks, zstdBlock{len(z.literals), len(z.sequences), nil})
	}
	z.matched, z.content = len(z.literals), 0
}

// write writes the group. It has codes of its own, or with a minimum only if it is longer than
// minSequences and minLiterals.
func (z *zstdFrame) write(minimum bool) {
	w, t := &z.bits, &z.tables
	t.build(z.literals, z.sequences, minimum)
	var from zstdBlock
	for _, to := range z.blocks {
		literals, sequences := z.literals[from.literals:to.literals], z.sequences[from.sequences:to.sequences]
		from = to
		if to.stored != nil {
			w.out = append(w.out, to.stored.data...)
			t.forget()
			continue
		}
		n := len(sequences)
		w.reserve(uint(len(literals)*(maxLiteralBits+1) + n*80 + 8*len(t.huffman) + 8*len(t.fse) + 512))
		start := len(w.out)
		w.out = append(w.out, 0, 0, 0)
		t.appendLiterals(w, literals)
		if n < 128 {
			w.out = append(w.out, byte(n))
		} else {
			w.out = append(w.out, byte(n>>8)+0x80, byte(n))
		}
		if n > 0 {
			t.writeSequences(w, sequences, minimum)
		}
		head := uint32(len(w.out)-start-3)<<3 | 2<<1
		w.out[start], w.out[start+1], w.out[start+2] = byte(head), byte(head>>8), byte(head>>16)
	}
	clear(z.blocks) // of stored blocks
	z.literals, z.sequences, z.blocks, z.matched = z.literals[:0], z.sequences[:0], z.blocks[:0], 0
}
