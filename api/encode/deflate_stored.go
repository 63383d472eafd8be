package encode

import (
	"sync"

	"github.com/klauspost/compress/flate"
)

// storedLevel is the level of stored blocks. Level 9 makes them 10 to 18 % smaller in four times
// the time, for which the first request waits.
const storedLevel = 6

type flateWriter struct {
	w    *flate.Writer
	sink sink
	dict []byte
	text []byte
}

var flateWriters = sync.Pool{New: func() any {
	f := new(flateWriter)
	w, err := flate.NewWriterDict(&f.sink, storedLevel, nil)
	if err != nil {
		panic(err) // the level is a constant
	}
	f.w = w
	return f
}}

// deflateBlock returns a block of the rows from to to-1 that refers back to at most reach rows and
// ends on a byte boundary.
func deflateBlock(rows Rows, from, to uint32) *storedBlock {
	f := flateWriters.Get().(*flateWriter)
	f.dict = rows.AppendRows(f.dict[:0], []Run{{from - min(reach, from), from}})
	if more := len(f.dict) - maxDistance; more > 0 {
		f.dict = append(f.dict[:0], f.dict[more:]...)
	}
	f.text = rows.AppendRows(f.text[:0], []Run{{from, to}})
	f.sink.b = f.sink.b[:0]
	f.w.ResetDict(&f.sink, f.dict)
	// A sink never fails, so neither call can.
	_, _ = f.w.Write(f.text)
	_ = f.w.Flush()
	b := newGzipBlock(f.sink.b, f.text)
	flateWriters.Put(f)
	return b
}
