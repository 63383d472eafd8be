package encode

import "hash/crc32"

// deflater writes what its matcher finds as DEFLATE.
type deflater struct {
	matcher
	bits bitWriter
	crc  uint32 // of the body so far
}

func newDeflater(rows Rows) *deflater {
	d := &deflater{}
	d.init(rows, maxDistance)
	d.flush = func() { d.block.flush(&d.bits, false) }
	d.check = func(text []byte) { d.crc = crc32.Update(d.crc, crc32.IEEETable, text) }
	return d
}

// start begins a body that is appended to out.
func (d *deflater) start(out []byte) {
	d.matcher.start()
	d.crc = 0
	d.bits = bitWriter{out: out}
}

// end ends a body.
func (d *deflater) end() []byte {
	d.settle(len(d.text))
	d.block.flush(&d.bits, true)
	d.bits.align()
	return d.bits.out
}

// stored puts a stored block behind what was encoded. What follows it is to be primed.
func (d *deflater) stored(b *storedBlock) {
	d.settle(len(d.text))
	if !d.block.empty() {
		d.block.flush(&d.bits, false)
		d.sync()
	}
	d.bits.out = append(d.bits.out, b.data...)
	d.crc = crcMultiply(b.shift, d.crc) ^ b.crc
	d.size += b.plain
}

// sync ends the output with a whole byte, by an empty block that is not compressed.
func (d *deflater) sync() {
	d.bits.reserve(64)
	d.bits.write(0, 3)
	d.bits.align()
	d.bits.write(0xffff0000, 32)
}
