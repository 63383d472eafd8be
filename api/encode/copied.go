package encode

import "github.com/klauspost/crc32"

// copied are rows of a batch that are copied from a row block, not encoded.
type copied struct {
	block    *storedBlock
	from, to uint32 // rows of the block
	after    int    // row of the batch that they follow
}

const (
	// leastCopied is the least number of rows that are copied: after a copy, one row is looked up
	// again, as the previous row of the next.
	leastCopied = 3

	// A request makes at most this many row blocks, and one more for each budgetRows rows. That
	// takes about as long as encoding the rows does.
	rowBudget, budgetRows = 8, 256
)

// copier encodes rows, and copies those that it finds in row blocks.
type copier struct {
	blocks *sizedBlocks
	budget int      // of row blocks to make
	n      int      // rows of the batch
	parts  int      // runs of these
	copies []copied // of the batch
}

// rowsCopied is rows with row blocks.
func (d *deflater) rowsCopied(runs []Run, cut int, t *rowTable, budget int) {
	c := &d.copier
	c.blocks = &t.blocks
	if c.blocks.cache.IsNearlyFull() {
		budget = 0
	}
	c.blocks.open()
	if d.code = t.code(); d.open && d.matcher.generation != rowGeneration {
		d.flush()
	}
	d.ensure()
	for i, run := range runs {
		end := run.To
		if i == len(runs)-1 {
			end-- // the last row is cut
		}
		if c.budget = budget; isLong(run) {
			c.budget = 0
		}
		for at, retry := run.From, run.From; at < run.To; at++ {
			if c.n > BatchRows-2 { // a row, and the last one of those that are copied after it
				d.encodeCopied(0)
			}
			d.add(at)
			if at+1 < retry {
				continue
			}
			var to uint32
			if to, retry = c.find(at+1, end); to > at+1 {
				at = to - 1
				d.add(at)
			}
		}
		if !isLong(run) {
			budget = c.budget
		}
	}
	d.encodeCopied(cut)
	c.blocks = nil
}

// isLong reports whether a run may consist of stored blocks. Row blocks are not made for it.
func isLong(r Run) bool { return r.To-r.From >= leastStored*storedRows }

func (d *deflater) add(row uint32) {
	c := &d.copier
	if c.parts > 0 && d.matcher.part[c.parts-1].To == row {
		d.matcher.part[c.parts-1].To++
	} else {
		d.matcher.part[c.parts] = Run{row, row + 1}
		c.parts++
	}
	c.n++
}

// find adds the rows from from on that can be copied, up to end at most, and returns the first row
// that cannot. If there are too few, none are added; retry is the next row at which to try again.
func (c *copier) find(from, end uint32) (to, retry uint32) {
	to, retry = from, from+1
	first, count := len(c.copies), uint32(c.blocks.rows.Len())/rowBlockRows
	for to < end {
		number, i := to/rowBlockRows, to%rowBlockRows
		start := to - i
		if end < start+i+leastCopied && to == from || number >= count {
			retry = end
			break
		}
		b := c.blocks.at(number, &c.budget)
		if b == nil || len(b.marks) == 0 {
			retry = start + rowBlockRows
			break
		}
		if b.marks[i].head < shortMatch { // no copied run can start with the row
			retry = to + 1
			break
		}
		last := min(rowBlockRows, end-start)
		for last > i && b.marks[last-1].end == noEnd {
			last--
		}
		if last == i {
			retry = to + 1
			break
		}
		c.copies = append(c.copies, copied{b, i, last, c.n - 1})
		if to = start + last; last < rowBlockRows {
			break
		}
	}
	if to < from+leastCopied {
		clear(c.copies[first:])
		c.copies = c.copies[:first]
		return from, max(retry, to)
	}
	return to, to
}

// encodeCopied encodes the rows of the batch, the last one without its last cut bytes, and copies
// those between them.
func (d *deflater) encodeCopied(cut int) {
	c, m := &d.copier, &d.matcher
	if m.pause != nil {
		m.pause()
	}
	m.drop()
	m.text = m.batch.Append(m.text, m.lanes, m.part[:c.parts])
	m.text = m.text[:len(m.text)-cut]
	from, n, rows, first := m.at, c.n, c.n, 0
	if cut > 0 {
		rows--
	}
	if n == 1 {
		first = cut
	}
	m.row(0, first)
	after := 0
	if n > 1 {
		after = m.vary(n)
	}
	done := 1
	for i := range c.copies {
		x := &c.copies[i]
		if x.after+1 >= done {
			m.encodeRows(done, x.after+1, after)
			m.accountFrom(from)
			done = x.after + 2
		}
		m.copyRows(x)
		if i+1 == len(c.copies) || c.copies[i+1].after != x.after {
			m.skipRow()
			from = m.at
		}
	}
	m.encodeRows(done, rows, after)
	if n > 1 {
		m.keepRow(rows - 1)
	}
	if rows < n && n > 1 {
		m.row(n-1, cut)
	}
	m.accountFrom(from)
	m.keepPlain()
	m.run()
	clear(c.copies) // the deflater must not keep blocks that were dropped
	c.n, c.parts, c.copies = 0, 0, c.copies[:0]
}

// accountFrom adds the encoded text from position at on to the size and the checksum.
func (d *matcher) accountFrom(at int) {
	text := d.text[at:d.at]
	d.crc = crc32.Update(d.crc, crc32.IEEETable, text)
	d.size += uint32(len(text))
}

// copyRows copies rows, the first of which follows the last row that was encoded or copied.
func (d *matcher) copyRows(x *copied) {
	if d.distance != d.back {
		d.settle()
	}
	if len(d.ops) > 0 {
		d.run()
	}
	marks := x.block.marks
	first, last, end := &marks[x.from], &marks[x.to-1], &marks[x.to]
	w, length := &d.block.bits, d.length+int(first.head)
	w.reserve(uint(length/maxMatch+2) * 64)
	d.block.code.writeMatch(w, length, d.back)
	w.copy(x.block.data, uint(first.start), uint(last.end))
	text := uint32(end.at - first.at)
	d.crc = crcMultiply(crcShort(text), d.crc^first.crc) ^ end.crc
	d.size += text
	d.base += text
	d.length = int(last.tail)
	d.back = int(end.at - last.at)
	d.distance = d.back
}

// skipRow skips the row of the batch that was copied last.
func (d *matcher) skipRow() {
	d.at += d.back
	d.base -= uint32(d.back)
	d.from = d.at - d.length
}
