package encode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// fakeRows are made-up rows: each slot either has fragments of some fields, chosen by a number a row, or a plain text a row.
type fakeRows struct {
	head, tail []byte
	cut        int
	n          int
	slots      []fakeSlot
	fragments  int
}

type fakeSlot struct {
	first int // number of its first fragment
	texts [][]byte
	cuts  [][]uint32
	codes []uint32 // a fragment, or a plain text, a row
	plain bool
}

// newFakeRows makes n rows. With odd, texts may be empty, very long or the same.
func newFakeRows(r *rand.Rand, n int, odd bool) *fakeRows {
	f := &fakeRows{head: []byte(`{"data":[`), tail: []byte(`]}`), cut: 1, n: n}
	if r.IntN(4) == 0 {
		f.head, f.tail, f.cut = []byte("a,b\r\n"), nil, 0
	}
	slots := 1 + r.IntN(6)
	for s := range slots {
		slot := fakeSlot{plain: r.IntN(3) == 0, first: f.fragments}
		spread := 1 + r.IntN(1+r.IntN(600))
		for i := range spread {
			text, cuts := []byte(nil), []uint32{0}
			fields := 1 + r.IntN(5)
			if slot.plain {
				text = strconv.AppendInt(text, int64(r.Uint64()>>r.IntN(64)), 10)
			} else {
				for k := range fields {
					if k > 0 {
						cuts = append(cuts, uint32(len(text)))
					}
					text = fmt.Appendf(text, `,"key%d_%d":"%s %d"`, s, k, "the same in all", r.IntN(1+i/7))
					if odd && r.IntN(200) == 0 {
						text = append(text, bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1<<r.IntN(17)))...)
					}
				}
				if odd && r.IntN(10) == 0 {
					text, cuts = nil, cuts[:1]
				}
			}
			if s == slots-1 {
				text = append(text, "},"...)
			}
			slot.texts = append(slot.texts, text)
			slot.cuts = append(slot.cuts, cuts)
		}
		if !slot.plain {
			// All fragments of a slot have the same number of fields.
			least := len(slot.cuts[0])
			for _, c := range slot.cuts {
				least = min(least, len(c))
			}
			for i := range slot.cuts {
				slot.cuts[i] = slot.cuts[i][:least]
			}
			f.fragments += spread
		}
		code := uint32(r.IntN(spread))
		steady := r.IntN(30)
		for range n {
			if r.IntN(1+steady) == 0 {
				code = uint32(r.IntN(spread))
			}
			slot.codes = append(slot.codes, code)
		}
		f.slots = append(f.slots, slot)
	}
	return f
}

func (f *fakeRows) Head() []byte   { return f.head }
func (f *fakeRows) Tail() []byte   { return f.tail }
func (f *fakeRows) Cut() int       { return f.cut }
func (f *fakeRows) Len() int       { return f.n }
func (f *fakeRows) Slots() int     { return len(f.slots) }
func (f *fakeRows) Fragments() int { return f.fragments }

func (f *fakeRows) Cuts(slot int, fragment, other uint32) (cuts, others []uint32) {
	s := &f.slots[slot]
	return s.cuts[int(fragment)-s.first], s.cuts[int(other)-s.first]
}

func (f *fakeRows) AppendRows(dst []byte, runs []Run) []byte {
	dst, _ = f.AppendPieces(dst, nil, runs)
	return dst
}

func (f *fakeRows) AppendPieces(dst []byte, pieces []Piece, runs []Run) ([]byte, []Piece) {
	for _, run := range runs {
		for row := run.From; row < run.To; row++ {
			for i := range f.slots {
				s := &f.slots[i]
				text := s.texts[s.codes[row]]
				dst = append(dst, text...)
				p := Piece{Plain, uint32(len(text))}
				if !s.plain {
					p.Fragment = uint32(s.first) + s.codes[row]
				}
				pieces = append(pieces, p)
			}
		}
	}
	return dst, pieces
}

// body is the whole body of rows, written plainly.
func body(rows Rows, runs []Run) []byte { return appendBody(nil, rows, runs) }

// randomRuns are ascending runs of rows that do not touch.
func randomRuns(r *rand.Rand, rows int) []Run {
	if rows > 0 && r.IntN(4) == 0 {
		return []Run{{0, uint32(rows)}}
	}
	var runs []Run
	gap, length := 1+r.IntN(50), 1+r.IntN(1+r.IntN(400))
	for at := r.IntN(gap + 1); at < rows; {
		to := min(at+1+r.IntN(length), rows)
		runs = append(runs, Run{uint32(at), uint32(to)})
		at = to + 1 + r.IntN(gap)
	}
	return runs
}
