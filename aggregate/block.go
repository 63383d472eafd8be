package aggregate

import "hdqs/index"

// blockRows is the most rows of a block: few enough that what is unpacked stays in the first cache.
const blockRows = 1024

// block is some passing rows, with the group of each, and what was unpacked of them.
type block struct {
	index.Batch
	ids []uint32 // group of each row; nil if all are of the group id
	id  uint32

	keys    []uint64
	idSpace []uint32
	scratch []uint32
	values  []int64
	limb    []int64
	packed  []uint64
}

func newBlock() *block {
	b := &block{keys: make([]uint64, blockRows), packed: make([]uint64, blockRows)}
	b.idSpace, b.scratch = make([]uint32, blockRows), make([]uint32, blockRows)
	b.values, b.limb = make([]int64, blockRows), make([]int64, blockRows)
	return b
}

// codesOf are the codes of the rows in a space.
func (b *block) codesOf(s *index.Space) []uint32 { return b.InSpace(s) }

// tokens are the numbers of the rows' values in a column, as uint64: of the coding for a column of
// a space, else packed.
func (b *block) tokens(c *column) []uint64 {
	if c.space == nil {
		return b.Numbers(&c.col.Numbers().Packed)
	}
	dst, codes := b.packed[:b.Len()], b.codesOf(c.space)
	d := c.values()
	if d.codes == nil {
		for i, code := range codes {
			dst[i] = uint64(code)
		}
		return dst
	}
	for i, code := range codes {
		dst[i] = uint64(d.codes[code])
	}
	return dst
}

// group is the group of the i-th row.
func (b *block) group(i int) uint32 {
	if b.ids != nil {
		return b.ids[i]
	}
	return b.id
}
