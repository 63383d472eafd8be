package render

import (
	"slices"

	"hdqs/api/encode"
)

// encoderRows shows a form to the encoder.
type encoderRows struct{ *Form }

func (r encoderRows) Head() []byte   { return r.head }
func (r encoderRows) Tail() []byte   { return r.tail }
func (r encoderRows) Cut() int       { return r.cut }
func (r encoderRows) Len() int       { return r.rows }
func (r encoderRows) Slots() int     { return len(r.slotPieces) }
func (r encoderRows) Fragments() int { return int(r.ids[len(r.ids)-1]) }

func (r encoderRows) Cuts(slot int, fragment, other uint32) (cuts, others []uint32) {
	i := r.slotPieces[slot]
	fr := r.pieces[i].fragments
	if fr == nil || fr.fields == 1 {
		return wholeText, wholeText
	}
	return fr.cuts(fragment - r.ids[i]), fr.cuts(other - r.ids[i])
}

// wholeText are the cuts of a text of one field.
var wholeText = []uint32{0}

func (r encoderRows) AppendRows(dst []byte, runs []encode.Run) []byte {
	b := r.newBatch()
	for _, run := range runs {
		for from := run.From; from < run.To; {
			if from = b.add(from, run.To); b.n == batch {
				dst = r.appendBatch(dst, b)
			}
		}
	}
	if b.n > 0 {
		dst = r.appendBatch(dst, b)
	}
	r.batches.Put(b)
	return dst
}

func (r encoderRows) AppendPieces(dst []byte, pieces []encode.Piece, runs []encode.Run) ([]byte, []encode.Piece) {
	b := r.newBatch()
	for _, run := range runs {
		for from := run.From; from < run.To; {
			if from = b.add(from, run.To); b.n == batch {
				dst, pieces = r.appendBatchPieces(dst, pieces, b)
			}
		}
	}
	if b.n > 0 {
		dst, pieces = r.appendBatchPieces(dst, pieces, b)
	}
	r.batches.Put(b)
	return dst, pieces
}

// appendBatchPieces appends the rows of b with their pieces. A value is two pieces: a plain text, and what follows every value of the column,
// which is the same in every row and so as good as a fragment.
func (r encoderRows) appendBatchPieces(dst []byte, pieces []encode.Piece, b *rowBatch) ([]byte, []encode.Piece) {
	n := b.n
	dst = r.appendBatch(dst, b)
	at, slots := len(pieces), len(r.slotPieces)
	pieces = slices.Grow(pieces, n*slots)[:at+n*slots]
	slot := 0
	for i := range r.pieces {
		p := &r.pieces[i]
		out := pieces[at+slot:]
		l := &b.lanes[i]
		length := func(k int) int {
			if l.same != nil {
				return len(l.same)
			}
			return len(l.texts[k])
		}
		if p.fragments == nil {
			for k := range n {
				out[k*slots] = encode.Piece{Fragment: encode.Plain, Len: uint32(length(k) - len(p.after))}
				out[k*slots+1] = encode.Piece{Fragment: r.ids[i], Len: uint32(len(p.after))}
			}
			slot += 2
			continue
		}
		for k := range n {
			out[k*slots] = encode.Piece{Fragment: r.ids[i] + l.codes[k], Len: uint32(length(k))}
		}
		slot++
	}
	return dst, pieces
}
