package render

import "hdqs/api/encode"

type encoderRows struct{ *Form }

func (r encoderRows) Head() []byte   { return r.head }
func (r encoderRows) Tail() []byte   { return r.tail }
func (r encoderRows) Cut() int       { return r.cut }
func (r encoderRows) Len() int       { return r.rows }
func (r encoderRows) Slots() int     { return len(r.pieces) }
func (r encoderRows) Fragments() int { return int(r.ids[len(r.ids)-1]) }

func (r encoderRows) Cuts(slot int, fragment, other uint32) (cuts, others []uint32) {
	fr := r.pieces[slot].fragments
	if fr.fields == 1 || r.pieces[slot].part != nil {
		return wholeText, wholeText
	}
	return fr.cuts(fragment - r.ids[slot]), fr.cuts(other - r.ids[slot])
}

// wholeText is the cuts of a text with one field.
var wholeText = []uint32{0}

func (r encoderRows) AppendRows(dst []byte, runs []encode.Run) []byte {
	return appendRows(r.Form, dst, runs)
}

func (r encoderRows) NewBatch() encode.Batch {
	e := encoderBatch{r.Form, r.newBatch(), make([][]uint32, len(r.pieces))}
	for i := range r.pieces {
		if fr := r.pieces[i].fragments; fr != nil && fr.same != nil && r.pieces[i].part == nil {
			e.first[i] = make([]uint32, batch)
		}
	}
	return e
}

// encoderBatch implements encode.Batch: each piece is a slot.
type encoderBatch struct {
	f     *Form
	b     *rowBatch
	first [][]uint32 // memory for codes, of pieces whose fragments may have the same text
}

func (e encoderBatch) Append(dst []byte, lanes []encode.Lane, runs []encode.Run) []byte {
	n := e.add(runs)
	dst = e.f.appendBatch(dst, e.b)
	e.setLanes(lanes, n)
	return dst
}

// add adds the rows of runs to the batch and returns how many there are.
func (e encoderBatch) add(runs []encode.Run) int {
	for _, run := range runs {
		for from := run.From; from < run.To; {
			from = e.b.Add(from, run.To, batch)
		}
	}
	return e.b.Len()
}

// setLanes sets lanes to the pieces of the n rows looked up.
func (e encoderBatch) setLanes(lanes []encode.Lane, n int) {
	for i := range e.f.pieces {
		p, l := &e.f.pieces[i], &e.b.lanes[i]
		lanes[i] = encode.Lane{Same: l.same, Texts: l.texts[:n], First: e.f.ids[i]}
		switch {
		case p.fragments == nil:
			lanes[i].After = len(p.after)
		case p.fragments.same != nil && p.part == nil:
			lanes[i].Fragments = p.fragments.firstSame(e.first[i], l.codes[:n])
		default:
			lanes[i].Fragments = l.codes[:n]
		}
	}
}
