package render

import (
	"slices"
	"sync"
	"sync/atomic"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/cache"
)

// Form renders the rows of one segment in one output format. It holds the text around the rows and
// the pieces of a row. It may be used concurrently, like its Renderer.
type Form struct {
	*rowForm
	head, tail []byte
}

// rowForm is what forms have in common that differ only in the text around the rows.
type rowForm struct {
	rows    int
	fields  []boundField
	dialect dialect

	cut    int
	null   []byte
	pieces []piece
	ids    []uint32 // number of each piece's first fragment for the encoder; the last element is the total
	table  *encode.Table
	cache  *cache.Clock // of the table

	measured   sync.Once
	lengths    []measuredLength             // of each measuredRows rows; 0 before it is computed
	rowLengths []atomic.Pointer[rowLengths] // of measuredRows rows each; nil before they are measured

	bodySize atomic.Uint64 // bytes per row of the last body with rows, times 16
	batches  sync.Pool     // of *rowBatch
	runs     sync.Pool     // of *[]encode.Run
}

// guess is the assumed length of a field before a body has been rendered.
const guess = 24

func newForm(rows int, fields []boundField, d dialect, shared sharedFragments, o encode.Options) *Form {
	return newFormOf(rows, fields, d, plan(fields, d, shared), o)
}

func newFormOf(rows int, fields []boundField, d dialect, pieces []piece, o encode.Options) *Form {
	f := &Form{&rowForm{
		rows: rows, fields: fields, dialect: d, cut: d.cut(), null: d.null(), pieces: pieces, cache: o.Cache,
	}, d.head(fields), d.tail()}
	f.bodySize.Store(uint64(guess * 16 * len(fields)))
	f.ids = make([]uint32, 1, len(f.pieces)+1)
	for i := range f.pieces {
		id := f.ids[i]
		if fr := f.pieces[i].fragments; fr != nil {
			id += uint32(fr.n)
		} else {
			id++
		}
		f.ids = append(f.ids, id)
	}
	f.table = encode.NewTable(encoderRows{f}, o)
	return f
}

// Framed returns the form with another text around the rows. It shares all that the form has.
func (f *Form) Framed(head, tail []byte) *Form { return &Form{f.rowForm, head, tail} }

// Head returns the text of a body before its rows.
func (f *Form) Head() []byte { return f.head }

// Tail returns the text of a body after its rows.
func (f *Form) Tail() []byte { return f.tail }

// Cut returns the number of bytes that a body omits at the end of its last row: AppendRows ends
// every row as if another one followed.
func (f *Form) Cut() int { return f.cut }

// SizeHint estimates the length of a body of this many rows from the last body.
func (f *Form) SizeHint(rows int) int {
	// An eighth more: a body slightly longer than the last one must not reallocate its memory at
	// the end.
	return len(f.head) + len(f.tail) + int(uint64(rows)*f.bodySize.Load()/16*9/8)
}

// Append appends the body of the rows of ranges, which are row ids of the segment.
func (f *Form) Append(dst []byte, ranges []index.Range) []byte {
	rows := 0
	for _, r := range ranges {
		rows += int(r.To - r.From)
	}
	if need := f.SizeHint(rows); cap(dst)-len(dst) < need {
		dst = slices.Grow(dst, need)
	}
	start := len(dst)
	dst = append(dst, f.head...)
	if rows > 0 {
		dst = f.AppendRows(dst, ranges)
		dst = dst[:len(dst)-f.cut]
		f.bodySize.Store(uint64(len(dst)-start) * 16 / uint64(rows))
	}
	return append(dst, f.tail...)
}

// AppendRows appends the rows of ranges without head and tail, each ended as if another row
// followed.
func (f *Form) AppendRows(dst []byte, ranges []index.Range) []byte { return appendRows(f, dst, ranges) }

// appendRows appends the rows of ranges, of the index or of the encoder.
func appendRows[R index.Range | encode.Run](f *Form, dst []byte, ranges []R) []byte {
	b := f.newBatch()
	for _, r := range ranges {
		r := index.Range(r)
		for from := r.From; from < r.To; {
			if from = b.Add(from, r.To, batch); b.Len() == batch {
				dst = f.appendBatch(dst, b)
			}
		}
	}
	if b.Len() > 0 {
		dst = f.appendBatch(dst, b)
	}
	f.batches.Put(b)
	return dst
}

// appendBatch appends the rows of b and clears b.
func (f *Form) appendBatch(dst []byte, b *rowBatch) []byte {
	size := f.lookUp(b)
	if cap(dst)-len(dst) < size+overshoot {
		dst = slices.Grow(dst, size+overshoot)
	}
	b.join()
	dst = appendTexts(dst, b.joined, b.Len(), size)
	b.Clear()
	return dst
}

// AppendCoded appends the body of the rows of ranges in a content coding.
func (f *Form) AppendCoded(dst []byte, coding encode.Coding, ranges []index.Range) []byte {
	return f.AppendCodedPausing(dst, coding, ranges, nil)
}

// AppendCodedPausing is AppendCoded. With a coding other than Identity it calls pause, unless that
// is nil, before each batch of rows that it encodes.
func (f *Form) AppendCodedPausing(dst []byte, coding encode.Coding, ranges []index.Range, pause func()) []byte {
	if coding == encode.Identity {
		return f.Append(dst, ranges)
	}
	runs, ok := f.runs.Get().(*[]encode.Run)
	if !ok {
		runs = new([]encode.Run)
	}
	*runs = (*runs)[:0]
	for _, r := range ranges {
		*runs = append(*runs, encode.Run(r))
	}
	dst = f.table.Append(dst, encode.Frame{Head: f.head, Tail: f.tail}, *runs, coding, pause)
	f.runs.Put(runs)
	return dst
}
