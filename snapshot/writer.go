package snapshot

import (
	"hash/crc32"
	"io"
	"runtime"
)

// WriteSegment writes a table as a segment. Equal tables give equal bytes. The error is the
// writer's. A table that contradicts itself panics, or gives bytes that are ErrCorrupt to read.
func WriteSegment(w io.Writer, t *TableData) error {
	out := &blockWriter{w: w}
	out.write(appendHeader(nil))
	d := &directory{table: t.Name, rows: uint32(t.Rows)}
	// Parts are encoded on all cores and written in their order.
	for part := range inOrder(partsOf(t)) {
		for i := range part.payloads {
			out.block(part.blocks[i], part.payloads[i])
		}
		if part.group != nil {
			d.groups = append(d.groups, *part.group)
		} else {
			d.columns = append(d.columns, *part.column)
		}
		if out.err != nil {
			return out.err
		}
	}
	offset := out.n
	footer := d.append(nil)
	out.write(footer)
	out.write(appendTail(nil, offset, footer))
	return out.err
}

// blockWriter tracks the position and keeps the first error.
type blockWriter struct {
	w   io.Writer
	n   uint64
	err error
}

func (o *blockWriter) write(b []byte) {
	if o.err != nil {
		return
	}
	_, o.err = o.w.Write(b)
	o.n += uint64(len(b))
}

func (o *blockWriter) block(b *block, payload []byte) {
	b.length = uint64(len(payload))
	payload = append(payload, make([]byte, alignUp(b.length)-b.length)...)
	b.crc = crc32.Checksum(payload, castagnoli)
	o.write(payload)
}

// part is one group or column, encoded.
type part struct {
	group    *groupEntry
	column   *columnEntry
	blocks   []*block // entries of the payloads
	payloads [][]byte
}

// partsOf lists what to encode: the groups, their columns, the columns of rows.
func partsOf(t *TableData) []func() part {
	var parts, columns []func() part
	for i := range t.Groups {
		g := &t.Groups[i]
		codes, kept := renumber(g)
		parts = append(parts, func() part { return encodeGroup(g.Name, codes, len(kept)) })
		for k := range g.Columns {
			columns = append(columns, func() part { return encodeColumn(pick(&g.Columns[k], kept), i+1) })
		}
	}
	for i := range t.Columns {
		columns = append(columns, func() part { return encodeColumn(&t.Columns[i], 0) })
	}
	return append(parts, columns...)
}

// inOrder yields the results of jobs in order. Some of the next jobs run meanwhile.
func inOrder(jobs []func() part) func(yield func(part) bool) {
	return func(yield func(part) bool) {
		workers := runtime.GOMAXPROCS(0)
		results := make([]chan part, len(jobs))
		for i := range results {
			results[i] = make(chan part, 1)
		}
		start := func(i int) {
			if i < len(jobs) {
				go func() { results[i] <- jobs[i]() }()
			}
		}
		for i := range workers {
			start(i)
		}
		for i := range jobs {
			one := <-results[i]
			start(i + workers)
			if !yield(one) {
				return
			}
		}
	}
}

// renumber numbers a group's tuples by first appearance. kept are the old numbers of the tuples in
// use.
func renumber(g *GroupData) (codes, kept []uint32) {
	codes = make([]uint32, len(g.Codes))
	number := make([]uint32, g.Tuples) // the new number, plus 1
	for i, c := range g.Codes {
		if number[c] == 0 {
			kept = append(kept, c)
			number[c] = uint32(len(kept))
		}
		codes[i] = number[c] - 1
	}
	return codes, kept
}

// pick is a column with only some of its positions.
func pick(c *ColumnData, positions []uint32) *ColumnData {
	p := *c
	p.Codes, p.Ints, p.Decimals = pickOf(c.Codes, positions), pickOf(c.Ints, positions), pickOf(c.Decimals, positions)
	return &p
}

func pickOf[T any](values []T, positions []uint32) []T {
	if len(values) == 0 {
		return nil
	}
	out := make([]T, len(positions))
	for i, at := range positions {
		out[i] = values[at]
	}
	return out
}

func encodeGroup(name string, codes []uint32, tuples int) part {
	e := &groupEntry{name: name, tuples: uint32(tuples)}
	var p part
	p.group = e
	p.add(&e.codes, codesPayload(&e.codes, codes, tuples))
	p.add(&e.postings, postingsPayload(&e.postings, codes, tuples))
	return p
}

func (p *part) add(b *block, payload []byte) {
	p.blocks = append(p.blocks, b)
	p.payloads = append(p.payloads, payload)
}

// codesPayload packs codes below count.
func codesPayload(b *block, codes []uint32, count int) []byte {
	b.encoding, b.count = encPacked, uint32(len(codes))
	if count > 0 {
		b.width = uint8(widthOf(uint64(count - 1)))
	}
	return packCodes(codes, int(b.width))
}
