package render

import (
	"io"
	"iter"

	"hdqs/index"
)

// streamRows is about how many rows Write renders at a time: 100 to 300 KB of most tables.
const streamRows = 1 << 10

// Write writes the body of rows, which are ascending ranges, with the memory of a few of them.
func (f *Form) Write(w io.Writer, rows iter.Seq[index.Range]) error {
	out := append([]byte(nil), f.head...)
	headed := len(out)
	var ranges []index.Range
	n, any := 0, false
	var failed error
	flush := func() bool {
		// The separator after the last row is kept back: no row may follow.
		out = f.AppendRows(out, ranges)
		ranges, n, any = ranges[:0], 0, true
		_, failed = w.Write(out[:len(out)-f.cut])
		out = append(out[:0], out[len(out)-f.cut:]...)
		return failed == nil
	}
	for r := range rows {
		for r.From < r.To {
			part := min(r.To-r.From, uint32(streamRows-n))
			ranges = append(ranges, index.Range{From: r.From, To: r.From + part})
			r.From += part
			if n += int(part); n == streamRows && !flush() {
				return failed
			}
		}
	}
	if n > 0 && !flush() {
		return failed
	}
	if any {
		out = out[:0]
	} else {
		out = out[:headed]
	}
	_, err := w.Write(append(out, f.tail...))
	return err
}
