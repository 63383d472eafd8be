package encode

import "slices"

// Most of a batch's text is in matches, and only a checksum would read it. So where there is none,
// the text is only written where literals may be: the pieces that differ from the previous row's,
// and the few bytes before them that are too short to be a match. The first row is written whole,
// and so is a last row that is cut. The rest of the text has bytes of no meaning.

// spoil is set in tests: bytes of no meaning are then ones that no text has.
var spoil bool

// render sets the lanes to the rows of a batch, and adds their text.
func (d *matcher) render(part []Run) {
	d.leaveOut = false
	if !d.sparse {
		d.text = d.batch.Append(d.text, d.lanes, part)
		return
	}
	size := d.batch.LookUp(d.lanes, part)
	d.text = slices.Grow(d.text, size+Slack)[:len(d.text)+size]
	if spoil {
		for i := range d.text[d.at:] {
			d.text[d.at+i] = 0xfe
		}
	}
	// In longer rows a match might be too far away, and all bytes literals.
	if d.leaveOut = size <= d.window; d.leaveOut {
		return
	}
	at, k := d.at, 0
	for _, r := range part {
		for range r.To - r.From {
			at = d.putRowAt(at, k)
			k++
		}
	}
}

// piece returns the text of row k of the batch in a slot.
func (d *matcher) piece(slot, k int) []byte {
	if l := &d.lanes[slot]; l.Same == nil {
		return l.Texts[k]
	}
	return d.lanes[slot].Same
}

// put writes a piece at the current position.
func (d *matcher) put(piece []byte) {
	if !d.leaveOut {
		return
	}
	to, n := d.text[d.at:cap(d.text)], len(piece)
	if n > 8*Slack {
		copy(to, piece)
		return
	}
	piece = piece[: n+Slack : n+Slack]
	for i := 0; i < n; i += Slack { // moves of a fixed size need no call
		*(*[Slack]byte)(to[i:]) = *(*[Slack]byte)(piece[i:])
	}
}

// putRow writes row k, which starts at the current position.
func (d *matcher) putRow(k int) { d.putRowAt(d.at, k) }

// putRowAt writes row k at a position, and returns where it ends.
func (d *matcher) putRowAt(at, k int) int {
	for s := range d.lanes {
		piece := d.piece(s, k)
		copy(d.text[at:], piece)
		at += len(piece)
	}
	return at
}

// putBefore writes the last n bytes before a slot of row k, which may be of several pieces and
// rows. They end at the current position. Those before the batch are written.
func (d *matcher) putBefore(slot, k, n int) {
	for at := d.at; n > 0; {
		if slot--; slot < 0 {
			slot = len(d.lanes) - 1
			if k--; k < 0 {
				return
			}
		}
		piece := d.piece(slot, k)
		piece = piece[max(0, len(piece)-n):]
		at -= len(piece)
		n -= len(piece)
		copy(d.text[at:], piece)
	}
}
