package columnar

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"hdqs/index"
	"hdqs/snapshot"
)

// ArrowOptions are how an Arrow stream is written.
type ArrowOptions struct {
	Zstd  bool // compress buffers
	Batch int  // most rows of a record batch that is not compressed, a multiple of 8; 0 means ArrowBatch
}

// ArrowBatch is the most rows of a record batch. Readers notice a stream that ends within a batch,
// and not one that ends between two. DataFrames are made faster of one batch than of many.
const ArrowBatch = 1 << 20

// arrowPart is how many rows are made at a time: they are still in the cache of the CPU when they
// are sent. A record batch that is compressed has no more, since it is kept until its size is
// known.
const arrowPart = 16 << 10

// ArrowStream is rows as an Arrow IPC stream: the schema, the dictionaries, batches of rows, and an
// end, without which some readers report an error. Memory is that of the tables of columns, and of
// the tuple numbers and the ranges of the rows of one batch.
type ArrowStream struct {
	fields  []Field
	rows    Rows
	options ArrowOptions
	columns []arrowColumn
	count   int          // rows
	last    *index.Batch // the last one that was read; nil without rows
	part    index.Batch
	zstd    *zstd.Encoder
	head    []byte // the schema and the dictionaries

	// Of one message.
	message []byte
	body    arrowBody
	data    []byte // of the body, if it is compressed
	values  []byte
}

// errLongDictionary: offsets have 32 bits.
var errLongDictionary = errors.New("columnar: the texts of a dictionary are longer than 2 GiB")

// NewArrowStream reads the rows for the first time: a dictionary has only the texts that occur, in
// the order of their codes, and comes before the first batch, since many readers have neither
// deltas nor replacements of dictionaries. No field is a Point.
func NewArrowStream(fields []Field, rows Rows, o ArrowOptions) (*ArrowStream, error) {
	if o.Batch == 0 {
		o.Batch = ArrowBatch
	}
	a := &ArrowStream{fields: fields, rows: rows, options: o}
	if o.Zstd {
		var err error
		if a.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err != nil {
			return nil, err
		}
		a.body.compressed = true
	}
	a.head = appendMessage(nil, arrowSchema(fields))
	if err := a.addDictionaries(); err != nil {
		return nil, err
	}
	if a.isOneBatch() {
		a.lay(a.last)
	} else {
		a.last = nil
	}
	return a, nil
}

// isOneBatch reports whether all rows are one batch that is not compressed. If so, Write reuses the
// rows that NewArrowStream has read.
func (a *ArrowStream) isOneBatch() bool {
	return a.zstd == nil && a.last != nil && a.count <= a.options.Batch
}

// batchRows is the most rows of a batch.
func (a *ArrowStream) batchRows() int {
	if a.zstd != nil {
		return arrowPart
	}
	return a.options.Batch
}

// Size returns the length of the stream. It is known only for a stream of one batch. Longer ones
// are sent in chunks, since readers would not notice a stream that was cut between two batches.
func (a *ArrowStream) Size() (size int, ok bool) {
	if !a.isOneBatch() {
		return 0, false
	}
	return len(a.head) + len(a.message) + a.body.size + len(arrowEnd), true
}

// Kept is how many bytes of dictionaries the stream keeps until its end.
func (a *ArrowStream) Kept() int { return len(a.head) }

// Write writes the stream, once.
func (a *ArrowStream) Write(w io.Writer) error {
	if _, err := w.Write(a.head); err != nil {
		return err
	}
	if err := a.writeBatches(w); err != nil {
		return err
	}
	_, err := w.Write(arrowEnd)
	return err
}

func (a *ArrowStream) writeBatches(w io.Writer) error {
	if a.isOneBatch() {
		return a.writeBatch(w, a.last)
	}
	for b := range index.Batches(a.rows, a.batchRows()) {
		var err error
		if a.zstd != nil {
			err = a.writeCompressed(w, b)
		} else {
			a.lay(b)
			err = a.writeBatch(w, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addDictionaries adds the texts of the rows to the head, for each field of strings, and makes the
// columns.
func (a *ArrowStream) addDictionaries() error {
	seen := a.readTexts()
	a.columns = make([]arrowColumn, len(a.fields))
	for i := range a.fields {
		if seen[i] != nil {
			if err := a.addDictionary(i, a.fields[i].Column, seen[i]); err != nil {
				return err
			}
		}
		a.columns[i] = newArrowColumn(&a.fields[i], seen[i])
	}
	return nil
}

// readTexts returns 1 for each code that rows have, for each field of strings. Of a group, the
// tuples that rows have are found first, once for all its fields.
func (a *ArrowStream) readTexts() [][]uint32 {
	codes, tuples := make([][]uint32, len(a.fields)), map[*snapshot.Group][]uint32{}
	for i := range a.fields {
		if c := a.fields[i].Column; a.fields[i].Type() == String {
			codes[i] = make([]uint32, c.Cardinality()+1)
			if c.Group != nil {
				tuples[c.Group] = make([]uint32, c.Len())
			}
		}
	}
	for b := range index.Batches(a.rows, a.batchRows()) {
		a.count += b.Len()
		a.last = b
		for g, seen := range tuples {
			for _, tuple := range b.Unpacked(&g.Codes) {
				seen[tuple] = 1
			}
		}
		for i, seen := range codes {
			if c := a.fields[i].Column; seen != nil && c.Group == nil {
				for part := range b.Parts(&a.part, arrowPart) {
					for _, code := range part.Codes(c) {
						seen[code] = 1
					}
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

// addDictionary adds the texts that were seen, and sets seen to their indices.
func (a *ArrowStream) addDictionary(id int, c *snapshot.Column, seen []uint32) error {
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
	a.begin()
	a.body.nodes = append(a.body.nodes, arrowNode{n, 0})
	a.add(nil) // nothing is null
	a.add(offsets)
	a.add(texts)
	a.head = append(appendMessage(a.head, arrowDictionary(id, n, &a.body)), a.data...)
	return nil
}

func (a *ArrowStream) begin() {
	a.body.reset()
	a.data = a.data[:0]
}

func (a *ArrowStream) add(buffer []byte) {
	from := len(a.data)
	if a.zstd != nil && len(buffer) > 0 {
		// Each has its length before it; -1 would say that it is not compressed.
		a.data = binary.LittleEndian.AppendUint64(a.data, uint64(len(buffer)))
		a.data = a.zstd.EncodeAll(buffer, a.data)
	} else {
		a.data = append(a.data, buffer...)
	}
	a.data = append(a.data, zeros[:a.body.add(len(a.data)-from)]...)
}

// zeros follow buffers.
var zeros [bufferAlign]byte

func (a *ArrowStream) writeCompressed(w io.Writer, b *index.Batch) error {
	a.begin()
	for i := range a.columns {
		c := &a.columns[i]
		a.add(a.readValid(c, b))
		a.add(a.read(c, b))
	}
	a.message = appendMessage(a.message[:0], arrowRecords(b.Len(), &a.body))
	if _, err := w.Write(a.message); err != nil {
		return err
	}
	_, err := w.Write(a.data)
	return err
}

// readValid adds a column to the body, and returns the bits that say which rows are not null.
// Without nulls there are none.
func (a *ArrowStream) readValid(c *arrowColumn, b *index.Batch) []byte {
	nulls := 0
	if c.bits = c.bits[:0]; c.isNullable() {
		nulls = b.Len()
		for part := range b.Parts(&a.part, arrowPart) {
			nulls -= c.readValid(part)
		}
	}
	a.body.nodes = append(a.body.nodes, arrowNode{b.Len(), nulls})
	if nulls == 0 {
		c.bits = c.bits[:0]
	}
	return c.bits
}

func (a *ArrowStream) read(c *arrowColumn, b *index.Batch) []byte {
	n := c.size(b.Len())
	a.values = slices.Grow(a.values[:0], n)[:n]
	c.read(a.values, b)
	return a.values
}

// lay makes the message of a batch: which rows are null, and the sizes of its buffers. Values are
// read later.
func (a *ArrowStream) lay(b *index.Batch) {
	a.begin()
	for i := range a.columns {
		c := &a.columns[i]
		a.body.add(len(a.readValid(c, b)))
		a.body.add(c.size(b.Len()))
	}
	a.message = appendMessage(a.message[:0], arrowRecords(b.Len(), &a.body))
}

// writeBatch writes a batch after lay, one column after the other.
func (a *ArrowStream) writeBatch(w io.Writer, b *index.Batch) error {
	if _, err := w.Write(a.message); err != nil {
		return err
	}
	for i := range a.columns {
		c := &a.columns[i]
		if err := writePadded(w, c.bits, len(c.bits)); err != nil {
			return err
		}
		for part := range b.Parts(&a.part, arrowPart) {
			if _, err := w.Write(a.read(c, part)); err != nil {
				return err
			}
		}
		if err := writePadded(w, nil, c.size(b.Len())); err != nil {
			return err
		}
	}
	return nil
}

// writePadded writes the last bytes of a buffer of some size, and the zeros that follow it.
func writePadded(w io.Writer, last []byte, size int) error {
	if _, err := w.Write(last); err != nil {
		return err
	}
	_, err := w.Write(zeros[:-size&(bufferAlign-1)])
	return err
}
