package encode

import (
	"github.com/klauspost/crc32"
)

// Filtered pages consist of short runs of rows: a year of a place, the places of a country. A row
// block is neighbouring rows in gzip, in one code for all row blocks of the table, each row encoded
// with nothing but the row before it. So any run of its rows can be copied into a body, bit by bit,
// if the row before the run precedes it there.
//
// A match mostly reaches from the end of one row into the next, as both equal those of the rows
// before. At both ends of a copied run this match is written anew, since the rows before and after
// the run differ from those of the block.
const rowBlockRows = 32

type rowMark struct {
	// start and end are the positions of the row's bits without the matches that reach over its
	// start and its end. end is noEnd if all of the row is in one match.
	start, end uint16

	head, tail uint16 // bytes of the row within these two matches
	at         uint16 // position of the row's text in that of the block
	crc        uint32 // of the block's text before the row
}

const (
	noEnd        = 1<<16 - 1
	rowMarkBytes = 16

	// maxRowText is the most text of a row block.
	maxRowText = 1<<16 - 1
)

// rowBlock returns a row block of the rows from from to to-1; one without marks if they are too
// long.
func (d *deflater) rowBlock(code *codeTable, from, to uint32) *storedBlock {
	d.begin(nil)
	defer d.abandon()
	m, w := &d.matcher, &d.matcher.block.bits
	w.out = w.out[:0]
	m.literalCode, m.block.code, m.generation = code, code, rowGeneration
	if from > 0 {
		m.prime(from - 1)
	}
	m.drop()
	text := m.at
	m.part[0] = Run{from, to}
	m.text = m.batch.Append(m.text, m.lanes, m.part[:1])
	if len(m.text)-text > maxRowText {
		return &storedBlock{}
	}
	marks, crc := make([]rowMark, 0, to-from+1), uint32(0)
	for k := range int(to - from) {
		mark, at := rowMark{end: noEnd, at: uint16(m.at - text), crc: crc}, m.at
		m.forgetOccurrences()
		if !m.markRow(&mark, k) {
			return &storedBlock{}
		}
		crc = crc32.Update(crc, crc32.IEEETable, m.text[at:m.at])
		marks = append(marks, mark)
	}
	marks = append(marks, rowMark{at: uint16(m.at - text), crc: crc})
	w.reserve(64)
	w.write(0, 8)
	data := append(make([]byte, 0, len(w.out)+afterBits), w.out...)
	return &storedBlock{data: append(data, make([]byte, afterBits)...), marks: marks}
}

// forgetOccurrences makes all that precedes the previous row too far away for matches: it differs
// from body to body.
func (d *matcher) forgetOccurrences() { d.base += maxDistance + 1 }

// markRow writes row k of a batch and marks it. It returns false if the block has too many bits.
func (d *matcher) markRow(m *rowMark, k int) bool {
	pending, back := d.length, d.back
	d.row(k, 0)
	if len(d.ops) == 0 {
		return true
	}
	b, text, from := &d.block, d.text[:d.at], d.from
	first := &d.ops[0]
	if first.distance == uint32(back) && int(first.length) >= pending {
		m.head = uint16(int(first.length) - pending)
	}
	b.write([]op{{length: first.length, distance: first.distance}}, text, from)
	start := b.bits.position()
	from += int(first.length)
	first.length = 0
	b.write(d.ops, text, from)
	end := b.bits.position()
	d.ops, d.from = d.ops[:0], d.at-d.length
	if end >= noEnd {
		return false
	}
	m.start = uint16(start)
	if d.length == 0 || d.distance == d.back {
		m.end, m.tail = uint16(end), uint16(d.length)
	}
	return true
}

// abandon forgets a body that is not complete.
func (d *deflater) abandon() {
	d.matcher.ops, d.matcher.length = d.matcher.ops[:0], 0
	d.matcher.block.bits.out, d.matcher.block.code, d.matcher.literalCode = nil, nil, nil
}

type rowTable struct {
	blocks sizedBlocks
	code   func() *blockCode // of bodies with copied rows; nil if they are much larger than others
}

func (t *Table) rowBlock(_ Rows, from, to uint32) *storedBlock {
	d := t.writers.Get().(*deflater)
	b := d.rowBlock(&t.copied.code().table, from, to)
	t.writers.Put(d)
	return b
}

const (
	// rowRuns is the number of runs of the sample for a code of copied rows.
	rowRuns = 48

	// maxCopied is the most percent that the sample may have of its length compressed whole. Pages
	// that filters leave repeat texts, such as dates, more often than a sample of the whole table
	// does. Of 1,241 pages of all lists, one had more than 126 percent with copied rows, 139.
	maxCopied = 97
)

// newRowCode returns the code of bodies with copied rows. It is nil if a sample of them is not
// clearly shorter than one compressed whole: where many texts are repeated that differ from those
// of the row before.
func (t *Table) newRowCode() *blockCode {
	runs := sampleOf(t.rows, rowRuns)
	d := t.writers.Get().(*deflater)
	code, size := d.rowCode(runs)
	t.writers.Put(d)
	buffer := bodyBuffers.Get().(*[]byte)
	*buffer = t.whole((*buffer)[:0], t.frame(), runs, AppendGzip, nil)
	whole := uint(len(*buffer)) * 8
	bodyBuffers.Put(buffer)
	if size*100 > whole*maxCopied {
		return nil
	}
	return code
}

// rowCode builds a code for a body of which only the first rows of runs are not copied, and returns
// the body's size in bits.
func (d *deflater) rowCode(runs []Run) (code *blockCode, size uint) {
	m := &d.matcher
	d.begin(nil)
	defer d.abandon()
	var seen counts
	seen.literals(m.rowsOf.Head())
	seen.literals(m.rowsOf.Tail())
	for _, run := range runs {
		m.drop()
		m.part[0] = run
		m.text = m.batch.Append(m.text, m.lanes, m.part[:1])
		for k := range int(run.To - run.From) {
			if k > 0 {
				m.forgetOccurrences()
			}
			m.row(k, 0)
		}
		seen.ops(m.ops, m.text[:m.at], m.from)
		m.ops, m.from = m.ops[:0], m.at-m.length
		m.keepPlain()
	}
	code = &blockCode{generation: rowGeneration}
	code.build(&d.huffman, &seen)
	code.begin(&code.begun)
	return code, seen.cost(&code.table) + seen.extra() + code.header.size
}

// copiesRows reports whether some of the runs are long enough for row blocks and too short for
// stored blocks, and bodies do not become much larger with them.
func (t *Table) copiesRows(runs []Run) bool {
	longest := uint32(0)
	for _, r := range runs {
		if !isLong(r) {
			longest = max(longest, r.To-r.From)
		}
	}
	return longest > leastCopied && rowsIn(runs) > BatchRows && t.copied.code() != nil
}

func rowsIn(runs []Run) (n int) {
	for _, r := range runs {
		n += int(r.To - r.From)
	}
	return n
}
