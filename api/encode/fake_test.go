package encode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
)

// fakeRows are made-up rows. A slot either has fragments with some fields, one of them in each row,
// or plain texts.
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
	codes []uint32 // of each row, its fragment or plain text
	plain bool
	after int
}

// newFakeRows returns n rows. With odd, texts may be empty, very long, or equal.
func newFakeRows(r *rand.Rand, n int, odd bool) *fakeRows {
	f := &fakeRows{head: []byte(`{"data":[`), tail: []byte(`]}`), cut: 1, n: n}
	if r.IntN(4) == 0 {
		f.head, f.tail, f.cut = []byte("a,b\r\n"), nil, 0
	}
	slots := 1 + r.IntN(6)
	short := r.IntN(4) == 0 // as in CSV, where a row may have a few bytes
	for s := range slots {
		slot := fakeSlot{plain: r.IntN(3) == 0, first: f.fragments}
		spread := 1 + r.IntN(1+r.IntN(600))
		after := []string{"", `,"and so on":`}[r.IntN(2)]
		end := "},"
		if short {
			after, end = ",", "\r\n"
		}
		if slot.plain {
			slot.after = len(after)
			if s == slots-1 {
				slot.after += len(end)
			}
		}
		number := r.IntN(4) == 0
		for i := range spread {
			text, cuts := []byte(nil), []uint32{0}
			fields := 1 + r.IntN(5)
			if short && !slot.plain {
				fields = 0
				text = fmt.Appendf(text, "%.*s", r.IntN(5), strconv.Itoa(r.IntN(1000)))
				text = append(text, after[:min(1, slots-1)]...)
			} else if number {
				fields = 0
				text = fmt.Appendf(text, `,"n":%d.0`, r.IntN(100_000))
			}
			if slot.plain {
				text = strconv.AppendInt(text, int64(r.Uint64()>>r.IntN(64)), 10)
				switch r.IntN(20) {
				case 0:
					text = append(text[:0], "null"...)
				case 1:
					text = append(text, bytes.Repeat([]byte(":x,"), r.IntN(20))...)
				}
				if odd && r.IntN(200) == 0 {
					text = append(text, bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1<<r.IntN(17)))...)
				}
				text = append(text, after...)
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
				text = append(text, end...)
			}
			text = append(make([]byte, 0, len(text)+Slack), text...)
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
	for _, run := range runs {
		for row := run.From; row < run.To; row++ {
			for i := range f.slots {
				s := &f.slots[i]
				dst = append(dst, s.texts[s.codes[row]]...)
			}
		}
	}
	return dst
}

func (f *fakeRows) NewBatch() Batch { return &fakeBatch{rows: f} }

// fakeBatch renders made-up rows. Each call overwrites the results of the last one.
type fakeBatch struct {
	rows  *fakeRows
	space [][]byte // of each slot
	codes [][]uint32
	texts [][][]byte
}

func (b *fakeBatch) Append(dst []byte, lanes []Lane, runs []Run) []byte {
	f := b.rows
	if b.space == nil {
		b.space, b.codes, b.texts = make([][]byte, len(f.slots)), make([][]uint32, len(f.slots)), make([][][]byte,
			len(f.slots))
	}
	for i := range f.slots {
		s := &f.slots[i]
		clear(b.space[i])
		space, codes, texts, same := b.space[i][:0], b.codes[i][:0], b.texts[i][:0], true
		for _, run := range runs {
			for row := run.From; row < run.To; row++ {
				code := s.codes[row]
				text := s.texts[code]
				if s.plain {
					at := len(space)
					space = append(append(space, text...), make([]byte, Slack)...)
					text = space[at : at+len(text)]
				}
				codes, texts = append(codes, code), append(texts, text)
				same = same && code == codes[0]
			}
		}
		b.space[i], b.codes[i], b.texts[i] = space, codes, texts
		lanes[i] = Lane{Texts: texts, First: uint32(s.first), After: s.after}
		if !s.plain {
			lanes[i].Fragments = codes
			if same {
				lanes[i].Same, lanes[i].Texts = texts[0], nil
			}
		}
	}
	return f.AppendRows(dst, runs)
}

// AppendGzip and AppendZstd append the body of the rows of runs.
func (t *Table) AppendGzip(dst []byte, runs []Run) []byte {
	return t.Append(dst, t.frame(), runs, Gzip, nil)
}

func (t *Table) AppendZstd(dst []byte, runs []Run) []byte {
	return t.Append(dst, t.frame(), runs, Zstd, nil)
}

// body returns the plain body of rows.
func body(rows Rows, runs []Run) []byte {
	return appendBody(nil, rows, Frame{rows.Head(), rows.Tail()}, runs)
}

// randomRuns returns ascending runs of rows that do not touch.
func randomRuns(r *rand.Rand, rows int) []Run {
	if rows > 0 && r.IntN(4) == 0 {
		return []Run{{0, uint32(rows)}}
	}
	return runsApart(r, rows, 1+r.IntN(50), 1+r.IntN(1+r.IntN(400)))
}

// shortRuns returns ascending runs of rows that do not touch, most of them of a few rows.
func shortRuns(r *rand.Rand, rows int) []Run {
	return runsApart(r, rows, 1+r.IntN(40), 1+r.IntN(1+r.IntN(150)))
}

// runsApart returns ascending runs of up to length rows, with up to gap rows between them.
func runsApart(r *rand.Rand, rows, gap, length int) (runs []Run) {
	for at := r.IntN(gap + 1); at < rows; {
		to := min(at+1+r.IntN(length), rows)
		runs = append(runs, Run{uint32(at), uint32(to)})
		at = to + 1 + r.IntN(gap)
	}
	return runs
}

// alwaysCopy makes a table copy rows from row blocks, even if bodies are larger.
func alwaysCopy(t *Table) {
	t.copied.code = sync.OnceValue(func() *blockCode {
		code, _ := newDeflater(t.rows, t.firstCode()).rowCode(sampleOf(t.rows, rowRuns))
		return code
	})
}
