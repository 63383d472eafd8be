package encode

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// matcher turns rows into literals and matches without searching: it remembers where each fragment stood last and refers back to there. What
// is not a fragment, or one not seen within the window, is compared with what the row before has at the same place. Its memory is reused.
type matcher struct {
	window int    // how far back a match may refer
	text   []byte // the last of what was encoded, and what is being encoded
	base   uint32 // position of text[0]; positions go on from body to body, so that those of an earlier one are out of reach
	size   uint32 // of the body so far
	flush  func() // writes the block when it is full
	check  func(text []byte)

	last  []uint32 // position of each fragment
	slots []slot   // the last row's pieces

	// The match being extended ends where encoding stands.
	length, distance int

	block  block
	pieces []Piece
}

// slot is the last piece that stood at a place of the row.
type slot struct {
	at       uint32
	length   uint32
	fragment uint32
}

const (
	// moreText is how much text more than a window is kept until the rest is dropped: seldom enough to cost nothing, often enough to stay in the
	// second cache.
	moreText = 64 << 10

	// maxSequences ends a block: a code fits what it was made for, and a new one costs about 80 bytes.
	maxSequences = 16 << 10

	// shortMatch is the shortest match worth its distance.
	shortMatch = 5

	// longFragment is the length above which a fragment is not compared with what the match in hand would go on with: the match of its own is
	// hardly shorter for it.
	longFragment = 40
)

// init makes the memory for a table's rows.
func (d *matcher) init(rows Rows, window int) {
	d.window = window
	d.base = uint32(window) + 1
	d.last, d.slots = make([]uint32, rows.Fragments()), make([]slot, rows.Slots())
}

// start begins a body.
func (d *matcher) start() {
	d.base += uint32(len(d.text) + d.window + 1)
	if d.base > math.MaxUint32/2 {
		d.base = uint32(d.window) + 1
		clear(d.last)
		clear(d.slots)
	}
	d.text, d.size, d.length = d.text[:0], 0, 0
}

// plain encodes bytes that no row holds.
func (d *matcher) plain(text []byte) {
	d.settle(len(d.text))
	at := len(d.text)
	d.text = append(d.text, text...)
	d.block.literal(d.text[at:])
	d.took(at)
}

// took counts the text from at on as encoded.
func (d *matcher) took(at int) {
	if d.check != nil {
		d.check(d.text[at:])
	}
	d.size += uint32(len(d.text) - at)
}

// rows encodes the rows of runs, without the last cut bytes.
func (d *matcher) rows(rows Rows, runs []Run, cut int) {
	left := 0
	for _, r := range runs {
		left += int(r.To - r.From)
	}
	batches(runs, func(part []Run) {
		if len(d.block.sequences) > maxSequences || len(d.block.literals) > 8*maxSequences {
			d.settle(len(d.text))
			d.flush()
		}
		d.slide()
		at := len(d.text)
		d.text, d.pieces = rows.AppendPieces(d.text, d.pieces[:0], part)
		for _, r := range part {
			left -= int(r.To - r.From)
		}
		if left == 0 && cut > 0 {
			d.text = d.text[:len(d.text)-cut]
			p := &d.pieces[len(d.pieces)-1]
			*p = Piece{Plain, p.Len - uint32(cut)}
		}
		d.took(at)
		d.encode(rows, at)
	})
}

// slide drops the text that no match can reach any more.
func (d *matcher) slide() {
	if drop := len(d.text) - d.window - shortMatch; drop > moreText {
		copy(d.text, d.text[drop:])
		d.text = d.text[:len(d.text)-drop]
		d.base += uint32(drop)
	}
}

// encode encodes the pieces of the text from at on.
func (d *matcher) encode(rows Rows, at int) {
	slots, s := d.slots, -1
	for _, p := range d.pieces {
		if s++; s == len(slots) {
			s = 0
		}
		here := d.base + uint32(at)
		end := at + int(p.Len)
		if p.Fragment == Plain {
			d.plainPiece(at, end, s)
		} else {
			back := here - d.last[p.Fragment]
			d.last[p.Fragment] = here
			switch {
			case int(back) > d.window:
				d.newFragment(rows, at, end, s, p.Fragment)
			case int(back) == d.distance && d.length > 0:
				d.length += int(p.Len)
			default:
				d.refer(at, end, int(back))
			}
		}
		slots[s] = slot{here, p.Len, p.Fragment}
		at = end
	}
}

// settle adds the match in hand, which ends at position end of the text.
func (d *matcher) settle(end int) {
	switch {
	case d.length >= shortMatch:
		d.block.match(d.length, d.distance)
	case d.length > 0:
		d.block.literal(d.text[end-d.length : end])
	}
	d.length = 0
}

// refer encodes text[at:end], which stands back bytes before too. As much of it as the match in hand covers stays there, unless a new match
// can cover the rest.
func (d *matcher) refer(at, end, back int) {
	n := 0
	if d.length > 0 && end-at > longFragment {
		d.settle(at)
	} else if d.length > 0 {
		n = samePrefix(d.text[at:end], d.text[at-d.distance:])
		d.length += n
		if end-at-n < shortMatch {
			if n < end-at {
				d.settle(at + n)
				d.block.literal(d.text[at+n : end])
			}
			return
		}
		d.settle(at + n)
	}
	d.length, d.distance = end-at-n, back
}

// plainPiece encodes text[at:end], which is no fragment: as far as the match in hand goes on, then as it is.
func (d *matcher) plainPiece(at, end, s int) {
	if d.length > 0 {
		n := samePrefix(d.text[at:end], d.text[at-d.distance:])
		d.length += n
		at += n
		if at == end {
			return
		}
		d.settle(at)
	}
	d.block.literal(d.text[at:end])
}

// newFragment encodes text[at:end], a fragment that is not within reach, field by field against the last row's.
func (d *matcher) newFragment(rows Rows, at, end, s int, fragment uint32) {
	old := d.slots[s]
	back := d.base + uint32(at) - old.at
	if int(back) > d.window || old.fragment == Plain {
		d.plainPiece(at, end, s)
		return
	}
	oldAt := at - int(back)
	cuts, oldCuts := rows.Cuts(s, fragment, old.fragment)
	for f := 0; f < len(cuts); {
		from, oldFrom := at+int(cuts[f]), oldAt+int(oldCuts[f])
		to, oldTo := from, oldFrom
		// Fields of equal lengths are compared in one stretch.
		for f < len(cuts) && to-from == oldTo-oldFrom {
			f++
			if f < len(cuts) {
				to, oldTo = at+int(cuts[f]), oldAt+int(oldCuts[f])
			} else {
				to, oldTo = end, oldAt+int(old.length)
			}
		}
		d.compare(from, to, from-oldFrom, min(to-from, oldTo-oldFrom))
	}
}

// compare encodes text[from:to], of which the first n bytes are like those distance back here and there. Of a field that is shorter or
// longer there, this goes up to the first difference; where all lengths are equal, further on.
func (d *matcher) compare(from, to, distance, n int) {
	comparable := from + n
	for from < to {
		same := samePrefix(d.text[from:comparable], d.text[from-distance:comparable-distance])
		switch {
		case d.length > 0 && d.distance == distance:
			d.length += same
			from += same
		case same >= shortMatch:
			d.settle(from)
			d.length, d.distance = same, distance
			from += same
		}
		if from == to {
			return
		}
		d.settle(from)
		next := d.nextSame(from, comparable, distance)
		if next == comparable {
			next = to
		}
		d.block.literal(d.text[from:next])
		from = next
	}
}

// nextSame is where the next shortMatch bytes of text[from:to] begin that are those distance back, or to.
func (d *matcher) nextSame(from, to, distance int) int {
	run := 0
	for i, c := range d.text[from:to] {
		if c != d.text[from+i-distance] {
			run = 0
		} else if run++; run == shortMatch {
			return from + i + 1 - shortMatch
		}
	}
	return to
}

// samePrefix is how many bytes a and b start with in common.
func samePrefix(a, b []byte) int {
	b = b[:min(len(a), len(b))]
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// prime tells what stands in front of the rows to come after stored blocks: one run of at most batchRows rows, already in the output.
func (d *matcher) prime(rows Rows, run Run) {
	d.base += uint32(len(d.text) + d.window + 1)
	d.text, d.pieces = rows.AppendPieces(d.text[:0], d.pieces[:0], []Run{run})
	at, s := d.base, -1
	for _, p := range d.pieces {
		if s++; s == len(d.slots) {
			s = 0
		}
		if p.Fragment != Plain {
			d.last[p.Fragment] = at
		}
		d.slots[s] = slot{at, p.Len, p.Fragment}
		at += p.Len
	}
}
