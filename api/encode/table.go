package encode

import (
	"encoding/binary"
	"sync"
)

// Table compresses bodies of a table's rows in one output format. Any number of goroutines may share it.
type Table struct {
	rows      Rows
	deflaters sync.Pool // of *deflater
	bodies    sync.Pool // of *[]byte
}

// NewTable compresses bodies of rows.
func NewTable(rows Rows) *Table { return &Table{rows: rows} }

// gzipHeader begins a member: DEFLATE, no name, no time, any system.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// AppendGzip appends the body of the rows of runs as one gzip member.
func (t *Table) AppendGzip(dst []byte, runs []Run) []byte {
	d, ok := t.deflaters.Get().(*deflater)
	if !ok {
		d = newDeflater(t.rows)
	}
	d.start(append(dst, gzipHeader...))
	d.plain(t.rows.Head())
	d.rows(t.rows, runs, t.rows.Cut())
	d.plain(t.rows.Tail())
	dst = d.end()
	dst = binary.LittleEndian.AppendUint32(dst, d.crc)
	dst = binary.LittleEndian.AppendUint32(dst, d.size)
	d.bits.out = nil
	t.deflaters.Put(d)
	return dst
}
