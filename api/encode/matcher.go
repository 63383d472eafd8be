package encode

import (
	"math"
	"slices"

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

	rowsOf  Rows
	batch   Batch
	part    [BatchRows]Run // of the rows, one batch
	lanes   []Lane
	varying []varying
	last    []uint32 // position of each fragment's last occurrence before the previous row
	slots   []slot

	// back is the distance to the corresponding byte of the previous row, and beyond the window if
	// there is no previous row.
	back int

	// The current match, which ends at position at.
	length, distance int

	ops   []op // not yet given to the block
	from  int  // start of their text, including that of the match that was current at the start
	items []item

	pause func() // called before each batch; nil: none

	fetched uint32 // sum of the results of lookUp, which keeps it from being optimized away

	block  block // which the ops are written to
	editor editor

	noEdits keptEdits // of a piece that is a match with its last occurrence

	// literalCode is the code in which ops have the bits of their literals, nil if they have none;
	// generation numbers the codes, from firstGeneration up.
	literalCode *codeTable
	generation  uint32

	edits edits
}

// slot is the previous row's piece in a slot.
type slot struct {
	text     []byte
	fragment uint32
	fields   int    // number of fields of the slot's fragments; 0 before it is computed
	plain    []byte // memory for a plain text
}

const (
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
	d.lanes, d.slots, d.varying = make([]Lane, rows.Slots()), make([]slot, rows.Slots()), make([]varying, 0,
		rows.Slots())
	d.last = make([]uint32, rows.Fragments())
	d.editor.init()
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
	d.back = math.MaxInt32
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

// encode encodes a batch of n rows, the last one without its last cut bytes. The first row and a
// last one that is cut are encoded slot by slot, the others only where lanes vary.
func (d *matcher) encode(n, cut int) {
	rows, first := n, 0
	if cut > 0 {
		rows--
	}
	if n == 1 {
		first = cut
	}
	d.row(0, first)
	if rows > 1 {
		d.encodeRows(1, rows, d.vary(rows))
		d.keepRow(rows - 1)
	}
	if rows < n && n > 1 {
		d.row(n-1, cut)
	}
	d.keepPlain()
	d.run()
}

// row encodes row k of a batch without its last cut bytes.
func (d *matcher) row(k, cut int) {
	start := d.at
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
		if l.Fragments == nil {
			d.plainPiece(s, text, l.After, cut)
		} else if f := l.First + l.Fragments[number]; f == d.slots[s].fragment {
			d.extend(len(text))
		} else {
			d.fragment(s, f, text, cut)
		}
	}
	if d.back > maxDistance {
		d.back = d.at - start
	}
}

// op ends the current match and adds an op with it and n literals, whose bits the caller sets. It
// sets each field on its own: the compiler would build a composite literal on the stack and read it
// back before its parts are written.
func (d *matcher) op(n int) *op {
	if len(d.ops) == cap(d.ops) {
		d.ops = slices.Grow(d.ops, 1)
	}
	d.ops = d.ops[:len(d.ops)+1]
	x := &d.ops[len(d.ops)-1]
	x.length, x.distance, x.plain = uint32(d.length), uint32(d.distance), uint32(n)
	d.length = 0
	d.at += n
	return x
}

// settle ends the current match.
func (d *matcher) settle() {
	if d.length > 0 {
		x := d.op(0)
		x.bits, x.size = 0, 0
	}
}

// literal encodes the next n bytes as literals.
func (d *matcher) literal(n int) { d.op(n).size = tooMany }

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
	if old == nil {
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
			if cut == 0 && e.n > 0 {
				d.editor.at(old, fragment).keep(old, fragment, e)
			}
			if distance > maxDistance || e.cheap() {
				d.apply(e, text)
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

// apply encodes a text by edits.
func (d *matcher) apply(e *edits, text []byte) {
	if d.literalCode != nil {
		encodeEdits(e.list[:e.n], text, d.literalCode)
	}
	if d.distance != d.back {
		d.settle()
	}
	at, back, length := len(d.ops), d.back, d.length
	d.ops = slices.Grow(d.ops, maxEdits)[:at+e.n]
	for i := range e.list[:e.n] {
		back = e.list[i].set(&d.ops[at+i], length, back)
		length = 0
	}
	d.distance, d.back, d.length = back, back, length+e.rest
	d.at += len(text)
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
	for s := range d.lanes {
		l, slot := &d.lanes[s], &d.slots[s]
		if slot.text = l.Same; slot.text == nil {
			slot.text = l.Texts[0]
		}
		if l.Fragments != nil {
			slot.fragment = l.First + l.Fragments[0]
		}
	}
	d.keepPlain()
	d.at = len(d.text)
	d.from = d.at
	d.base -= uint32(d.at)
	d.back = d.at
}

// zeros are the readable bytes after a text.
var zeros [Slack]byte

// keepPlain copies the plain texts of the last row, which the next batch overwrites.
func (d *matcher) keepPlain() {
	for i := range d.lanes {
		if s := &d.slots[i]; d.lanes[i].Fragments == nil {
			s.plain = append(append(s.plain[:0], s.text...), zeros[:]...)
			s.text = s.plain[:len(s.text)]
		}
	}
}
