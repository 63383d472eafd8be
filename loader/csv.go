package loader

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Bounds of a CSV file. The reader holds one row, so maxRowBytes bounds its memory. maxLines bounds
// the tables made of the rows; it is several times the largest file there is.
const (
	maxRowBytes = 1 << 20
	maxColumns  = 512
	maxLines    = 50_000_000
	csvBuffer   = 256 << 10
)

// csvReader splits a stream of CSV (RFC 4180, UTF-8, LF or CRLF, a byte order mark allowed) into
// rows. What it cannot read for certain is a fault of that row, never a guess. Bytes in quotes are
// kept as they are, line breaks included; empty lines are skipped. The cells it returns are views
// of its buffer and valid until the next call.
//
// With encoding/csv a whole load of the generated catalog takes 1.46 times the CPU (9.7 s against
// 6.7 s at half scale, medians of five rounds), where 1.25 times was the price that this code would
// be given up for. Besides, encoding/csv turns CRLF in a quoted cell into LF, does not bound the
// memory of a row, and needs code of its own for the bytes of a row, by which changed resources are
// recognised.
type csvReader struct {
	name string // of the file, for messages
	src  io.Reader
	buf  []byte
	pos  int // first unread byte
	end  int // end of the bytes read
	eof  bool

	next    int // line of buf[pos], from 1
	line    int // line the current row begins on
	raw     []byte
	cells   [][]byte
	escaped []int // of quotedRow, kept to reuse its memory

	notUTF8Rows int

	header []string
	extra  []string // columns that were not asked for
}

// newCSV reads the header row. All wanted columns must be there; a column that is neither wanted
// nor optional is listed in extra.
func newCSV(name string, src io.Reader, wanted, optional []string) (*csvReader, error) {
	r := &csvReader{name: name, src: src, buf: make([]byte, csvBuffer), next: 1}
	if err := r.fill(); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(r.buf[:r.end], byteOrderMark) {
		r.pos = len(byteOrderMark)
	}
	switch err := r.split(); {
	case err == io.EOF:
		return nil, fmt.Errorf("%s: no header row", name)
	case err != nil:
		return nil, fmt.Errorf("header row: %w", err)
	}
	if err := r.readHeader(wanted, optional); err != nil {
		return nil, err
	}
	return r, nil
}

// read moves to the next row, but for hashtags, which older files have, and the header again. The
// error is io.EOF after the last row, a *rowFault for a row to be dropped, or ends the file.
func (r *csvReader) read() error {
	err := r.split()
	for err == nil && (r.isHeader() || isTagRow(r.cells)) {
		err = r.split()
	}
	switch {
	case err != nil:
		return err
	case len(r.cells) != len(r.header):
		return r.fault(raggedRow, fmt.Sprintf("%d cells, the header has %d", len(r.cells), len(r.header)))
	case !slices.ContainsFunc(r.cells, func(cell []byte) bool { return len(cell) > 0 }):
		return r.fault(emptyRow, "no cell has a value")
	}
	return nil
}

// cell is the value of a column of the current row, empty when the file has no such column
// (position -1).
func (r *csvReader) cell(at int) []byte {
	if at < 0 {
		return nil
	}
	return r.cells[at]
}

// position finds a column, -1 when the file does not have it.
func (r *csvReader) position(name string) int {
	if name == "" {
		return -1
	}
	return slices.Index(r.header, name)
}

// cellFault is a fault of the current row because of one cell.
func (r *csvReader) cellFault(why reason, header string, cell []byte) *rowFault {
	detail := header + ": " + quoted(cell)
	if want := wanted[why]; want != "" {
		detail += ", want " + want
	}
	return r.fault(why, detail)
}

func (r *csvReader) fault(why reason, detail string) *rowFault {
	return &rowFault{file: r.name, line: r.line, reason: why, detail: detail}
}

// fill reads more: after moving the unread bytes to the front, or into the free space, or into a
// larger buffer.
func (r *csvReader) fill() error {
	switch {
	case r.pos > 0:
		copy(r.buf, r.buf[r.pos:r.end])
		r.end -= r.pos
		r.pos = 0
	case r.end == len(r.buf):
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	for r.end < len(r.buf) {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if err == io.EOF {
			r.eof = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: after line %d: %w", r.name, r.next, err)
		}
	}
	return nil
}

// split reads one row into cells and raw.
func (r *csvReader) split() error {
	for {
		r.line = r.next
		n := bytes.IndexByte(r.buf[r.pos:r.end], '\n')
		if n < 0 && !r.eof {
			if r.end-r.pos > maxRowBytes {
				return r.skipLine(r.fault(rowTooLong, fmt.Sprintf("more than %d bytes", maxRowBytes)))
			}
			if err := r.fill(); err != nil {
				return err
			}
			continue
		}
		if n < 0 {
			n = r.end - r.pos
		}
		if n == 0 && r.pos == r.end {
			return io.EOF
		}
		line := bytes.TrimRight(r.buf[r.pos:r.pos+n], "\r") // some programs write two
		if bytes.IndexByte(line, '"') >= 0 {
			return r.splitQuoted()
		}
		r.pos = min(r.pos+n+1, r.end)
		r.next++
		if len(line) > 0 {
			return r.splitPlain(line)
		}
	}
}

// splitPlain cuts a line without quotes at its commas.
func (r *csvReader) splitPlain(line []byte) error {
	r.raw, r.cells = line, r.cells[:0]
	start := 0
	for i, c := range line {
		if c == ',' {
			r.cells = append(r.cells, line[start:i:i])
			start = i + 1
		}
	}
	r.cells = append(r.cells, line[start:])
	return r.checkRow()
}

// checkRow checks what every row must be, however it was split.
func (r *csvReader) checkRow() error {
	switch {
	case r.line > maxLines:
		return fmt.Errorf("%s:%d: more than %d lines", r.name, r.line, maxLines)
	case len(r.raw) > maxRowBytes:
		return r.fault(rowTooLong, fmt.Sprintf("%d bytes, at most %d are read", len(r.raw), maxRowBytes))
	case len(r.cells) > maxColumns:
		return r.fault(raggedRow, fmt.Sprintf("%d cells, at most %d are read", len(r.cells), maxColumns))
	case !utf8.Valid(r.raw):
		return r.notUTF8()
	}
	return nil
}

// maxOtherEncoding is how many rows that are not UTF-8 are taken for slips. A file with more of
// them is written in another encoding: to drop its rows one by one would lose just those places and
// organisations that have an accent.
const maxOtherEncoding = 5

// notUTF8 is the fault of a row that is not UTF-8, or the error of its file.
func (r *csvReader) notUTF8() error {
	if r.notUTF8Rows++; r.notUTF8Rows > maxOtherEncoding {
		return fmt.Errorf("%s:%d: %d rows are not UTF-8; convert the file, for example with "+
			"iconv -f WINDOWS-1252 -t UTF-8", r.name, r.line, r.notUTF8Rows)
	}
	at := slices.IndexFunc(r.cells, func(cell []byte) bool { return !utf8.Valid(cell) })
	detail := quoted(r.cells[at])
	if at < len(r.header) {
		detail = r.header[at] + ": " + detail
	}
	return r.fault(invalidUTF8, detail+", want UTF-8")
}

// skipLine skips the rest of the line at pos and returns the fault because of which it is skipped.
// A line that is too long and has quotes ends the file: its end may be inside a quoted cell.
func (r *csvReader) skipLine(fault *rowFault) error {
	for {
		n := bytes.IndexByte(r.buf[r.pos:r.end], '\n')
		if fault.reason == rowTooLong && bytes.IndexByte(r.buf[r.pos:r.end], '"') >= 0 {
			return fmt.Errorf("%s:%d: row of more than %d bytes with quotes: its end is ambiguous", r.name,
				fault.line, maxRowBytes)
		}
		if n >= 0 {
			r.pos += n + 1
			r.next++
			return fault
		}
		r.pos = r.end
		if r.eof {
			return fault
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// splitQuoted splits a row that has quotes. It looks past line ends inside quotes for at most the
// length of a row: an unclosed quote would take in the rows after it, so it ends the file.
func (r *csvReader) splitQuoted() error {
	for {
		s := quotedRow{cells: r.cells[:0], escaped: r.escaped[:0]}
		s.scan(r.buf[r.pos:r.end], r.eof)
		r.cells, r.escaped = s.cells, s.escaped
		if s.state == rowShort {
			if r.eof || r.end-r.pos > maxRowBytes {
				return fmt.Errorf("%s:%d: a quote is not closed within %d bytes", r.name, r.line, maxRowBytes)
			}
			if err := r.fill(); err != nil {
				return err
			}
			continue
		}
		row := r.buf[r.pos : r.pos+s.n]
		r.pos += s.n
		r.next += bytes.Count(row, []byte{'\n'})
		if s.state == rowBad {
			return r.skipLine(r.fault(misplacedQuote, s.fault))
		}
		if len(row) > 0 && row[len(row)-1] != '\n' {
			r.next++ // the last row need not end in a line break
		}
		r.raw = bytes.TrimRight(bytes.TrimSuffix(row, []byte{'\n'}), "\r")
		if err := r.checkRow(); err != nil {
			return err
		}
		if slices.ContainsFunc(r.cells, r.holdsRows) {
			return r.fault(misplacedQuote, fmt.Sprintf(
				"a quoted cell goes on to line %d and has as many commas as the rows there; close the quote", r.next-1))
		}
		for _, i := range s.escaped {
			r.cells[i] = unescape(r.cells[i])
		}
		return nil
	}
}

// holdsRows reports whether a cell looks like the rows between two stray quotes: from a column to
// the same column of a later row there are as many commas as columns for each line break. Texts of
// paragraphs may have as many as a narrow table has columns.
func (r *csvReader) holdsRows(cell []byte) bool {
	commas := len(r.header) - 1
	breaks := bytes.Count(cell, []byte{'\n'})
	return breaks > 0 && commas >= leastCommas && bytes.Count(cell, []byte{','}) >= commas*breaks
}

// leastCommas is how many commas a row has at least for holdsRows.
const leastCommas = 5

// quotedRow scans one row that has quotes.
type quotedRow struct {
	state   rowState
	n       int      // bytes looked at; of a whole row, its length with its line break
	cells   [][]byte // quotes in them still doubled
	escaped []int    // cells that have such quotes
	fault   string
}

type rowState uint8

const (
	rowWhole rowState = iota
	rowShort          // more bytes are needed
	rowBad            // not CSV at byte n
)

// scan looks for one row at the start of w; eof says that w is the end of the file.
func (s *quotedRow) scan(w []byte, eof bool) {
	for at := 0; ; {
		var end int // where the cell ended: on its comma or line break, or len(w)
		if at < len(w) && w[at] == '"' {
			end = s.quotedCell(w, at+1, eof)
		} else {
			end = s.plainCell(w, at, eof)
		}
		switch {
		case s.state != rowWhole:
			return
		case end < len(w) && w[end] == ',':
			at = end + 1
		case end < len(w):
			s.n = end + 1
			return
		default:
			s.n = end
			return
		}
	}
}

func (s *quotedRow) quotedCell(w []byte, start int, eof bool) (end int) {
	escaped := false
	for at := start; ; {
		k := bytes.IndexByte(w[at:], '"')
		if k < 0 {
			s.state = rowShort
			return 0
		}
		at += k + 1
		rest, after := w[at:], bytes.TrimLeft(w[at:], "\r")
		switch {
		case len(rest) > 0 && rest[0] == '"':
			escaped = true
			at++
			continue
		case len(after) == 0 && !eof:
			s.state = rowShort
			return 0
		}
		if escaped {
			s.escaped = append(s.escaped, len(s.cells))
		}
		s.cells = append(s.cells, w[start:at-1:at-1])
		switch {
		case len(after) == 0, after[0] == '\n':
			return len(w) - len(after)
		case rest[0] == ',':
			return at
		}
		s.state, s.n, s.fault = rowBad, at, "text after a closing quote"
		return 0
	}
}

func (s *quotedRow) plainCell(w []byte, start int, eof bool) (end int) {
	for at := start; at < len(w); at++ {
		switch w[at] {
		case ',':
			s.cells = append(s.cells, w[start:at:at])
			return at
		case '\n':
			s.cells = append(s.cells, bytes.TrimRight(w[start:at:at], "\r"))
			return at
		case '"':
			s.state, s.n, s.fault = rowBad, at, "a quote inside a cell that does not begin with one"
			return 0
		}
	}
	if !eof {
		s.state = rowShort
		return 0
	}
	s.cells = append(s.cells, bytes.TrimRight(w[start:], "\r"))
	return len(w)
}

func unescape(cell []byte) []byte {
	out := cell[:0]
	for i := 0; i < len(cell); i++ {
		out = append(out, cell[i])
		if cell[i] == '"' {
			i++
		}
	}
	return out
}
