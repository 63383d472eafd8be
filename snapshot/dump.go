package snapshot

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

const (
	dumpRow  = 16            // bytes a line
	dumpMost = 4 * dumpRow   // bytes printed of one piece
	dumpHex  = 2*dumpRow + 2 // columns they take
)

// Dump prints the bytes of a segment and what each means: offset, bytes in hexadecimal, meaning. Of
// long pieces it prints the beginning. The error is what is wrong with the segment; whatever can be
// parsed is printed all the same.
func Dump(w io.Writer, data []byte) error {
	footer, offset, err := readFooter(data)
	if err != nil {
		return err
	}
	dir, err := readDirectory(footer, offset)
	if err != nil {
		return err
	}
	d, version := &dumper{w: bufio.NewWriter(w), data: data}, binary.LittleEndian.Uint32(data[len(magic):])
	d.piece(4, "header: magic %q", magic)
	d.piece(4, "header: version %d", version)
	for i := range dir.groups {
		g := &dir.groups[i]
		d.block(&g.codes, fmt.Sprintf("group %q codes", g.name))
		d.block(&g.postings, fmt.Sprintf("group %q postings", g.name))
	}
	for i := range dir.columns {
		c := &dir.columns[i]
		for k := range c.blocks {
			d.block(&c.blocks[k], fmt.Sprintf("column %q", c.name))
		}
	}
	d.footer(dir)
	d.piece(8, "tail: footer at %d", offset)
	d.piece(4, "tail: footer length %d", len(footer))
	d.piece(4, "tail: footer crc32c")
	d.piece(4, "tail: version %d", version)
	d.piece(4, "tail: magic %q", magic)
	if err := d.w.Flush(); err != nil {
		return err
	}
	_, err = ReadSegment(data)
	return err
}

// dumper prints pieces of data one after the other. bufio.Writer keeps the first write error until
// Flush.
type dumper struct {
	w    *bufio.Writer
	data []byte
	at   int
}

// piece prints the next n bytes, or as many as there are.
func (d *dumper) piece(n int, format string, args ...any) {
	n = max(0, min(n, len(d.data)-d.at))
	if n == 0 {
		return
	}
	text := fmt.Sprintf(format, args...)
	for from := 0; from < min(n, dumpMost); from += dumpRow {
		line := d.data[d.at+from : d.at+min(from+dumpRow, n)]
		fmt.Fprintf(d.w, "%06d  %-*x%s\n", d.at+from, dumpHex, line, text)
		text = "."
	}
	if n > dumpMost {
		fmt.Fprintf(d.w, "%6s  %-*s. %d bytes more\n", "", dumpHex, "...", n-dumpMost)
	}
	d.at += n
}

func (d *dumper) block(b *block, what string) {
	start, end := d.at, d.at+int(b.length)
	count := int(b.count)
	rest := func() int { return end - d.at }
	switch b.encoding {
	case encPacked:
		d.piece(rest()-packedPad, "%s: packed, %d numbers of %d bits%s", what, count, b.width, fromBase(b))
		d.piece(rest(), "%s: packed, padding", what)
	case encScaled:
		d.piece(1, "%s: scaled, number of scales", what)
		d.piece(min(scaledHead-1, rest()), "%s: scaled, scales", what)
		d.piece(rest()-packedPad, "%s: scaled, %d numbers of %d bits%s", what, count, b.width, fromBase(b))
		d.piece(rest(), "%s: scaled, padding", what)
	case encTexts:
		d.piece(min(4*(count+1), rest()), "%s: texts, %d and one offsets", what, count)
		d.piece(rest(), "%s: texts, bytes %q", what, d.data[d.at:d.at+min(rest(), dumpMost)])
	case encInts:
		d.piece(rest(), "%s: ints, %d", what, count)
	case encDecimals:
		d.piece(min(8*count, rest()), "%s: decimals, %d mantissas", what, count)
		d.piece(rest(), "%s: decimals, scales", what)
	case encStarts:
		d.piece(rest(), "%s: starts, %d and the end", what, count)
	case encFrozen:
		ends := d.at
		d.piece(min(4*count, rest()), "%s: frozen, %d ends", what, count)
		d.piece(min(int(alignUp(4*uint64(count)))-4*count, rest()), "%s: frozen, padding", what)
		d.bitmaps(ends, count, end, what)
	default:
		d.piece(rest(), "%s: encoding %d", what, b.encoding)
	}
	d.piece(start+int(alignUp(b.length))-d.at, "padding")
}

func (d *dumper) bitmaps(ends, count, end int, what string) {
	const most = 8
	start := d.at
	for c := 0; c < count && c < most && d.at < end; c++ {
		stop := start + int(binary.LittleEndian.Uint32(d.data[ends+4*c:]))
		d.piece(min(stop, end)-d.at, "%s: frozen, bitmap %d", what, c)
		if c+1 < count {
			d.piece(min(start+int(alignUp(uint64(stop-start))), end)-d.at, "%s: frozen, padding", what)
		}
	}
	d.piece(end-d.at, "%s: frozen, %d bitmaps more", what, count-most)
}

func fromBase(b *block) string {
	if b.base == 0 {
		return ""
	}
	return fmt.Sprintf(" on base %d", b.base)
}

func (d *dumper) footer(dir *directory) {
	d.piece(1+len(dir.table), "footer: table %q", dir.table)
	d.piece(4, "footer: rows %d", dir.rows)
	d.piece(2, "footer: groups %d", len(dir.groups))
	for i := range dir.groups {
		g := &dir.groups[i]
		d.piece(1+len(g.name), "footer: group %q", g.name)
		d.piece(4, "footer: tuples %d", g.tuples)
		d.entry(&g.codes)
		d.entry(&g.postings)
	}
	d.piece(2, "footer: columns %d", len(dir.columns))
	for i := range dir.columns {
		c := &dir.columns[i]
		d.piece(1+len(c.name), "footer: column %q", c.name)
		d.piece(1, "footer: kind %s", c.kind)
		d.piece(1, "footer: flags%s", flagNames(c.flags))
		d.piece(2, "footer: of group %d", c.group)
		for k := range c.blocks {
			d.entry(&c.blocks[k])
		}
	}
}

func (d *dumper) entry(b *block) {
	d.piece(blockSize, "footer: block at %d: %s, width %d, count %d, base %d, length %d, crc32c %08x",
		b.offset, b.encoding, b.width, b.count, b.base, b.length, b.crc)
}

func flagNames(flags uint8) string {
	text := ""
	for i, name := range []string{"nullable", "coded", "indexed", "texts"} {
		if flags>>i&1 != 0 {
			text += " " + name
		}
	}
	if text == "" {
		return " none"
	}
	return text
}
