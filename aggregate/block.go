package aggregate

// blockRows is the most rows of a block: few enough that what is unpacked stays in the first cache.
const blockRows = 1024

// block is some passing rows, with the group of each, and what was unpacked of them.
type block struct {
	n    int
	from uint32   // the first row, where at is nil: the rows follow each other
	at   []uint32 // the rows

	ids []uint32 // group of each row; nil if all are of the group id
	id  uint32

	spaces []*space
	filled []bool
	codes  [][]uint32
	keys   []uint64
	idSpace,
	scratch []uint32
	values []int64
	limb   []int64
	packed []uint64
}

func newBlock() *block {
	b := &block{keys: make([]uint64, blockRows), packed: make([]uint64, blockRows)}
	b.idSpace, b.scratch = make([]uint32, blockRows), make([]uint32, blockRows)
	b.values, b.limb = make([]int64, blockRows), make([]int64, blockRows)
	return b
}

// reset prepares the block for rows whose codes in these spaces are asked for.
func (b *block) reset(spaces []*space) {
	b.spaces = spaces
	b.filled = make([]bool, len(spaces))
	for len(b.codes) < len(spaces) {
		b.codes = append(b.codes, make([]uint32, blockRows))
	}
}

// set makes the block the rows from from on, or those in at.
func (b *block) set(n int, from uint32, at []uint32) {
	b.n, b.from, b.at = n, from, at
	clear(b.filled)
}

// codesOf are the codes of the rows in a space.
func (b *block) codesOf(s *space) []uint32 {
	for i, have := range b.spaces {
		if have != s {
			continue
		}
		codes := b.codes[i][:b.n]
		if !b.filled[i] {
			b.filled[i] = true
			switch {
			case b.at == nil:
				s.codes.Unpack(codes, b.from)
			case !s.runs().fill(codes, b.at):
				s.codes.Gather(codes, b.at)
			}
		}
		return codes
	}
	panic("aggregate: a space that the plan does not need")
}

// tokens are the numbers of the rows' values in a column, as uint64: of the coding for a column of
// a space, else packed.
func (b *block) tokens(c *column) []uint64 {
	dst := b.packed[:b.n]
	if c.space == nil {
		p := c.col.Numbers().Packed
		if b.at == nil {
			p.Unpack64(dst, b.from)
		} else {
			p.Gather64(dst, b.at)
		}
		return dst
	}
	codes := b.codesOf(c.space)
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
