package snapshot

import (
	"encoding/binary"
	"fmt"
)

// Postings are the row ids of each code, in one of two forms. Where codes never fall from row to
// row, the rows of a code are one run, and its start is all there is (Sorted, Start). Otherwise
// each code has a bitmap in roaring's frozen form (Frozen). They are views into their
// segment and must not be used after it is closed.
type Postings struct {
	n      int
	rows   uint32
	starts []byte // u32 each, one more than codes
	ends   []byte // u32 each
	frozen []byte
}

// Len is the number of codes, including null's.
func (p *Postings) Len() int { return p.n }

// Sorted reports which form this is.
func (p *Postings) Sorted() bool { return p.starts != nil }

// Start is the first row of a code of sorted postings. Its rows are Start(code) up to
// Start(code+1), exclusive. The code may be Len.
func (p *Postings) Start(code uint32) uint32 {
	return binary.LittleEndian.Uint32(p.starts[4*uint64(code):])
}

// EachRow calls yield with each row of a code, ascending, until yield returns an error. All bytes
// of a bitmap are checked first. The error is ErrCorrupt, or that of yield.
func (p *Postings) EachRow(code uint32, yield func(row uint32) error) error {
	if p.Sorted() {
		return eachOf(p.Start(code), p.Start(code+1), yield)
	}
	data := p.Frozen(code)
	var containers []Container
	err := Containers(data, int(p.rows), false, func(c Container) { containers = append(containers, c) })
	if err != nil {
		return fmt.Errorf("posting %d: %w", code, err)
	}
	for i := range containers {
		if err := containers[i].eachRow(data, yield); err != nil {
			return err
		}
	}
	return nil
}

func eachOf(from, to uint32, yield func(row uint32) error) error {
	for row := from; row < to; row++ {
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

// Frozen is the bitmap of a code of postings that are not sorted, in roaring's frozen form. It
// starts at a multiple of 8 bytes of the segment. Only its place in its block has been checked, not
// its bytes (Containers does).
func (p *Postings) Frozen(code uint32) []byte {
	from := p.bitmapStart(code)
	to := uint64(binary.LittleEndian.Uint32(p.ends[4*uint64(code):]))
	return p.frozen[from:to:to]
}

// FrozenBytes is the number of bytes that the bitmaps of the codes from to to-1 take in the
// segment, with the padding between them.
func (p *Postings) FrozenBytes(from, to uint32) int {
	return int(p.bitmapStart(to) - p.bitmapStart(from))
}

// bitmapStart is where the bitmap of a code starts. The code may be Len.
func (p *Postings) bitmapStart(code uint32) uint64 {
	if code == 0 {
		return 0
	}
	return alignUp(uint64(binary.LittleEndian.Uint32(p.ends[4*uint64(code)-4:])))
}

func openPostings(b *block, data []byte, n, rows int, strict bool) (Postings, error) {
	if int(b.count) != n {
		return Postings{}, corruptf("%d postings for %d codes", b.count, n)
	}
	p := Postings{n: n, rows: uint32(rows)}
	switch b.encoding {
	case encStarts:
		if uint64(len(data)) != 4*(uint64(n)+1) {
			return Postings{}, corruptf("starts of %d codes take %d bytes, the block has %d", n, 4*(n+1), len(data))
		}
		p.starts = data
		return p, p.checkStarts(strict)
	case encFrozen:
		head := alignUp(4 * uint64(n))
		if uint64(len(data)) < head {
			return Postings{}, corruptf("ends of %d bitmaps take %d bytes, the block has %d", n, head, len(data))
		}
		p.ends, p.frozen = data[:4*n:4*n], data[head:]
		return p, p.checkEnds()
	}
	return Postings{}, corruptf("encoding %s where postings are expected", b.encoding)
}

// checkStarts checks that starts ascend from 0 to the number of rows. With strict each code must
// have a row.
func (p *Postings) checkStarts(strict bool) error {
	last := p.Start(0)
	if last != 0 {
		return corruptf("rows of the first code start at %d", last)
	}
	for c := 1; c <= p.n; c++ {
		at := p.Start(uint32(c))
		if at < last || strict && at == last {
			return corruptf("rows of code %d start at %d, those of the one before at %d", c, at, last)
		}
		last = at
	}
	if last != p.rows {
		return corruptf("rows of the last of %d codes end at %d of %d", p.n, last, p.rows)
	}
	return nil
}

func (p *Postings) checkEnds() error {
	last := uint64(0)
	for c := range p.n {
		from, to := alignUp(last), uint64(binary.LittleEndian.Uint32(p.ends[4*c:]))
		if to < from || to > uint64(len(p.frozen)) {
			return corruptf("bitmap %d of %d is [%d,%d) of %d bytes", c, p.n, from, to, len(p.frozen))
		}
		last = to
	}
	if last != uint64(len(p.frozen)) {
		return corruptf("bitmaps end at %d, their bytes at %d", last, len(p.frozen))
	}
	return nil
}
