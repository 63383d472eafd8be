package columnar

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The messages of an Arrow stream are FlatBuffers. Of their tables (Message.fbs and Schema.fbs of
// the Arrow format, version 5 of the metadata) these are the parts that are written here. A slot is
// the position of a member in its table.

const metadataV5 = 4

// Members of the union of messages.
const (
	messageSchema     = 1
	messageDictionary = 2
	messageRecords    = 3
)

// Members of the union of types, and their parameters.
const (
	typeInt       = 2
	typeFloat     = 3
	typeUtf8      = 5
	typeBool      = 6
	typeTimestamp = 10

	doublePrecision = 2
	microseconds    = 2
)

// zstdCodec is the member of the enumeration of codecs.
const zstdCodec = 1

// offset is the place of a table, a vector or a text.
type offset = flatbuffers.UOffsetT

// Messages begin at multiples of 8, buffers within their bodies at multiples of 64.
const (
	arrowAlign  = 8
	bufferAlign = 64
)

// arrowEnd ends a stream: the mark of a message, and no length.
var arrowEnd = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// appendMessage appends the head of a message, after which comes its body.
func appendMessage(dst, message []byte) []byte {
	padding := -len(message) & (arrowAlign - 1)
	dst = append(dst, 0xff, 0xff, 0xff, 0xff)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(message)+padding))
	return append(append(dst, message...), make([]byte, padding)...)
}

func arrowMessage(b *flatbuffers.Builder, kind byte, header offset, body int) []byte {
	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, int64(body), 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// arrowSchema is the message of the fields. A field of strings has its number as the id of its
// dictionary.
func arrowSchema(fields []Field) []byte {
	b := flatbuffers.NewBuilder(4 << 10)
	all := make([]offset, len(fields))
	for i := range fields {
		all[i] = arrowField(b, &fields[i], i)
	}
	vector := offsets(b, all)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, vector, 0)
	return arrowMessage(b, messageSchema, b.EndObject(), 0)
}

func arrowField(b *flatbuffers.Builder, f *Field, id int) offset {
	name := b.CreateString(f.Name)
	var about []offset
	for _, pair := range [][2]string{{"meaning", f.Meaning}, {"unit", f.Unit}} {
		if pair[1] != "" {
			about = append(about, keyValue(b, pair[0], pair[1]))
		}
	}
	metadata, children := offsets(b, about), offsets(b, nil)
	var dictionary offset
	if f.Type() == String {
		index := arrowInt(b, int32(indexBits(f.Column)))
		b.StartObject(4)
		b.PrependInt64Slot(0, int64(id), 0)
		b.PrependUOffsetTSlot(1, index, 0)
		dictionary = b.EndObject()
	}
	kind, table := arrowType(b, f.Type())
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependBoolSlot(1, true, false) // nullable
	b.PrependByteSlot(2, kind, 0)
	b.PrependUOffsetTSlot(3, table, 0)
	if dictionary != 0 {
		b.PrependUOffsetTSlot(4, dictionary, 0)
	}
	b.PrependUOffsetTSlot(5, children, 0)
	b.PrependUOffsetTSlot(6, metadata, 0)
	return b.EndObject()
}

// arrowType is a member of the union of types with its table.
func arrowType(b *flatbuffers.Builder, t Type) (kind byte, table offset) {
	switch t {
	case String:
		b.StartObject(0)
		return typeUtf8, b.EndObject()
	case Boolean:
		b.StartObject(0)
		return typeBool, b.EndObject()
	case Double:
		b.StartObject(1)
		b.PrependInt16Slot(0, doublePrecision, 0)
		return typeFloat, b.EndObject()
	case Timestamp: // without a zone
		b.StartObject(2)
		b.PrependInt16Slot(0, microseconds, 0)
		return typeTimestamp, b.EndObject()
	}
	return typeInt, arrowInt(b, 64)
}

func arrowInt(b *flatbuffers.Builder, bits int32) offset {
	b.StartObject(2)
	b.PrependInt32Slot(0, bits, 0)
	b.PrependBoolSlot(1, true, false)
	return b.EndObject()
}

func keyValue(b *flatbuffers.Builder, key, value string) offset {
	k, v := b.CreateString(key), b.CreateString(value)
	b.StartObject(2)
	b.PrependUOffsetTSlot(0, k, 0)
	b.PrependUOffsetTSlot(1, v, 0)
	return b.EndObject()
}

func offsets(b *flatbuffers.Builder, all []offset) offset {
	b.StartVector(4, len(all), 4)
	for i := len(all) - 1; i >= 0; i-- {
		b.PrependUOffsetT(all[i])
	}
	return b.EndVector(len(all))
}

// arrowBody describes the body of a message: its columns, and the offset and length of each buffer.
type arrowBody struct {
	nodes      []arrowNode
	buffers    []arrowBuffer
	size       int
	compressed bool
}

// arrowNode is a column in a message, arrowBuffer a part of its body.
type arrowNode struct{ length, nulls int }

type arrowBuffer struct{ offset, length int }

func (l *arrowBody) reset() { l.nodes, l.buffers, l.size = l.nodes[:0], l.buffers[:0], 0 }

// add adds a buffer of some bytes, and returns how many zeros follow it.
func (l *arrowBody) add(length int) (padding int) {
	l.buffers = append(l.buffers, arrowBuffer{l.size, length})
	padding = -length & (bufferAlign - 1)
	l.size += length + padding
	return padding
}

func arrowRecords(rows int, body *arrowBody) []byte {
	b := flatbuffers.NewBuilder(4 << 10)
	return arrowMessage(b, messageRecords, recordBatch(b, rows, body), body.size)
}

func arrowDictionary(id, texts int, body *arrowBody) []byte {
	b := flatbuffers.NewBuilder(1 << 10)
	data := recordBatch(b, texts, body)
	b.StartObject(3)
	b.PrependInt64Slot(0, int64(id), 0)
	b.PrependUOffsetTSlot(1, data, 0)
	return arrowMessage(b, messageDictionary, b.EndObject(), body.size)
}

func recordBatch(b *flatbuffers.Builder, rows int, body *arrowBody) offset {
	var compression offset
	if body.compressed {
		b.StartObject(2)
		b.PrependByteSlot(0, zstdCodec, 0)
		compression = b.EndObject()
	}
	b.StartVector(16, len(body.buffers), 8)
	for i := len(body.buffers) - 1; i >= 0; i-- {
		prependPair(b, body.buffers[i].offset, body.buffers[i].length)
	}
	buffers := b.EndVector(len(body.buffers))
	b.StartVector(16, len(body.nodes), 8)
	for i := len(body.nodes) - 1; i >= 0; i-- {
		prependPair(b, body.nodes[i].length, body.nodes[i].nulls)
	}
	nodes := b.EndVector(len(body.nodes))
	b.StartObject(5)
	b.PrependInt64Slot(0, int64(rows), 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, buffers, 0)
	if compression != 0 {
		b.PrependUOffsetTSlot(3, compression, 0)
	}
	return b.EndObject()
}

func prependPair(b *flatbuffers.Builder, first, second int) {
	b.Prep(8, 16)
	b.PrependInt64(int64(second))
	b.PrependInt64(int64(first))
}
