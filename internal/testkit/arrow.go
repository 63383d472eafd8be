package testkit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
)

// ArrowTable is what an Arrow IPC stream has. A value is nil, string, bool, int64, float64 or
// Micros.
type ArrowTable struct {
	Names   []string
	Rows    [][]any
	Batches int
}

// Micros is a timestamp: microseconds since 1970.
type Micros int64

type arrowColumn struct {
	kind       byte // of the union of types
	dictionary int64
	index      int // bytes of an index of the dictionary
}

type arrowReader struct {
	table   ArrowTable
	columns []arrowColumn
	texts   map[int64][]string
	zstd    *zstd.Decoder
}

// ReadArrow reads an Arrow IPC stream with dictionaries of strings, booleans, 64-bit integers,
// doubles and timestamps in microseconds. It shares no code with what writes such streams, but for
// the library of FlatBuffers.
func ReadArrow(data []byte) (*ArrowTable, error) {
	r := &arrowReader{texts: map[int64][]string{}}
	var err error
	if r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err != nil {
		return nil, err
	}
	defer r.zstd.Close()
	for {
		if len(data) < 8 || binary.LittleEndian.Uint32(data) != 0xffffffff {
			return nil, errors.New("the stream has no end")
		}
		size := int(binary.LittleEndian.Uint32(data[4:]))
		data = data[8:]
		if size == 0 {
			break
		}
		if size%8 != 0 || size > len(data) {
			return nil, fmt.Errorf("a message of %d bytes, %d are left", size, len(data))
		}
		m := flatbuffers.Table{Bytes: data[:size], Pos: flatbuffers.GetUOffsetT(data)}
		length := int(slot(m, 3).int64())
		if data = data[size:]; length%8 != 0 || length > len(data) {
			return nil, fmt.Errorf("a body of %d bytes, %d are left", length, len(data))
		}
		if err := r.read(m, data[:length]); err != nil {
			return nil, err
		}
		data = data[length:]
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%d bytes after the end", len(data))
	}
	return &r.table, nil
}

// member is a member of a table, with at 0 if it has its default.
type member struct {
	flatbuffers.Table
	at flatbuffers.UOffsetT
}

func slot(t flatbuffers.Table, number int) member {
	at := flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*number)))
	if at == 0 {
		return member{t, 0}
	}
	return member{t, at + t.Pos}
}

func (m member) int64() int64 {
	if m.at == 0 {
		return 0
	}
	return m.GetInt64(m.at)
}

func (m member) byte() byte {
	if m.at == 0 {
		return 0
	}
	return m.GetByte(m.at)
}

func (m member) table() flatbuffers.Table {
	return flatbuffers.Table{Bytes: m.Bytes, Pos: m.Indirect(m.at)}
}

// vector is where the first element of a vector is, and their number.
func (m member) vector() (start flatbuffers.UOffsetT, n int) {
	if m.at == 0 {
		return 0, 0
	}
	at := m.Indirect(m.at)
	return at + 4, int(m.GetUOffsetT(at))
}

func (r *arrowReader) read(m flatbuffers.Table, body []byte) error {
	t := slot(m, 2).table()
	switch kind := slot(m, 1).byte(); kind {
	case 1:
		return r.readSchema(t)
	case 2:
		id := slot(t, 0).int64()
		if _, known := r.texts[id]; known || slot(t, 2).byte() != 0 {
			return fmt.Errorf("dictionary %d is sent again", id)
		}
		c, rows := r.newBody(slot(t, 1).table(), body)
		_, _, offsets, data := c.next(), c.buffer(), c.buffer(), c.buffer()
		texts := []string{}
		for i := range rows {
			from, to := binary.LittleEndian.Uint32(offsets[4*i:]), binary.LittleEndian.Uint32(offsets[4*i+4:])
			texts = append(texts, string(data[from:to]))
		}
		r.texts[id] = texts
		return c.err
	case 3:
		return r.readRows(t, body)
	default:
		return fmt.Errorf("a message of kind %d", kind)
	}
}

func (r *arrowReader) readSchema(t flatbuffers.Table) error {
	start, n := slot(t, 1).vector()
	for i := range n {
		f := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(start + flatbuffers.UOffsetT(4*i))}
		c := arrowColumn{kind: slot(f, 2).byte(), dictionary: -1}
		if d := slot(f, 4); d.at != 0 {
			c.dictionary = slot(d.table(), 0).int64()
			index := slot(slot(d.table(), 1).table(), 0)
			c.index = int(index.GetInt32(index.at)) / 8
		}
		name := slot(f, 0)
		r.table.Names = append(r.table.Names, string(name.ByteVector(name.at)))
		r.columns = append(r.columns, c)
	}
	return nil
}

// arrowBody is the body of a batch, read column by column.
type arrowBody struct {
	r              *arrowReader
	data           []byte
	nodes, buffers member
	node, part     int
	packed         bool
	err            error
}

func (r *arrowReader) newBody(t flatbuffers.Table, data []byte) (b *arrowBody, rows int) {
	b = &arrowBody{r: r, data: data, nodes: slot(t, 1), buffers: slot(t, 2), packed: slot(t, 3).at != 0}
	return b, int(slot(t, 0).int64())
}

// next is the number of nulls of the next column.
func (b *arrowBody) next() (nulls int64) {
	start, _ := b.nodes.vector()
	at := start + flatbuffers.UOffsetT(16*b.node)
	b.node++
	return b.nodes.GetInt64(at + 8)
}

func (b *arrowBody) buffer() []byte {
	start, _ := b.buffers.vector()
	at := start + flatbuffers.UOffsetT(16*b.part)
	b.part++
	from, length := b.buffers.GetInt64(at), b.buffers.GetInt64(at+8)
	if from%64 != 0 || from+length > int64(len(b.data)) {
		b.err = fmt.Errorf("a buffer of %d bytes at %d of %d", length, from, len(b.data))
		return nil
	}
	data := b.data[from : from+length]
	if !b.packed || length == 0 {
		return data
	}
	plain, err := b.r.zstd.DecodeAll(data[8:], nil)
	if err != nil || uint64(len(plain)) != binary.LittleEndian.Uint64(data) {
		b.err = fmt.Errorf("a compressed buffer of %d bytes: %w", len(plain), err)
	}
	return plain
}

func (r *arrowReader) readRows(t flatbuffers.Table, body []byte) error {
	b, n := r.newBody(t, body)
	rows := make([][]any, n)
	for _, c := range r.columns {
		nulls, valid, data := b.next(), b.buffer(), b.buffer()
		if b.err != nil {
			return b.err
		}
		found := int64(0)
		for i := range rows {
			if len(valid) > 0 && valid[i/8]>>(i%8)&1 == 0 {
				rows[i] = append(rows[i], nil)
				found++
				continue
			}
			rows[i] = append(rows[i], r.value(c, data, i))
		}
		if found != nulls {
			return fmt.Errorf("%d nulls, said to be %d", found, nulls)
		}
	}
	r.table.Rows = append(r.table.Rows, rows...)
	r.table.Batches++
	return nil
}

func (r *arrowReader) value(c arrowColumn, data []byte, i int) any {
	switch {
	case c.dictionary >= 0:
		var index [8]byte
		copy(index[:], data[c.index*i:][:c.index])
		return r.texts[c.dictionary][binary.LittleEndian.Uint64(index[:])]
	case c.kind == 6:
		return data[i/8]>>(i%8)&1 == 1
	case c.kind == 3:
		return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	case c.kind == 10:
		return Micros(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return int64(binary.LittleEndian.Uint64(data[8*i:]))
}
