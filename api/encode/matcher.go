package encode

import (
	"math"

	"github.com/klauspost/crc32"
)

// matcher turns rows into literals and matches without searching. It compares each row with the
// previous one, piece by piece. A piece with the same fragment extends the current match. Another
// fragment becomes a match with its last occurrence, or an edit of the previous row's (edit.go). A
// plain text becomes literals. Its memory is reused.
type matcher struct {
	text []byte // the text to encode, after the last bytes of what is encoded
	base uint32 // position of text[0], counted on from body to body: earlier bodies are out of reach
	at   int    // length of the encoded part of text
	size uint32 // of the body so far
	crc  uint32 // of the body so far
	next func() // called before each batch of rows

	rowsOf Rows
	batch  Batch
	part   [BatchRows]Run // of the rows, one batch
	lanes  []Lane
	last   []uint32 // position of each fragment's last occurrence before the previous row
	slots  []slot

	// back is the distance to the corresponding byte of the previous row, and about noRow if there
	// is no previous row.
	back int

	// The current match, which ends at position at.
	length, distance int

	ops  []op // not yet given to the block
	from int  // start of their text, including that of the match that was current at the start

	pause func() // called before each batch; nil: none

	block block // which the ops are written to
	edits edits
}

// slot is the previous row's piece in a slot.
type slot struct {
	text     []byte
	fragment uint32
	plain    []byte // memory for a plain text
}

const (
	// noRow is far beyond the window, also after texts of other lengths than those before.
	noRow = math.MaxInt32

	// shortMatch is the shortest match: fewer bytes take fewer bits as literals.
	shortMatch = 5

	// shortFragment is the length up to which a fragment is not matched with its last occurrence.
	shortFragment = 16

	// longFragment is the length above which a fragment within the window is not compared with the
	// previous row's: a match with its last occurrence takes no more bits than an edit.
	longFragment = 40
)

// init allocates the memory for a table's rows.
func (d *matcher) init(rows Rows) {
	d.rowsOf, d.batch = rows, rows.NewBatch()
	d.lanes, d.slots = make([]Lane, rows.Slots()), make([]slot, rows.Slots())
	d.last = make([]uint32, rows.Fragments())
	d.base = maxDistance + 1
	d.start()
}

// start starts a body.
func (d *matcher) start() {
	d.base += uint32(len(d.text) + maxDistance + 1)
	if d.base > math.MaxUint32/2 {
		d.base = maxDistance + 1
		clear(d.last)
	}
	d.text, d.at, d.from, d.size, d.crc, d.length, d.distance = d.text[:0], 0, 0, 0, 0, 0, 0
	d.forgetRow()
}

// pauses sets what is called between batches until the next call of pauses; nil: nothing.
func (d *matcher) pauses(pause func()) { d.pause = pause }

// forgetRow makes the next row one without a previous row.
func (d *matcher) forgetRow() {
	d.back = noRow
	for s := range d.slots {
		d.slots[s].fragment, d.slots[s].text = noFragment, nil
	}
}

// plain encodes text outside of the rows. The next row has no previous row.
func (d *matcher) plain(text []byte) {
	d.settle()
	d.drop()
	d.text = append(d.text, text...)
	d.account(d.at)
	d.literal(len(text))
	d.run()
	d.forgetRow()
}

// account adds the text from position at on to the size and the checksum.
func (d *matcher) account(at int) {
	d.crc = crc32.Update(d.crc, crc32.IEEETable, d.text[at:])
	d.size += uint32(len(d.text) - at)
}

// rows encodes the rows of runs without their last cut bytes.
func (d *matcher) rows(runs []Run, cut int) {
	left := 0
	for _, r := range runs {
		left += int(r.To - r.From)
	}
	batches(&d.part, runs, func(part []Run) {
		d.next()
		if d.pause != nil {
			d.pause()
		}
		d.drop()
		d.text = d.batch.Append(d.text, d.lanes, part)
		n := 0
		for _, r := range part {
			n += int(r.To - r.From)
		}
		left -= n
		if left > 0 {
			d.account(d.at)
			d.encode(n, 0)
			return
		}
		d.text = d.text[:len(d.text)-cut]
		d.account(d.at)
		d.encode(n, cut)
	})
}

// drop removes the encoded text, except for the bytes that the current match may need as literals.
func (d *matcher) drop() {
	if drop := d.at - shortMatch; drop > 0 {
		d.text = append(d.text[:0], d.text[drop:d.at]...)
		d.base += uint32(drop)
		d.at = shortMatch
		d.from -= drop
	}
}

// encode encodes a batch of n rows, the last one without its last cut bytes.
func (d *matcher) encode(n, cut int) {
	d.encodeRows(0, n, cut)
	d.keepPlain()
	d.run()
}

// encodeRows encodes the rows from from to to-1 of a batch, the last one without its last cut
// bytes.
func (d *matcher) encodeRows(from, to, cut int) {
	for k := from; k < to-1; k++ {
		d.row(k, 0)
	}
	if from < to {
		d.row(to-1, cut)
	}
}

// row encodes row k of a batch without its last cut bytes.
func (d *matcher) row(k, cut int) {
	start, same := d.at, 0 // same bytes of the previous row are not encoded yet
	for s := range d.lanes {
		l := &d.lanes[s]
		text, number := l.Same, 0
		if text == nil {
			text, number = l.Texts[k], k
		}
		cut := cut
		if s < len(d.lanes)-1 {
			cut = 0
		}
		text = text[:len(text)-cut]
		fragment := uint32(noFragment)
		if l.Fragments != nil {
			if fragment = l.First + l.Fragments[number]; fragment == d.slots[s].fragment {
				same += len(text)
				continue
			}
		}
		d.extend(same)
		if same = 0; l.Fragments == nil {
			d.plainPiece(s, text, l.After, cut)
		} else {
			d.fragment(s, fragment, text, cut)
		}
	}
	d.extend(same)
	if d.back > maxDistance {
		d.back = d.at - start
	}
}

// literal ends the current match, and encodes the next n bytes as literals.
func (d *matcher) literal(n int) {
	d.ops = append(d.ops, op{uint32(d.length), uint32(d.distance), uint32(n)})
	d.length = 0
	d.at += n
}

// settle ends the current match.
func (d *matcher) settle() {
	if d.length > 0 {
		d.literal(0)
	}
}

// finish ends the current match and passes it to the block.
func (d *matcher) finish() {
	d.settle()
	d.run()
}

// run passes the ops to the block.
func (d *matcher) run() {
	d.block.run(d.ops, d.text[:d.at], d.from)
	d.ops, d.from = d.ops[:0], d.at-d.length
}

// extend encodes the next n bytes, which equal those of the previous row.
func (d *matcher) extend(n int) {
	switch {
	case n == 0:
		return
	case d.distance != d.back || d.length == 0:
		if d.back > maxDistance {
			d.literal(n)
			return
		}
		d.settle()
		d.distance = d.back
	}
	d.length += n
	d.at += n
}

// refer encodes the next n bytes as a match at a distance.
func (d *matcher) refer(n, distance int) {
	if d.distance != distance {
		d.settle()
		d.distance = distance
	}
	d.length += n
	d.at += n
}

// plainPiece encodes a plain text. Its last after bytes equal those of the previous row; the last
// cut of them are missing.
func (d *matcher) plainPiece(s int, text []byte, after, cut int) {
	old := d.slots[s].text
	d.slots[s].text = text
	if d.back >= noRow/2 {
		d.literal(len(text))
		return
	}
	n, m := len(text)-max(after-cut, 0), len(old)-after
	same := min(samePrefix(text, old), n, m)
	d.extend(same)
	if same < n || same < m {
		d.literal(n - same)
		d.back += n - m
	}
	d.extend(len(text) - n)
}

// fragment encodes the text of a fragment, without its last cut bytes, that replaces another
// fragment.
func (d *matcher) fragment(s int, fragment uint32, text []byte, cut int) {
	slot := &d.slots[s]
	here := d.base + uint32(d.at)
	old, oldText := slot.fragment, slot.text
	slot.fragment, slot.text = fragment, text
	distance := maxDistance + 1 // to the last occurrence
	if old == noFragment || len(text) > shortFragment {
		distance = int(here - d.last[fragment])
	}
	if old != noFragment {
		if len(oldText) > shortFragment {
			d.last[old] = here - uint32(d.back)
		}
		near := d.back+len(text) <= maxDistance && max(len(text), len(oldText)) <= maxEdited
		if near && (distance > maxDistance || len(text) <= longFragment) {
			e := &d.edits
			cuts, oldCuts := d.rowsOf.Cuts(s, fragment, old)
			e.compare(oldText, text, oldCuts, cuts)
			if distance > maxDistance || e.cheap() {
				d.apply(e)
				return
			}
		}
		d.back += len(text) - len(oldText)
	}
	if distance <= maxDistance {
		d.refer(len(text), distance)
	} else {
		d.literal(len(text))
	}
}

// apply encodes the text of a fragment by edits of the previous row's.
func (d *matcher) apply(e *edits) {
	for _, x := range e.list[:e.n] {
		d.extend(int(x.same))
		d.literal(int(x.plain))
		d.back += int(x.plain) - int(x.old)
	}
	d.extend(e.rest)
}

// skip accounts for n bytes that were added to the body by others. Call prime before the next rows.
func (d *matcher) skip(n uint32) {
	d.base += uint32(d.at) + n
	d.text, d.at = d.text[:0], 0
	d.from = 0
	d.size += n
}

// prime sets the row that precedes the next rows.
func (d *matcher) prime(row uint32) {
	d.part[0] = Run{row, row + 1}
	d.text = d.batch.Append(d.text[:0], d.lanes, d.part[:1])
	d.keepRow(0)
	d.keepPlain()
	d.at = len(d.text)
	d.from = d.at
	d.base -= uint32(d.at)
	d.back = d.at
}

// keepRow makes row k of a batch the previous row of what follows.
func (d *matcher) keepRow(k int) {
	for s := range d.lanes {
		l, slot := &d.lanes[s], &d.slots[s]
		text, number := l.Same, 0
		if text == nil {
			text, number = l.Texts[k], k
		}
		if slot.text = text; l.Fragments != nil {
			slot.fragment = l.First + l.Fragments[number]
		}
	}
}

// keepPlain copies the plain texts of the last row, which the next batch overwrites.
func (d *matcher) keepPlain() {
	for i := range d.lanes {
		if s := &d.slots[i]; d.lanes[i].Fragments == nil {
			s.plain = append(s.plain[:0], s.text...)
			s.text = s.plain
		}
	}
}
