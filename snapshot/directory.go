package snapshot

import (
	"encoding/binary"
	"unicode/utf8"
)

// cursor reads a footer field by field. After the end of the bytes every read is zero and short is
// set.
type cursor struct {
	rest  []byte
	short bool
	// next is where the next block starts, end where the footer starts.
	next, end uint64
}

func (c *cursor) bytes(n int) []byte {
	if c.short || len(c.rest) < n {
		c.short = true
		return make([]byte, n)
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) u8() uint8   { return c.bytes(1)[0] }
func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.bytes(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.bytes(4)) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.bytes(8)) }

func (c *cursor) name() (string, error) {
	b := c.bytes(int(c.u8()))
	if len(b) == 0 || !utf8.Valid(b) {
		return "", corruptf("name %q in the footer is empty or not UTF-8", b)
	}
	return string(b), nil
}

// block reads one entry and places it after the previous block.
func (c *cursor) block() (block, error) {
	b := block{
		encoding: encoding(c.u8()), width: c.u8(), count: c.u32(), base: int64(c.u64()), length: c.u64(),
		crc: c.u32(),
	}
	b.offset = c.next
	if b.length > c.end || alignUp(b.length) > c.end-b.offset {
		return b, corruptf("%s block [%d,+%d) reaches beyond the footer at %d", b.encoding, b.offset, b.length, c.end)
	}
	c.next += alignUp(b.length)
	return b, nil
}

// readDirectory parses a footer. Every block it returns is between header and footer. The contents
// of blocks are not checked yet.
func readDirectory(footer []byte, offset uint64) (*directory, error) {
	c := &cursor{rest: footer, next: uint64(headerSize), end: offset}
	d := &directory{}
	var err error
	if d.table, err = c.name(); err != nil {
		return nil, err
	}
	if d.rows = c.u32(); d.rows > MaxRows {
		return nil, corruptf("table %q has %d rows, at most %d are possible", d.table, d.rows, MaxRows)
	}
	groups := int(c.u16())
	for i := 0; i < groups && !c.short; i++ {
		g, err := c.group()
		if err != nil {
			return nil, err
		}
		d.groups = append(d.groups, g)
	}
	columns := int(c.u16())
	for i := 0; i < columns && !c.short; i++ {
		e, err := c.column(len(d.groups))
		if err != nil {
			return nil, err
		}
		d.columns = append(d.columns, e)
	}
	switch {
	case c.short:
		return nil, corruptf("footer of table %q ends within an entry", d.table)
	case len(c.rest) > 0:
		return nil, corruptf("footer of table %q has %d bytes too many", d.table, len(c.rest))
	case c.next != c.end:
		return nil, corruptf("blocks of table %q end at %d, the footer starts at %d", d.table, c.next, c.end)
	}
	return d, nil
}

func (c *cursor) group() (g groupEntry, err error) {
	if g.name, err = c.name(); err != nil {
		return g, err
	}
	g.tuples = c.u32()
	if g.codes, err = c.block(); err != nil {
		return g, err
	}
	g.postings, err = c.block()
	return g, err
}

func (c *cursor) column(groups int) (e columnEntry, err error) {
	if e.name, err = c.name(); err != nil {
		return e, err
	}
	e.kind, e.flags, e.group = Kind(c.u8()), c.u8(), c.u16()
	if c.short {
		return e, nil
	}
	if e.kind < Text || e.kind > Time {
		return e, corruptf("column %q has kind %d, known are %d to %d", e.name, e.kind, Text, Time)
	}
	coded := e.flags&flagCoded != 0
	switch {
	case e.flags >= flagsKnown,
		!coded && e.kind != Int && e.kind != Decimal,
		!coded && e.flags&flagIndexed != 0,
		e.flags&flagTexts != 0 && e.kind != Decimal,
		e.flags&flagIndexed != 0 && e.group != 0:
		return e, corruptf("column %q has kind %s with flags %#x", e.name, e.kind, e.flags)
	}
	if int(e.group) > groups {
		return e, corruptf("column %q belongs to group %d of %d", e.name, e.group, groups)
	}
	for range e.blockCount() {
		b, err := c.block()
		if err != nil {
			return e, err
		}
		e.blocks = append(e.blocks, b)
	}
	return e, nil
}
