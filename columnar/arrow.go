package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"hdqs/snapshot"
)

// ArrowOptions are how an Arrow stream is written.
type ArrowOptions struct {
	Zstd bool // compress buffers
}

// ArrowBatch is the most rows of a record batch: about a megabyte, which is still in the cache of
// the CPU when it is sent.
const ArrowBatch = 16 << 10

// WriteArrow writes rows as an Arrow IPC stream: the schema, the dictionaries, batches of rows, and
// an end, without which some readers report an error. Memory is that of one batch and of the tables
// of columns. Rows are read twice: a dictionary has only the texts that occur, in the order of
// their codes, and comes before the first batch, since many readers have neither deltas nor
// replacements of dictionaries.
func WriteArrow(w io.Writer, fields []Field, rows Rows, o ArrowOptions) error {
	if err := checkFields(fields); err != nil {
		return err
	}
	for i := range fields {
		if fields[i].Type() == Point {
			return fmt.Errorf("columnar: field %q is a point, which is not written to Arrow streams", fields[i].Name)
		}
	}
	a := &arrowWriter{w: w, fields: fields}
	if o.Zstd {
		var err error
		if a.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err != nil {
			return err
		}
		defer a.zstd.Close()
	}
	if err := a.send(arrowSchema(fields), nil); err != nil {
		return err
	}
	if err := a.sendDictionaries(rows); err != nil {
		return err
	}
	for b := range batches(rows, ArrowBatch) {
		if err := a.sendBatch(b); err != nil {
			return err
		}
	}
	_, err := w.Write(arrowEnd)
	return err
}

// arrowEnd ends a stream: the mark of a message, and no length.
var arrowEnd = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// Messages begin at multiples of 8, buffers within their bodies at multiples of 64.
const (
	arrowAlign  = 8
	bufferAlign = 64
)

// arrowWriter writes the messages of a stream.
type arrowWriter struct {
	w       io.Writer
	fields  []Field
	columns []arrowColumn
	zstd    *zstd.Encoder

	// Of one message, reused.
	head    []byte
	body    []byte
	nodes   []arrowNode
	buffers []arrowBuffer
	valid   []byte // a bit for each row
	data    []byte // to be compressed
	floats  []float64
}

// arrowNode is a column in a message, arrowBuffer a part of its body.
type arrowNode struct{ length, nulls int }

type arrowBuffer struct{ offset, length int }

// errLongDictionary: offsets have 32 bits.
var errLongDictionary = errors.New("columnar: the texts of a dictionary are longer than 2 GiB")

// send writes a message with the body that is in a.body.
func (a *arrowWriter) send(message, body []byte) error {
	a.head = append(a.head[:0], 0xff, 0xff, 0xff, 0xff)
	padding := -len(message) & (arrowAlign - 1)
	a.head = binary.LittleEndian.AppendUint32(a.head, uint32(len(message)+padding))
	a.head = append(append(a.head, message...), make([]byte, padding)...)
	if _, err := a.w.Write(a.head); err != nil || len(body) == 0 {
		return err
	}
	_, err := a.w.Write(body)
	return err
}

func (a *arrowWriter) begin() {
	a.body, a.nodes, a.buffers = a.body[:0], a.nodes[:0], a.buffers[:0]
}

// addBuffer adds a buffer of some bytes to the body. fill sets all of them.
func (a *arrowWriter) addBuffer(size int, fill func(dst []byte)) {
	start := len(a.body)
	if a.zstd != nil && size > 0 {
		a.data = resize(a.data, size)
		fill(a.data)
		// Each has its length before it; -1 would say that it is not compressed.
		a.body = binary.LittleEndian.AppendUint64(a.body, uint64(size))
		a.body = a.zstd.EncodeAll(a.data, a.body)
	} else {
		a.body = slices.Grow(a.body, size+bufferAlign)[:start+size]
		fill(a.body[start:])
	}
	a.buffers = append(a.buffers, arrowBuffer{start, len(a.body) - start})
	for len(a.body)%bufferAlign != 0 {
		a.body = append(a.body, 0)
	}
}

// addValid adds the bits of a column that say which rows are not null. Without nulls there are
// none.
func (a *arrowWriter) addValid(rows, nulls int) {
	a.nodes = append(a.nodes, arrowNode{rows, nulls})
	if nulls == 0 {
		a.addBuffer(0, func([]byte) {})
	} else {
		a.addBuffer(len(a.valid), func(dst []byte) { copy(dst, a.valid) })
	}
}

// sendDictionaries sends the texts of the rows, for each field of strings, and makes the columns.
func (a *arrowWriter) sendDictionaries(rows Rows) error {
	seen := a.readTexts(rows)
	a.columns = make([]arrowColumn, len(a.fields))
	for i := range a.fields {
		if seen[i] != nil {
			if err := a.sendDictionary(i, a.fields[i].Column, seen[i]); err != nil {
				return err
			}
		}
		a.columns[i] = newArrowColumn(&a.fields[i], seen[i])
	}
	return nil
}

// readTexts returns 1 for each code that rows have, for each field of strings. Of a group, the
// tuples that rows have are found first, once for all its fields.
func (a *arrowWriter) readTexts(rows Rows) [][]uint32 {
	codes, tuples := make([][]uint32, len(a.fields)), map[*snapshot.Group][]uint32{}
	for i := range a.fields {
		if c := a.fields[i].Column; a.fields[i].Type() == String {
			codes[i] = make([]uint32, c.Cardinality()+1)
			if c.Group != nil {
				tuples[c.Group] = make([]uint32, c.Len())
			}
		}
	}
	for b := range batches(rows, arrowTable) {
		for g, seen := range tuples {
			for _, tuple := range b.readTuples(g) {
				seen[tuple] = 1
			}
		}
		for i, seen := range codes {
			if c := a.fields[i].Column; seen != nil && c.Group == nil {
				for _, code := range b.readCodes(c) {
					seen[code] = 1
				}
			}
		}
	}
	for i, seen := range codes {
		if c := a.fields[i].Column; seen != nil && c.Group != nil {
			for tuple, has := range tuples[c.Group] {
				seen[c.Codes().At(uint32(tuple))] |= has
			}
		}
	}
	return codes
}

// sendDictionary sends the texts that were seen, and sets seen to their indices.
func (a *arrowWriter) sendDictionary(id int, c *snapshot.Column, seen []uint32) error {
	a.begin()
	n := 0
	offsets := binary.LittleEndian.AppendUint32(nil, 0)
	var texts []byte
	for code := range c.Cardinality() {
		if seen[code] == 0 {
			continue
		}
		if texts = append(texts, c.TextOf(uint32(code))...); len(texts) > math.MaxInt32 {
			return errLongDictionary
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(texts)))
		seen[code] = uint32(n)
		n++
	}
	seen[c.Cardinality()] = 0 // null
	a.addValid(n, 0)
	a.addBuffer(len(offsets), func(dst []byte) { copy(dst, offsets) })
	a.addBuffer(len(texts), func(dst []byte) { copy(dst, texts) })
	return a.send(arrowDictionary(id, n, a), a.body)
}

// sendBatch sends some rows.
func (a *arrowWriter) sendBatch(b *batch) error {
	a.begin()
	for i := range a.columns {
		switch c := &a.columns[i]; {
		case c.isTable():
			a.addTable(c, c.entries(b))
		case c.field.Type() == Double:
			a.floats = b.readFloats(a.floats[:0], c.field.Column)
			a.addFloats()
		default:
			a.addInts(b.readInts(c.field.Column))
		}
	}
	return a.send(arrowRecords(len(b.rows), a), a.body)
}

// addTable adds a column whose values are in a table.
func (a *arrowWriter) addTable(c *arrowColumn, entries []uint32) {
	rows, nulls := len(entries), 0
	if c.valid != nil {
		a.valid = resize(a.valid, (rows+7)/8)
		nulls = rows - packBits(a.valid, c.valid, entries)
	}
	a.addValid(rows, nulls)
	a.addBuffer(c.size(rows), func(dst []byte) { c.fill(dst, entries) })
}

// addInts adds a column of whole numbers.
func (a *arrowWriter) addInts(ints []int64) {
	nulls := a.findNulls(len(ints), func(k int) bool { return ints[k] == snapshot.NullInt })
	a.addValid(len(ints), nulls)
	a.addBuffer(8*len(ints), func(dst []byte) {
		for k, v := range ints {
			if v == snapshot.NullInt {
				v = 0
			}
			binary.LittleEndian.PutUint64(dst[8*k:], uint64(v))
		}
	})
}

// addFloats adds the column of numbers that is in a.floats.
func (a *arrowWriter) addFloats() {
	nulls := a.findNulls(len(a.floats), func(k int) bool { return math.IsNaN(a.floats[k]) })
	a.addValid(len(a.floats), nulls)
	a.addBuffer(8*len(a.floats), func(dst []byte) {
		for k, v := range a.floats {
			if math.IsNaN(v) {
				v = 0
			}
			binary.LittleEndian.PutUint64(dst[8*k:], math.Float64bits(v))
		}
	})
}

// findNulls clears the bits of a.valid of rows that are null, sets all others, and counts the
// nulls.
func (a *arrowWriter) findNulls(rows int, isNull func(row int) bool) (nulls int) {
	a.valid = resize(a.valid, (rows+7)/8)
	clear(a.valid)
	for k := range rows {
		if isNull(k) {
			nulls++
		} else {
			a.valid[k>>3] |= 1 << (k & 7)
		}
	}
	return nulls
}
