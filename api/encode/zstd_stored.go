package encode

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A body is one zstd frame (RFC 8878) of our own header, then blocks: stored ones, and those of frames that were made on the way.
//
//	magic 4 · descriptor 0x80 (content size of 4 bytes) · window 1 · content size 4 · blocks · empty last block
const (
	zstdMagic      = "\x28\xb5\x2f\xfd"
	zstdDescriptor = 0x80
	zstdWindow     = 10 << 3 // maxWindow is 1 KB << 10
	zstdHeader     = 4 + 1 + 1 + 4
	zstdEnd        = "\x01\x00\x00"

	// maxRaw is the longest block that is not compressed.
	maxRaw = 128 << 10
)

// partEncoder compresses parts of bodies. The fastest level serves: blocks of so few rows hardly get smaller by the default one, and that takes twice
// the time to prepare for the rows in front.
type partEncoder struct {
	e     *zstd.Encoder
	dict  []byte
	text  []byte
	frame []byte
}

// Encoders that prepare for the rows in front, and ones that never do: going back costs as much as preparing.
var primedEncoders, partEncoders = sync.Pool{New: newPartEncoder}, sync.Pool{New: newPartEncoder}

func newPartEncoder() any {
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(maxWindow),
		zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are constants
	}
	return &partEncoder{e: e}
}

// prime sets the text that stands in front of the part to come.
func (p *partEncoder) prime(dict []byte) {
	options := []zstd.EOption{zstd.WithEncoderDictDelete()}
	if len(dict) > 0 {
		options = append(options, zstd.WithEncoderDictRaw(1, dict))
	}
	if err := p.e.ResetWithOptions(nil, options...); err != nil {
		panic(err) // options that may be changed, in a range that is checked
	}
}

// append appends text as blocks that may stand in any frame, behind dict if the encoder is primed with it. first tells that they begin
// the frame.
func (p *partEncoder) append(dst, dict, text []byte, first bool) []byte {
	p.frame = p.e.EncodeAll(text, p.frame[:0])
	start := len(dst)
	dst = appendBlocks(dst, p.frame)
	if !first && !provers.prove(dst[start:], dict, text) {
		return appendRaw(dst[:start], text)
	}
	return dst
}

// appendBlocks appends the blocks of a frame without what ends it.
func appendBlocks(dst, frame []byte) []byte {
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		panic(err) // the encoder wrote it
	}
	blocks := frame[h.HeaderSize:]
	for len(blocks) > 0 {
		head := uint32(blocks[0]) | uint32(blocks[1])<<8 | uint32(blocks[2])<<16
		size := int(head >> 3)
		if head>>1&3 == 1 { // one byte, many times
			size = 1
		}
		if size > 0 {
			at := len(dst)
			dst = append(dst, blocks[:3+size]...)
			dst[at] &^= 1
		}
		blocks = blocks[3+size:]
	}
	return dst
}

// appendRaw appends text as blocks that are not compressed.
func appendRaw(dst, text []byte) []byte {
	for len(text) > 0 {
		n := min(len(text), maxRaw)
		dst = append(dst, byte(n<<3), byte(n>>5), byte(n>>13))
		dst = append(dst, text[:n]...)
		text = text[n:]
	}
	return dst
}

// zstdBlock makes a block of rows from to to-1 that refers to up to reach rows in front of it.
func zstdBlock(rows Rows, from, to uint32) *storedBlock {
	p := primedEncoders.Get().(*partEncoder)
	p.dict = rows.AppendRows(p.dict[:0], []Run{{from - min(reach, from), from}})
	p.text = rows.AppendRows(p.text[:0], []Run{{from, to}})
	p.prime(p.dict)
	blocks := p.append(nil, p.dict, p.text, false)
	b := newStoredBlock(blocks, p.text)
	primedEncoders.Put(p)
	return b
}

func appendZstdHeader(dst []byte, content int) []byte {
	dst = append(dst, zstdMagic...)
	dst = append(dst, zstdDescriptor, zstdWindow)
	return binary.LittleEndian.AppendUint32(dst, uint32(content))
}

const (
	// leastZstd is how many blocks in a row gain more than the change to them and back costs.
	leastZstd = 6

	// maxPart is the most text of loose rows that is compressed at a time; a longer part costs more to prove.
	maxPart = 128 << 10
)

// storedZstd puts a body together from stored blocks and other rows.
func (t *Table) storedZstd(dst []byte, runs []Run) []byte {
	f := zstdFrame{p: partEncoders.Get().(*partEncoder), start: len(dst), dst: appendZstdHeader(dst, 0)}
	f.p.text = append(f.p.text[:0], t.rows.Head()...)
	for i, run := range runs {
		rest, _ := t.zstd.walk(run, i == len(runs)-1, leastZstd, func(loose Run, b *storedBlock) {
			f.rows(t.rows, loose)
			f.stored(b)
		})
		f.rows(t.rows, rest)
	}
	f.p.text = append(f.p.text[:len(f.p.text)-t.rows.Cut()], t.rows.Tail()...)
	f.part()
	binary.LittleEndian.PutUint32(f.dst[f.start+zstdHeader-4:], uint32(f.content))
	partEncoders.Put(f.p)
	return append(f.dst, zstdEnd...)
}

// zstdFrame is a body being put together; the text of rows that are not stored gathers in its encoder.
type zstdFrame struct {
	p       *partEncoder
	dst     []byte
	start   int
	content int
	began   bool // something stands behind the header
}

// rows adds rows that are not stored. What is held back is never empty when rows were added last.
func (f *zstdFrame) rows(rows Rows, run Run) {
	for run.From < run.To {
		if len(f.p.text) > maxPart {
			f.part()
		}
		to := min(run.To, run.From+BatchRows)
		f.p.text = rows.AppendRows(f.p.text, []Run{{run.From, to}})
		run.From = to
	}
}

// part compresses the text at hand.
func (f *zstdFrame) part() {
	if len(f.p.text) == 0 {
		return
	}
	f.dst = f.p.append(f.dst, nil, f.p.text, !f.began)
	f.content += len(f.p.text)
	f.p.text = f.p.text[:0]
	f.began = true
}

func (f *zstdFrame) stored(b *storedBlock) {
	f.part()
	f.dst = append(f.dst, b.data...)
	f.content += int(b.plain)
	f.began = true
}
