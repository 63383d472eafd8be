package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"hdqs/snapshot"
)

// ArrowOptions are how an Arrow stream is written.
type ArrowOptions struct {
	Zstd bool // compress buffers
}

// ArrowBatch is the most rows of a record batch.
const ArrowBatch = 64 << 10

// WriteArrow writes rows as an Arrow IPC stream: the schema, the dictionaries, batches of rows, and
// an end without which a reader reports an error. Memory is that of one batch and of the
// dictionaries. Rows are read twice: a dictionary has only the texts that occur, in the order of
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
	indices [][]int32 // by field of strings: the positions of codes in its dictionary, -1 for null
	zstd    *zstd.Encoder

	// Of one message, reused.
	head    []byte
	body    []byte
	nodes   []arrowNode
	buffers []arrowBuffer
	valid   []byte // a bit for each row
	data    []byte
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

// addBuffer adds a buffer to the body.
func (a *arrowWriter) addBuffer(data []byte) {
	start := len(a.body)
	if a.zstd != nil && len(data) > 0 {
		// Each has its length before it; -1 would say that it is not compressed.
		a.body = binary.LittleEndian.AppendUint64(a.body, uint64(len(data)))
		a.body = a.zstd.EncodeAll(data, a.body)
	} else {
		a.body = append(a.body, data...)
	}
	a.buffers = append(a.buffers, arrowBuffer{start, len(a.body) - start})
	for len(a.body)%bufferAlign != 0 {
		a.body = append(a.body, 0)
	}
}

// addColumn adds the column that is in a.valid and a.data.
func (a *arrowWriter) addColumn(length, nulls int) {
	a.nodes = append(a.nodes, arrowNode{length, nulls})
	if nulls == 0 {
		a.addBuffer(nil)
	} else {
		a.addBuffer(a.valid)
	}
	a.addBuffer(a.data)
}

// sendDictionaries sends the texts of the rows, for each field of strings.
func (a *arrowWriter) sendDictionaries(rows Rows) error {
	a.indices = make([][]int32, len(a.fields))
	for i := range a.fields {
		if a.fields[i].Type() == String {
			a.indices[i] = make([]int32, a.fields[i].Column.Cardinality()+1)
		}
	}
	for b := range batches(rows, ArrowBatch) {
		for i, seen := range a.indices {
			if seen != nil {
				for _, code := range b.readCodes(a.fields[i].Column) {
					seen[code] = 1
				}
			}
		}
	}
	for i, seen := range a.indices {
		if seen == nil {
			continue
		}
		if err := a.sendDictionary(i, a.fields[i].Column, seen); err != nil {
			return err
		}
	}
	return nil
}

// sendDictionary sends the texts that were seen, and sets seen to their positions.
func (a *arrowWriter) sendDictionary(id int, c *snapshot.Column, seen []int32) error {
	a.begin()
	n := 0
	offsets := binary.LittleEndian.AppendUint32(nil, 0)
	a.data = a.data[:0]
	for code := range c.Cardinality() {
		if seen[code] == 0 {
			continue
		}
		if a.data = append(a.data, c.TextOf(uint32(code))...); len(a.data) > math.MaxInt32 {
			return errLongDictionary
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(a.data)))
		seen[code] = int32(n)
		n++
	}
	seen[c.Cardinality()] = -1
	a.nodes = append(a.nodes, arrowNode{length: n})
	a.addBuffer(nil)
	a.addBuffer(offsets)
	a.addBuffer(a.data)
	return a.send(arrowDictionary(id, n, a), a.body)
}

// sendBatch sends some rows.
func (a *arrowWriter) sendBatch(b *batch) error {
	a.begin()
	n := len(b.rows)
	for i := range a.fields {
		c := a.fields[i].Column
		var nulls int
		switch a.fields[i].Type() {
		case String:
			nulls = a.readStrings(b.readCodes(c), a.indices[i])
		case Boolean:
			nulls = a.readBooleans(b.readInts(c))
		case Double:
			a.floats = b.readFloats(a.floats[:0], c)
			nulls = a.readFloats()
		default:
			nulls = a.readInts(b.readInts(c))
		}
		a.addColumn(n, nulls)
	}
	return a.send(arrowRecords(n, a), a.body)
}

// room makes a.data some bytes long, and a.valid a bit for each row, all set.
func (a *arrowWriter) room(bytes, rows int) {
	a.data = resize(a.data, bytes)
	a.valid = resize(a.valid, (rows+7)/8)
	for i := range a.valid {
		a.valid[i] = 0xff
	}
	if rest := rows & 7; rest != 0 {
		a.valid[len(a.valid)-1] = 1<<rest - 1
	}
}

func (a *arrowWriter) setNull(row int) { a.valid[row>>3] &^= 1 << (row & 7) }

func (a *arrowWriter) readStrings(codes []uint32, indices []int32) (nulls int) {
	a.room(4*len(codes), len(codes))
	for k, code := range codes {
		index := indices[code]
		if index < 0 {
			a.setNull(k)
			nulls++
			index = 0
		}
		binary.LittleEndian.PutUint32(a.data[4*k:], uint32(index))
	}
	return nulls
}

func (a *arrowWriter) readInts(ints []int64) (nulls int) {
	a.room(8*len(ints), len(ints))
	for k, v := range ints {
		if v == snapshot.NullInt {
			a.setNull(k)
			nulls++
			v = 0
		}
		binary.LittleEndian.PutUint64(a.data[8*k:], uint64(v))
	}
	return nulls
}

func (a *arrowWriter) readFloats() (nulls int) {
	a.room(8*len(a.floats), len(a.floats))
	for k, v := range a.floats {
		if math.IsNaN(v) {
			a.setNull(k)
			nulls++
			v = 0
		}
		binary.LittleEndian.PutUint64(a.data[8*k:], math.Float64bits(v))
	}
	return nulls
}

func (a *arrowWriter) readBooleans(ints []int64) (nulls int) {
	a.room((len(ints)+7)/8, len(ints))
	clear(a.data)
	for k, v := range ints {
		switch v {
		case snapshot.NullInt:
			a.setNull(k)
			nulls++
		case 1:
			a.data[k>>3] |= 1 << (k & 7)
		}
	}
	return nulls
}
