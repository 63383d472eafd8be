package encode

import "encoding/binary"

// deflater writes the ops of its matcher as a gzip member, in the code that all bodies of the table
// start with. One batch of rows in sampleEvery is counted, from batch firstSample on; when a code
// for the recent counts would be shorter, a new block starts with that code.
type deflater struct {
	matcher matcher

	open    bool       // a block's header is written
	batches int        // of rows since the last stored block, or the start
	recent  counts     // sums of counts, the latest with the greatest weight
	latest  counts     // of the batch that is counted
	code    *blockCode // of what is not short
	own     blockCode  // built for recent
	made    uint32     // number of codes so far, with the first one and that of row blocks
	counted bool       // a batch of the body was counted
	first   *blockCode // of all bodies at their start
	huffman huffman

	copier copier
}

// blockCode is a code and its description in the header of a block.
type blockCode struct {
	table      codeTable
	header     blockHeader
	begun      bitWriter // the encoded start of a block, made once for the first code; empty for others
	generation uint32
}

// The generations of first codes, and of codes of row blocks.
const firstGeneration, rowGeneration = 1, 2

// The first code is made from this many runs of this many rows, spread over the table. Filtered
// pages look like them. From neighbours and single rows, pages of 100 filtered rows are larger.
const codeRuns, codeRun = 64, 12

// firstDeflater builds the code that all bodies of a table start with from samples of rows, and
// returns the deflater that has counted them: it writes bodies with the code. The code never
// changes, so the bytes of a body depend on earlier requests only in which of its rows are copied
// (copied.go).
func firstDeflater(rows Rows) *deflater {
	first := &blockCode{generation: firstGeneration}
	var seen counts
	d := newDeflater(rows, first)
	d.matcher.next = func() {}
	d.begin(nil)
	d.matcher.block.seen = &seen
	d.matcher.rows(sampleOf(rows, codeRuns), 0)
	d.matcher.finish()
	first.build(&d.huffman, &seen)
	first.begin(&first.begun)
	d.matcher.block.seen, d.matcher.next = nil, d.nextBatch
	d.abandon()
	return d
}

// sampleOf returns some runs of codeRun rows, spread over the table.
func sampleOf(rows Rows, count uint32) (runs []Run) {
	n := uint32(rows.Len())
	for at := uint32(0); at < n; at += max(n/count, codeRun+1) {
		runs = append(runs, Run{at, min(at+codeRun, n)})
	}
	return runs
}

const (
	// sampleEvery is how many batches pass between two that are counted, firstSample how many
	// before the first: a separate code for fewer rows costs more time than it saves bytes.
	sampleEvery = 64
	firstSample = 16

	// A code is kept while it takes at most this many percent of the best code's bits, when a body
	// is first counted and later on.
	keepFirst, keepLater = 125, 110
)

// gzipHeader is the header of a member: DEFLATE, no name, no time, unknown system.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

func newDeflater(rows Rows, first *blockCode) *deflater {
	d := &deflater{first: first, made: rowGeneration}
	d.matcher.init(rows)
	d.matcher.next = d.nextBatch
	return d
}

// begin starts a member that is appended to dst.
func (d *deflater) begin(dst []byte) {
	d.matcher.start()
	d.counted = false
	d.code, d.matcher.block.code, d.open = d.first, nil, false
	d.matcher.block.bits = bitWriter{out: append(dst, gzipHeader...)}
}

// plain encodes text outside of the rows.
func (d *deflater) plain(text []byte) {
	d.ensure()
	d.matcher.plain(text)
}

// end completes the member and returns dst with it.
func (d *deflater) end() []byte {
	d.endDeflate()
	dst := binary.LittleEndian.AppendUint32(d.matcher.block.bits.out, d.matcher.crc)
	d.matcher.block.bits.out = nil
	return binary.LittleEndian.AppendUint32(dst, d.matcher.size)
}

// rows encodes the rows of runs without their last cut bytes.
func (d *deflater) rows(runs []Run, cut int) {
	d.ensure()
	d.matcher.rows(runs, cut)
}

// nextBatch decides before each batch of rows whether its symbols are counted.
func (d *deflater) nextBatch() {
	b := &d.matcher.block
	if b.seen != nil {
		b.seen = nil
		d.sample()
	}
	if d.batches%sampleEvery == firstSample {
		d.latest = counts{}
		b.seen = &d.latest
	}
	d.batches++
}

// ensure starts a block, unless one is open.
func (d *deflater) ensure() {
	if !d.open {
		d.beginBlock(d.code)
	}
}

// sample starts a new block if another code is much better for what was counted.
func (d *deflater) sample() {
	keep := uint(keepLater)
	if d.counted {
		d.recent.fade(&d.latest)
	} else {
		d.counted, d.recent, keep = true, d.latest, keepFirst
	}
	if d.recent.cost(&d.code.table)*100 > d.recent.least()*keep {
		d.endBlock()
		d.own.build(&d.huffman, &d.recent)
		d.made++
		d.own.generation = d.made
		d.code = &d.own
		d.beginBlock(d.code)
	}
}

// build makes a code for counts. Symbols that were not counted have a code too.
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

func (d *deflater) beginBlock(c *blockCode) {
	c.begin(&d.matcher.block.bits)
	d.matcher.block.code, d.matcher.literalCode, d.matcher.generation, d.open = &c.table, &c.table, c.generation, true
}

func (b *blockCode) begin(w *bitWriter) {
	if made := &b.begun; w.nbits == 0 && made.out != nil {
		w.out = append(w.out, made.out...)
		w.acc, w.nbits = made.acc, made.nbits
		return
	}
	w.reserve(b.header.size + 64)
	w.write(2<<1, 3)
	b.header.write(w)
}

func (d *deflater) endBlock() {
	if d.open {
		eob := d.matcher.block.code.litLen[endOfBlock]
		d.matcher.block.bits.reserve(64)
		d.matcher.block.bits.write(eob.bits(), eob.len())
		d.open = false
	}
}

func (d *deflater) flush() {
	d.matcher.finish()
	d.endBlock()
	d.matcher.block.seen, d.matcher.literalCode, d.batches = nil, nil, 0
}

// endDeflate adds an empty block that is marked as the last, which the blocks before it are not, in
// the predefined code: that of its end is seven zeros.
func (d *deflater) endDeflate() {
	d.flush()
	w := &d.matcher.block.bits
	w.reserve(64)
	w.write(1|1<<1, 3+7)
	w.align()
}

// stored appends a stored block. Call prime before the next rows.
func (d *deflater) stored(b *storedBlock) {
	d.flush()
	w := &d.matcher.block.bits
	if w.nbits > 0 {
		// An empty uncompressed block ends on a byte boundary.
		w.reserve(64)
		w.write(0, 3)
		w.align()
		w.write(0xffff0000, 32)
	}
	w.out = append(w.out, b.data...)
	d.matcher.crc = crcMultiply(b.shift, d.matcher.crc) ^ b.crc
	d.matcher.skip(b.plain)
}
