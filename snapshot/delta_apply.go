package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
)

// DeltaApplier makes segments by deltas, one at a time. It uses its memory again.
type DeltaApplier struct {
	space    [partCount][]byte
	postings postingsMaker
}

// Apply writes the segment of so many bytes that a delta makes from the segment in a file. Any
// bytes of both give an error or so many bytes, of which the caller checks the digest. One piece is
// made at a time, and no list takes more bytes than the new segment. (The list of new codes for old
// ones takes no more than the old one.)
func (p *DeltaApplier) Apply(w io.Writer, path string, delta []byte, size int64) (err error) {
	data, free, err := readFile(path, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	return p.apply(w, data, delta, size)
}

func (p *DeltaApplier) apply(w io.Writer, a, delta []byte, size int64) error {
	content, err := readContent(delta, size)
	if err != nil {
		return err
	}
	x := &applying{DeltaApplier: p, deltaReader: deltaReader{rest: content}}
	if x.a, err = readRaw(a); err != nil {
		return err
	}
	footer := x.list()
	offset := size - int64(tailSize) - int64(len(footer))
	if x.bad || offset < int64(headerSize) {
		return corruptf("a footer of %d bytes for a segment of %d", len(footer), size)
	}
	if x.b, err = newRaw(footer, uint64(offset), size); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 256<<10)
	x.out = &blockWriter{w: out}
	x.out.write(appendHeader(nil))
	x.rows = x.list()
	for i := range x.b.pieces {
		if err := x.piece(&x.b.pieces[i]); err != nil {
			return fmt.Errorf("%q: %w", x.b.pieces[i].name, err)
		}
	}
	if x.bad || len(x.rest) > 0 {
		return corruptf("a delta ends early, or has %d bytes too many", len(x.rest))
	}
	x.out.write(footer)
	x.out.write(appendTail(nil, uint64(offset), footer))
	return errors.Join(x.out.err, out.Flush())
}

// minWindow is more than the smallest window of a zstd frame.
const minWindow = 4 << 10

// readContent unpacks a delta. Its content is never longer than the new segment.
func readContent(delta []byte, size int64) ([]byte, error) {
	if len(delta) < deltaHead || string(delta[:len(deltaMagic)]) != deltaMagic {
		return nil, corruptf("%d bytes without the magic %q of a delta", len(delta), deltaMagic)
	}
	if v := binary.LittleEndian.Uint32(delta[len(deltaMagic):]); v != deltaVersion {
		return nil, corruptf("delta of version %d; this program reads %d", v, deltaVersion)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(uint64(max(size, minWindow))))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer d.Close()
	content, err := d.DecodeAll(delta[deltaHead:], nil)
	if err != nil {
		return nil, corruptf("delta: %v", err)
	}
	return content, nil
}

// applying makes b from a.
type applying struct {
	*DeltaApplier
	a, b *raw
	deltaReader
	rows   []byte   // alignment
	tuples [][]byte // alignment of each group
	out    *blockWriter
}

// order is how the parts of a piece follow each other in a delta: codes need their dictionary,
// postings the codes.
var order = [partCount]int{partDictionary, partNumbers, partTexts, partPostings}

func (x *applying) piece(b *piece) error {
	c := change{a: x.a.like(x.b, b), b: b, positions: x.rows}
	switch {
	case b.kind == 0:
		c.entries = x.list()
		x.tuples = append(x.tuples, c.entries)
	case b.group > 0:
		c.positions = x.tuples[b.group-1]
	}
	var made [partCount][]byte
	for _, which := range order {
		block := b.blocks[which]
		if block == nil {
			continue
		}
		payload, err := x.part(&c, which, made[partNumbers])
		if err != nil {
			return err
		}
		if x.bad || uint64(len(payload)) != block.length {
			return corruptf("a %s block of %d bytes, want %d", block.encoding, len(payload), block.length)
		}
		made[which] = payload
	}
	for _, payload := range made {
		x.out.write(payload)
		x.out.write(make([]byte, alignUp(uint64(len(payload)))-uint64(len(payload))))
	}
	return x.out.err
}

// room is space for the payload of a part. It has that of the same part of the piece before.
func (x *applying) room(which int, size uint64) []byte {
	if uint64(cap(x.space[which])) < size {
		x.space[which] = make([]byte, 0, size)
	}
	return x.space[which][:0]
}

// part makes the payload of a block. numbers are the payload of the codes that postings need.
func (x *applying) part(c *change, which int, numbers []byte) ([]byte, error) {
	a, b, form := c.a.blocks[which], c.b.blocks[which], x.uvarint()
	switch {
	case x.bad:
		return nil, corruptf("the delta ends early")
	case form == formBytes:
		return x.bytes(b.length), nil
	case form == formPostings && which == partPostings:
		return postingsOf(&x.postings, x.room(which, b.length), c.b, numbers)
	case a == nil:
		return nil, corruptf("form %d of a part that the old segment does not have", form)
	case form == formSame:
		return x.a.bytes(a), nil
	case form == formNumbers && which == partNumbers:
		return x.numbers(c)
	case form == formEntries && which != partNumbers && which != partPostings:
		payload, alignment, err := x.entries(a, b, x.room(which, b.length))
		if which == partDictionary {
			c.entries = alignment
		}
		return payload, err
	}
	return nil, corruptf("form %d of part %d", form, which)
}

func (x *applying) numbers(c *change) ([]byte, error) {
	a, b := c.a.blocks[partNumbers], c.b.blocks[partNumbers]
	from, headA, err := packedOf(a, x.a.bytes(a), c.a.n)
	if err != nil {
		return nil, err
	}
	_, headB, err := packedOf(b, nil, c.b.n)
	if err != nil {
		return nil, err
	}
	head := x.bytes(uint64(headB))
	if x.bad || headA != headB {
		return nil, corruptf("numbers in encoding %s from encoding %s", b.encoding, a.encoding)
	}
	translate, err := c.translate(x.a.bytes(a)[:headA], head)
	if err != nil {
		return nil, err
	}
	next := x.exceptions(c.b.n)
	at := next()
	pack := &packer{out: x.room(partNumbers, b.length), width: int(b.width)}
	pack.out = append(pack.out, head...)
	guess := prediction{from: from, alignment: c.positions, translate: translate}
	if translate == nil && from.Width() == pack.width && pack.width <= maxLoad {
		guess.copied = func(first, start, most int) int {
			most = min(most, at-start)
			pack.copy(from, first, most)
			return most
		}
	}
	mask := newPacked(nil, 0, int(b.width)).mask
	err = guess.each(c.b.n, func(start int, some []uint64) error {
		for ; at < start+len(some); at = next() {
			some[at-start] += uint64(unzigzag(x.uvarint()))
		}
		for k, v := range some {
			some[k] = v & mask
			pack.add(v & mask)
		}
		return nil
	})
	return pack.bytes(), err
}

// exceptions returns a function that returns the position of the next exception; after the last
// one, never. What belongs to the exceptions follows.
func (x *applying) exceptions(n int) func() int {
	left, gaps, at := x.uvarint(), deltaReader{rest: x.list()}, -1
	return func() int {
		if left == 0 {
			return never
		}
		left--
		gap := gaps.uvarint()
		if gaps.bad || gap >= uint64(n-1-at) {
			x.bad, left = true, 0
			return never
		}
		at += int(gap) + 1
		return at
	}
}

// entries makes a dictionary, or exact texts, and returns the alignment of its entries.
func (x *applying) entries(a, b *block, space []byte) (payload, alignment []byte, err error) {
	from, err := openEntries(a, x.a.bytes(a))
	if err != nil {
		return nil, nil, err
	}
	out, err := newEntries(b, space)
	if err != nil || out.size != from.size {
		return nil, nil, corruptf("entries in encoding %s from encoding %s: %v", b.encoding, a.encoding, err)
	}
	n := int(b.count)
	alignment = x.list()
	next := x.exceptions(n)
	at := next()
	lengths := deltaReader{}
	if out.size == 0 {
		lengths.rest = x.list()
	}
	var entry []byte
	err = eachRun(alignment, from.n, n, func(first, start, count int) error {
		for i := start; i < start+count; i++ {
			switch {
			case i == at:
				length := uint64(out.size)
				if length == 0 {
					length = lengths.uvarint()
				}
				entry = append(entry[:0], x.bytes(length)...)
				at = next()
			case first < 0:
				return corruptf("entry %d of %d is missing", i, n)
			default:
				entry = from.appendEntry(entry[:0], first+i-start)
			}
			if x.bad || !out.add(entry) {
				return corruptf("entry %d of %d, of %d bytes, does not fit", i, n, len(entry))
			}
		}
		return nil
	})
	return out.payload, alignment, err
}

// entryList is the payload of entries that are added one by one.
type entryList struct {
	entries
	payload []byte
	next    int
	end     int // of the bytes of texts
}

func newEntries(b *block, space []byte) (*entryList, error) {
	l := &entryList{}
	if b.encoding != encTexts {
		e, err := openEntries(b, nil)
		if err != nil {
			return nil, err
		}
		l.entries = e
	} else if l.n = int(b.count); 4*(uint64(l.n)+1) > b.length {
		return nil, corruptf("%d texts in %d bytes", l.n, b.length)
	}
	l.payload = space[:b.length]
	clear(l.payload)
	return l, nil
}

// add adds an entry, if there is room for it.
func (l *entryList) add(entry []byte) bool {
	head := 4 * (l.n + 1)
	switch {
	case l.size == 0 && len(entry) > len(l.payload)-head-l.end, l.size > 0 && len(entry) != l.size:
		return false
	case l.size == 0:
		copy(l.payload[head+l.end:], entry)
		l.end += len(entry)
		binary.LittleEndian.PutUint32(l.payload[4*l.next+4:], uint32(l.end))
	default:
		copy(l.payload[8*l.next:8*l.next+8], entry)
		if l.size == 9 {
			l.payload[8*l.n+l.next] = entry[8]
		}
	}
	l.next++
	return true
}

// rowsAtOnce is how many row ids are sorted at a time for postings that are made again: the fewer,
// the less memory, and the more often codes are read.
const rowsAtOnce = 4 << 20

// postingsOf makes the postings of a piece from the payload of its codes, in space.
func postingsOf(m *postingsMaker, space []byte, p *piece, numbers []byte) ([]byte, error) {
	packed, _, err := packedOf(p.blocks[partNumbers], numbers, p.n)
	if err != nil {
		return nil, err
	}
	if p.codes() > p.n {
		return nil, corruptf("postings of %d codes of %d rows", p.codes(), p.n)
	}
	m.unpack, m.n, m.batch = packed.Unpack, p.n, max(rowsAtOnce, p.n/4)
	if m.bitmaps == nil {
		m.bitmaps = new(freezer)
	}
	b := p.blocks[partPostings]
	made := block{}
	payload, err := m.make(&made, space, p.codes(), min(b.length, math.MaxUint32))
	if err == nil && (made.encoding != b.encoding || made.count != b.count) {
		return nil, corruptf("%d postings in encoding %s, want %d in %s", made.count, made.encoding, b.count,
			b.encoding)
	}
	return payload, err
}
