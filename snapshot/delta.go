package snapshot

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A delta makes segment B from segment A of the same table: what a nightly load has changed, so
// that a replica downloads little. docs/measurements/deltas.md has what it saves and what was
// tried.
//
// Two segments of nearly the same rows share few bytes. One row more in the middle moves all bits
// of packed numbers after it, and all row ids in bitmaps. One name more in a dictionary changes all
// codes after it. So a delta compares values, not bytes:
//
//   - An alignment says for each row of B which row of A it probably was. So there is one for the
//     tuples of each group, and one for the entries of each dictionary.
//   - The alignment of a dictionary, or of tuples, gives new codes for old ones.
//   - Numbers and codes of B are predicted: that of the aligned row, with its new code. Stored are
//     the exceptions.
//   - Postings follow from codes. They are made again, with the writer of segments.
//
// A reader with another version of that writer, or with another A, gets other bytes. It compares
// the digest of B, which the manifest has, and downloads B if it differs.
//
//	delta     magic "HSDL" · version u32 · one zstd frame with the content
//	content   length of B's footer uv · B's footer · alignment of rows
//	          per group of B:   alignment of its tuples · its codes · their postings
//	          per column of B:  dictionary, if it is coded · codes or numbers · exact texts ·
//	                            postings
//	alignment length uv · runs: count<<1 uv, then how far the first position in A is from the end
//	          of the last such run, zigzag uv; or count<<1|1 uv for a run that is not in A
//	part      0 · the bytes of the block
//	          1: those of the same block of A
//	          2 · head of a scaled block · exceptions to predicted numbers · per exception: how
//	              far it is from the prediction, zigzag uv
//	          3 · alignment of the entries · exceptions to copied entries · for texts a list of
//	              their lengths uv · the bytes of all exceptions
//	          4: postings made from the codes
//	exceptions  count uv · length of the next list uv · per exception: positions since the last uv
//
// uv is an unsigned varint. What is not in A is predicted to be the number before it; of entries it
// is an exception. A column of B is compared with the column of that name, in the group of that
// name; without it all its parts are of form 0.
const (
	deltaMagic   = "HSDL"
	deltaVersion = 1
	deltaHead    = len(deltaMagic) + 4
)

const (
	formBytes = iota
	formSame
	formNumbers
	formEntries
	formPostings
)

// The parts of a piece, in the order of their blocks.
const (
	partNumbers = iota // codes, or numbers without a dictionary
	partDictionary
	partTexts
	partPostings
	partCount
)

// piece is a column, or the codes of a group with their postings.
type piece struct {
	name   string
	kind   Kind // 0: codes of a group
	flags  uint8
	group  int // of a column of tuples, from 1; 0: of rows
	blocks [partCount]*block

	n       int // positions
	entries int // tuples, or entries of the dictionary
}

// codes is the number of codes of a piece that has any.
func (p *piece) codes() int {
	if p.flags&flagNullable != 0 {
		return p.entries + 1
	}
	return p.entries
}

func (p *piece) coded() bool { return p.kind == 0 || p.flags&flagCoded != 0 }

// raw is a segment whose directory has been read. The contents of its blocks have not been checked.
type raw struct {
	*directory
	data   []byte // nil for a segment that is still to be made
	pieces []piece
	byKey  map[string]*piece
}

// newRaw bounds what is allocated for each row by the size of the segment, too: what takes less
// than four bytes a row is small without a delta.
func newRaw(footer []byte, offset uint64, size int64) (*raw, error) {
	d, err := readDirectory(footer, offset)
	if err != nil {
		return nil, err
	}
	if 4*int64(d.rows) > size {
		return nil, fmt.Errorf("%w: %d rows in %d bytes, want at least 4 bytes a row", ErrNoDelta, d.rows, size)
	}
	r := &raw{directory: d, byKey: map[string]*piece{}}
	for i := range d.groups {
		g := &d.groups[i]
		if g.tuples > d.rows {
			return nil, corruptf("group %q has %d tuples for %d rows", g.name, g.tuples, d.rows)
		}
		r.pieces = append(r.pieces, piece{
			name: g.name, n: int(d.rows), entries: int(g.tuples),
			blocks: [partCount]*block{partNumbers: &g.codes, partPostings: &g.postings},
		})
	}
	for i := range d.columns {
		r.pieces = append(r.pieces, r.column(&d.columns[i]))
	}
	for i := range r.pieces {
		r.byKey[r.key(&r.pieces[i])] = &r.pieces[i]
	}
	return r, nil
}

func (r *raw) column(e *columnEntry) piece {
	p := piece{name: e.name, kind: e.kind, flags: e.flags, group: int(e.group), n: int(r.rows)}
	if e.group > 0 {
		p.n = int(r.groups[e.group-1].tuples)
	}
	at := 0
	for which, flag := range [partCount]uint8{0, flagCoded, flagTexts, flagIndexed} {
		if e.flags&flag == flag {
			p.blocks[which] = &e.blocks[at]
			at++
		}
	}
	if b := p.blocks[partDictionary]; b != nil {
		p.entries = int(b.count)
	}
	return p
}

func readRaw(data []byte) (*raw, error) {
	footer, offset, err := readFooter(data)
	if err != nil {
		return nil, err
	}
	r, err := newRaw(footer, offset, int64(len(data)))
	if err == nil {
		r.data = data
	}
	return r, err
}

func (r *raw) bytes(b *block) []byte { return r.data[b.offset : b.offset+b.length : b.offset+b.length] }

// key is equal for pieces that are compared.
func (r *raw) key(p *piece) string {
	group := ""
	if p.group > 0 {
		group = r.groups[p.group-1].name
	}
	return string([]byte{byte(p.kind), p.flags & flagCoded}) + string(appendName(nil, group)) + p.name
}

// like finds the piece that a piece of another segment is compared with. Without one it returns one
// that has no blocks.
func (r *raw) like(of *raw, p *piece) *piece {
	if a := r.byKey[of.key(p)]; a != nil {
		return a
	}
	return &piece{}
}

// change is a piece of two segments.
type change struct {
	a, b      *piece
	positions []byte // alignment
	entries   []byte // alignment of what codes stand for; nil: the codes are the same
}

// translate is how numbers of A become those of B; nil: they are the same. The heads are the bytes
// before scaled numbers.
func (c *change) translate(headA, headB []byte) (func([]uint64), error) {
	switch {
	case !c.b.coded():
		return translateNumbers(numbersOf(c.a, headA), numbersOf(c.b, headB)), nil
	case c.entries == nil:
		return nil, nil
	}
	codes, err := newCodes(c.entries, c.a.entries, c.b.entries)
	for old, code := range codes {
		if uint32(old) != code {
			return translateCodes(codes), err
		}
	}
	return nil, err
}

// eachRun calls do for the runs of an alignment between so many positions of A and n of B. from is
// negative for a run that is not in A.
func eachRun(alignment []byte, ofA, n int, do func(from, at, count int) error) error {
	r := deltaReader{rest: alignment}
	expected, at := int64(0), 0
	for at < n {
		v := r.uvarint()
		count := v >> 1
		if r.bad || count == 0 || count > uint64(n-at) {
			return corruptf("a run of %d at %d of %d", count, at, n)
		}
		from := int64(-1)
		if v&1 == 0 {
			from = expected + unzigzag(r.uvarint())
			if from < 0 || from > int64(ofA) || count > uint64(int64(ofA)-from) {
				return corruptf("a run of %d from %d of %d", count, from, ofA)
			}
			expected = from + int64(count)
		}
		if err := do(int(from), at, int(count)); err != nil {
			return err
		}
		at += int(count)
	}
	if len(r.rest) > 0 {
		return corruptf("an alignment of %d positions has %d bytes too many", n, len(r.rest))
	}
	return nil
}

// newCodes returns the codes of B for those of A. Codes that are not in B get 0. Null is the code
// after the last in both.
func newCodes(alignment []byte, ofA, n int) ([]uint32, error) {
	codes := make([]uint32, ofA+1)
	codes[ofA] = uint32(n)
	err := eachRun(alignment, ofA, n, func(from, at, count int) error {
		for k := 0; from >= 0 && k < count; k++ {
			codes[from+k] = uint32(at + k)
		}
		return nil
	})
	return codes, err
}

// prediction is what numbers of B probably are.
type prediction struct {
	from      Packed
	alignment []byte
	translate func([]uint64) // numbers of A to those of B; nil: they are the same
	last      uint64

	// copied copies numbers of A that are right, at most so many, and returns how many. It may be
	// nil.
	copied func(from, at, most int) int
}

// each calls do for n predicted numbers, some at a time. do replaces them by the right ones.
func (p *prediction) each(n int, do func(at int, some []uint64) error) error {
	var space [256]uint64
	return eachRun(p.alignment, p.from.n, n, func(from, at, count int) error {
		for end := at + count; at < end; {
			some := space[:min(end-at, len(space))]
			if p.copied != nil && from >= 0 {
				if n := p.copied(from, at, end-at); n > 0 {
					from, at = from+n, at+n
					p.last = p.from.At(uint32(from - 1))
					continue
				}
				some = some[:1]
			}
			if from < 0 {
				for k := range some {
					some[k] = p.last
				}
			} else {
				p.from.Unpack64(some, uint32(from))
				from += len(some)
				if p.translate != nil {
					p.translate(some)
				}
			}
			if err := do(at, some); err != nil {
				return err
			}
			p.last = some[len(some)-1]
			at += len(some)
		}
		return nil
	})
}

func translateCodes(codes []uint32) func([]uint64) {
	return func(some []uint64) {
		for k, v := range some {
			if v < uint64(len(codes)) {
				some[k] = uint64(codes[v])
			}
		}
	}
}

// translateNumbers keeps the values of numbers whose base, or whose list of scales, has changed.
func translateNumbers(a, b *Numbers) func([]uint64) {
	if len(a.Scales) == 0 {
		if a.Base == b.Base && a.First == b.First {
			return nil
		}
		more := uint64(a.Base) - a.First - (uint64(b.Base) - b.First)
		return func(some []uint64) {
			for k, v := range some {
				if !a.IsNull(v) {
					some[k] = v + more
				}
			}
		}
	}
	var to [maxScales]uint64
	for k, scale := range b.Scales {
		for i := range a.Scales {
			if a.Scales[i] == scale {
				to[i] = uint64(k)
			}
		}
	}
	mask, more := uint64(1)<<a.ScaleBits-1, uint64(a.Base)-uint64(b.Base)
	return func(some []uint64) {
		for i, v := range some {
			k := v & mask % maxScales
			v >>= a.ScaleBits & 63
			if k < uint64(len(a.Scales)) && a.Scales[k] <= MaxScale {
				v += more
			}
			some[i] = v<<(b.ScaleBits&63) | to[k]
		}
	}
}

// packedOf finds the numbers of a block. head are the bytes before them.
func packedOf(b *block, data []byte, n int) (p Packed, head int, err error) {
	if b.encoding == encScaled {
		head = scaledHead
	}
	switch {
	case b.encoding != encPacked && b.encoding != encScaled, int(b.count) != n, b.width == 0,
		b.width > maxLoad && b.width != 64, b.length != packedSize(n, int(b.width))+uint64(head):
		return p, 0, corruptf("%d numbers of %d bits in %d bytes, encoding %s, for %d positions", b.count, b.width,
			b.length, b.encoding, n)
	}
	if data != nil {
		p = newPacked(data[head:], n, int(b.width))
	}
	return p, head, nil
}

// numbersOf describes the numbers of a column that is not coded, without the numbers.
func numbersOf(p *piece, head []byte) *Numbers {
	n := &Numbers{Base: p.blocks[partNumbers].base}
	if len(head) == 0 {
		if p.flags&flagNullable != 0 {
			n.First = 1
		}
		return n
	}
	n.Scales = head[1 : 1+min(int(head[0]), scaledHead-1)]
	for 1<<n.ScaleBits < len(n.Scales) {
		n.ScaleBits++
	}
	return n
}

// entries are the values of a dictionary, or exact texts.
type entries struct {
	texts
	size    int // bytes of one; 0: texts
	numbers []byte
	scales  []byte
}

func openEntries(b *block, data []byte) (e entries, err error) {
	switch b.encoding {
	case encTexts:
		e.texts, err = openTexts(b, data)
		return e, err
	case encInts:
		e.size = 8
	case encDecimals:
		e.size = 9
	default:
		return e, corruptf("encoding %s where entries are expected", b.encoding)
	}
	if e.n = int(b.count); uint64(e.size)*uint64(b.count) != b.length {
		return e, corruptf("%d entries take %d bytes, the block has %d", b.count, e.size*e.n, b.length)
	}
	if data != nil {
		e.numbers, e.scales = data[:8*e.n], data[8*e.n:]
	}
	return e, nil
}

func (e *entries) appendEntry(dst []byte, i int) []byte {
	switch e.size {
	case 0:
		return append(dst, e.at(uint32(i))...)
	case 9:
		return append(append(dst, e.numbers[8*i:8*i+8]...), e.scales[i])
	}
	return append(dst, e.numbers[8*i:8*i+8]...)
}

// deltaReader reads the content of a delta. After its end every read is zero and bad is set.
type deltaReader struct {
	rest []byte
	bad  bool
}

func (r *deltaReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *deltaReader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// list is a list of bytes after its length.
func (r *deltaReader) list() []byte { return r.bytes(r.uvarint()) }

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// never is a position after all others.
const never = math.MaxInt
