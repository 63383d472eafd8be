package encode

import (
	"encoding/binary"
	"hash/crc32"
)

// deflater writes what its matcher finds as DEFLATE. Most of it is written as it is found, with the code that its table's bodies start with: one batch
// of rows in some is gathered and counted, and when a code for what was counted lately would be shorter, a new block begins with it.
type deflater struct {
	matcher
	block block
	crc   uint32 // of the body so far

	open    bool   // a block's header is written
	batches int    // of rows since there was no block
	recent  counts // what was counted lately
	code    *blockCode
	own     blockCode // for what was counted, when that is better
	made    uint32    // codes so far, the first code among them
	first   *firstCode
	huffman huffman
}

// blockCode is a code and how it is described in front of a block.
type blockCode struct {
	table  codeTable
	header blockHeader
}

// firstCode is the code with which all bodies of a table start. So the bytes of a body depend on its rows, and not on what was asked for before it.
type firstCode struct {
	blockCode
	seen counts
}

// firstGeneration is the generation of a first code.
const firstGeneration = 1

// newFirstCode makes the code from samples of rows.
func newFirstCode(rows Rows) *firstCode {
	first := &firstCode{}
	d := newDeflater(rows, first)
	d.next = nil // nothing is written, all is gathered
	for _, runs := range sampleRuns(rows.Len()) {
		d.begin(nil)
		d.rows(runs, 0)
		d.finish()
	}
	first.seen.add(&d.block.gathered)
	first.blockCode.build(&d.huffman, &first.seen)
	return first
}

const (
	// sampleEvery is how many batches there are for one that is counted.
	sampleEvery = 32

	// A code is kept while it takes at most so many hundredths of the best one's bits, at the start of a body and later on.
	keepFirst, keepLater = 125, 110

	// newHeader is about how many bits it takes to describe a new code.
	newHeader = 800
)

// gzipHeader begins a member: DEFLATE, no name, no time, any system.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

func newDeflater(rows Rows, first *firstCode) *deflater {
	d := &deflater{first: first, made: firstGeneration}
	d.init(rows, maxDistance, &d.block)
	d.next = d.nextBatch
	d.check = func(text []byte) { d.crc = crc32.Update(d.crc, crc32.IEEETable, text) }
	return d
}

// begin begins a member that is appended to dst.
func (d *deflater) begin(dst []byte) {
	d.matcher.start()
	d.crc = 0
	d.recent, d.code, d.generation = d.first.seen, &d.first.blockCode, firstGeneration
	d.block.bits = bitWriter{out: append(dst, gzipHeader...)}
}

// end ends the member.
func (d *deflater) end() []byte {
	d.endDeflate()
	dst := binary.LittleEndian.AppendUint32(d.block.bits.out, d.crc)
	d.block.bits.out = nil
	return binary.LittleEndian.AppendUint32(dst, d.size)
}

// nextBatch goes on to the next batch of rows.
func (d *deflater) nextBatch() {
	b := &d.block
	if d.batches > 0 && !b.empty() {
		d.sample()
		b.direct, d.literalCode = true, b.code
	}
	if d.batches%sampleEvery == 0 {
		b.direct, d.literalCode = false, nil
	}
	d.batches++
}

// sample counts what was gathered, and writes it in the block at hand, or in a new one if another code is much better.
func (d *deflater) sample() {
	var c counts
	c.add(&d.block.gathered)
	if !d.open {
		if c.cost(&d.code.table)*100 > c.least()*keepFirst {
			d.recent = c
			d.build()
		}
		d.beginBlock()
	} else if d.recent.fade(&c); d.recent.cost(&d.code.table)*100 > d.recent.least()*keepLater {
		d.endBlock()
		d.build()
		d.beginBlock()
	}
	d.block.writeGathered()
}

// short writes what was gathered as a block of its own, or of three kinds of codes the one that makes it shortest.
func (d *deflater) short() {
	var c counts
	c.add(&d.block.gathered)
	fixed, kept, best := c.cost(fixedCode), c.cost(&d.code.table)+d.code.header.size, c.least()+newHeader
	switch {
	case best*100 < min(fixed, kept)*(200-keepFirst):
		d.recent = c
		d.build()
		d.beginBlock()
	case kept < fixed:
		d.beginBlock()
	default:
		d.block.bits.reserve(64)
		d.block.bits.write(1<<1, 3)
		d.block.code, d.open = fixedCode, true
	}
	d.block.writeGathered()
}

// build makes the code for what was counted lately.
func (d *deflater) build() {
	d.own.build(&d.huffman, &d.recent)
	d.made++
	d.code, d.generation = &d.own, d.made
}

// build makes the code for what was counted. Symbols that were not counted have one too.
func (b *blockCode) build(h *huffman, seen *counts) {
	c := *seen
	for s := range c.litLen {
		c.litLen[s] = c.litLen[s]*16 + 1
	}
	for s := range c.dist {
		c.dist[s] = c.dist[s]*16 + 1
	}
	h.lengths(b.table.litLenLengths[:], c.litLen[:litLenCodes], maxCodeLen)
	h.lengths(b.table.distLengths[:], c.dist[:distCodes], maxCodeLen)
	b.table.codes()
	b.header.build(h, &b.table)
}

// beginBlock begins a block with the code at hand.
func (d *deflater) beginBlock() {
	w := &d.block.bits
	w.reserve(d.code.header.size + 64)
	w.write(2<<1, 3)
	d.code.header.write(w)
	d.block.code, d.open = &d.code.table, true
}

// endBlock ends the block, if there is one.
func (d *deflater) endBlock() {
	if d.open {
		eob := d.block.code.litLen[endOfBlock]
		d.block.bits.reserve(64)
		d.block.bits.write(eob.bits(), eob.len())
		d.open = false
	}
}

// flush writes what is in hand and ends the block.
func (d *deflater) flush() {
	d.finish()
	switch {
	case d.block.empty():
	case d.open:
		d.block.writeGathered()
	default:
		d.short()
	}
	d.endBlock()
	d.block.direct, d.literalCode, d.batches = false, nil, 0
}

// endDeflate ends the text by an empty block: only the last block may say that it is the last.
func (d *deflater) endDeflate() {
	d.flush()
	d.block.bits.reserve(64)
	d.block.bits.write(1|1<<1, 3)
	d.block.bits.write(fixedCode.litLen[endOfBlock].bits(), fixedCode.litLen[endOfBlock].len())
	d.block.bits.align()
}

// stored appends a stored block. The rows that follow need prime.
func (d *deflater) stored(b *storedBlock) {
	d.flush()
	w := &d.block.bits
	if w.held > 0 {
		// An empty block that is not compressed ends with a whole byte.
		w.reserve(64)
		w.write(0, 3)
		w.align()
		w.write(0xffff0000, 32)
	}
	w.out = append(w.out, b.data...)
	d.crc = crcMultiply(b.shift, d.crc) ^ b.crc
	d.skip(b.plain)
}
