package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
)

// ReadSegment reads a segment from memory that must not change afterwards. Any bytes give a segment
// or ErrCorrupt.
func ReadSegment(data []byte) (*Segment, error) { return readOn(data, runtime.GOMAXPROCS(0)) }

// readOn is ReadSegment on so many cores.
func readOn(data []byte, cores int) (*Segment, error) {
	footer, offset, err := readFooter(data)
	if err != nil {
		return nil, err
	}
	d, err := readDirectory(footer, offset)
	if err != nil {
		return nil, err
	}
	s := &Segment{
		name: d.table, rows: int(d.rows), byName: make(map[string]*Column, len(d.columns)),
		data: data,
	}
	if err := s.lay(d); err != nil {
		return nil, err
	}
	if err := s.check(d, cores); err != nil {
		return nil, err
	}
	return s, nil
}

// lay makes the groups and columns of a directory, without their contents yet.
func (s *Segment) lay(d *directory) error {
	groups := map[string]bool{}
	for i := range d.groups {
		e := &d.groups[i]
		if groups[e.name] {
			return corruptf("table %q has two groups %q", s.name, e.name)
		}
		groups[e.name] = true
		if e.tuples > d.rows || e.tuples == 0 && d.rows > 0 {
			return corruptf("group %q of table %q has %d tuples for %d rows", e.name, s.name, e.tuples, d.rows)
		}
		s.groups = append(s.groups, &Group{Name: e.name, Tuples: int(e.tuples)})
	}
	for i := range d.columns {
		e := &d.columns[i]
		if s.byName[e.name] != nil {
			return corruptf("table %q has two columns %q", s.name, e.name)
		}
		c := &Column{
			Name: e.name, Kind: e.kind, Nullable: e.flags&flagNullable != 0, coded: e.flags&flagCoded != 0,
			n: s.rows,
		}
		if e.group > 0 {
			c.Group = s.groups[e.group-1]
			c.n = c.Group.Tuples
		}
		s.columns = append(s.columns, c)
		s.byName[e.name] = c
	}
	return nil
}

// check verifies checksums and contents of all groups and columns, on so many cores. The largest
// come first, so that all cores end at about the same time. The error is that of the first bad one
// in the file.
func (s *Segment) check(d *directory, cores int) error {
	errs := make([]error, len(d.groups)+len(d.columns))
	order := make([]int, len(errs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.bytes(b), d.bytes(a)) })
	inParallel(cores, len(order), func(k int) {
		if i := order[k]; i < len(d.groups) {
			errs[i] = s.openGroup(s.groups[i], &d.groups[i])
		} else {
			errs[i] = s.openColumn(s.columns[i-len(d.groups)], &d.columns[i-len(d.groups)])
		}
	})
	return cmp.Or(errs...)
}

// payload returns the bytes of a block after checking its checksum.
func (s *Segment) payload(b *block) ([]byte, error) {
	r := s.read(b)
	return r.data[:b.length:b.length], b.compare(r.checksum())
}

// read begins to read a block and its padding.
func (s *Segment) read(b *block) reading {
	return reading{data: s.data[b.offset : b.offset+alignUp(b.length)]}
}

// compare checks the checksum of the block's bytes.
func (b *block) compare(sum uint32) error {
	if sum != b.crc {
		return corruptf("%s block [%d,+%d) has checksum %08x, want %08x", b.encoding, b.offset, b.length, sum, b.crc)
	}
	return nil
}

// in adds the place in the segment to an error.
func (s *Segment) in(what, name string, err error) error {
	inner := err.Error()
	if errors.Is(err, ErrCorrupt) {
		inner = inner[len(ErrCorrupt.Error())+len(": "):]
	}
	return corruptf("table %q, %s %q: %s", s.name, what, name, inner)
}

func (s *Segment) openGroup(g *Group, e *groupEntry) error {
	err := func() (err error) {
		codes := s.read(&e.codes)
		g.Codes, err = openCodes(&e.codes, codes.data[:e.codes.length], s.rows, g.Tuples, &codes)
		if err = cmp.Or(e.codes.compare(codes.checksum()), err); err != nil {
			return err
		}
		data, err := s.payload(&e.postings)
		if err != nil {
			return err
		}
		g.Postings, err = openPostings(&e.postings, data, g.Tuples, s.rows, true)
		return err
	}()
	if err != nil {
		return s.in("group", g.Name, err)
	}
	g.size = ColumnSize{Codes: int64(e.codes.length), Postings: int64(e.postings.length)}
	return nil
}

func (s *Segment) openColumn(c *Column, e *columnEntry) error {
	// The numbers are checked while their block is read. If the checksum is wrong too, that error
	// is returned.
	parts := make([][]byte, len(e.blocks))
	numbers := s.read(&e.blocks[0])
	parts[0] = numbers.data[:e.blocks[0].length:e.blocks[0].length]
	err := func() (err error) {
		for i := 1; i < len(e.blocks) && err == nil; i++ {
			parts[i], err = s.payload(&e.blocks[i])
		}
		if err != nil {
			return err
		}
		return c.open(e, parts, s.rows, &numbers)
	}()
	if err := cmp.Or(e.blocks[0].compare(numbers.checksum()), err); err != nil {
		return s.in("column", c.Name, err)
	}
	c.size.Codes = int64(len(parts[0]))
	for _, part := range parts[1:] {
		c.size.Dictionary += int64(len(part))
	}
	if e.flags&flagIndexed != 0 {
		c.size.Postings = int64(len(parts[len(parts)-1]))
		c.size.Dictionary -= c.size.Postings
	}
	return nil
}

// open sets the column's contents. blocks and parts are the directory's entries and their bytes, of
// which the first is being read.
func (c *Column) open(e *columnEntry, parts [][]byte, rows int, first *reading) (err error) {
	blocks := e.blocks
	next := 1
	if c.coded {
		next++
	}
	if e.flags&flagTexts != 0 {
		if blocks[next].encoding != encTexts {
			return corruptf("encoding %s where exact texts are expected", blocks[next].encoding)
		}
		if c.exact, err = openExactTexts(&blocks[next], parts[next]); err != nil {
			return err
		}
		next++
	}
	switch {
	case !c.coded && c.Kind == Int:
		c.numbers, err = openInts(&blocks[0], parts[0], c.n, c.Nullable, first)
		return err
	case !c.coded:
		c.numbers, err = openDecimals(&blocks[0], parts[0], c.n, c.Nullable, &c.exact, first)
		return err
	}
	if err := c.openDictionary(&blocks[1], parts[1]); err != nil {
		return err
	}
	codes := c.CodeCount()
	if c.codes, err = openCodes(&blocks[0], parts[0], c.n, codes, first); err != nil {
		return err
	}
	if e.flags&flagIndexed != 0 {
		c.postings, err = openPostings(&blocks[next], parts[next], codes, rows, false)
	}
	return err
}

func (c *Column) openDictionary(b *block, data []byte) (err error) {
	want := encInts
	switch c.Kind {
	case Text, Enum:
		want = encTexts
	case Decimal:
		want = encDecimals
	}
	if b.encoding != want {
		return corruptf("encoding %s where a dictionary of %s is expected", b.encoding, want)
	}
	switch want {
	case encTexts:
		c.dict, err = openTextDictionary(b, data, c.Kind)
	case encDecimals:
		c.dict, err = openDecDictionary(b, data, &c.exact)
	default:
		c.dict, err = openIntDictionary(b, data, c.Kind)
	}
	return err
}

// OpenSegment reads the segment in a file into memory, on all cores. The file is not needed
// afterwards. Close gives the memory back.
func OpenSegment(path string) (*Segment, error) { return OpenSegmentOn(path, runtime.GOMAXPROCS(0)) }

// OpenSegmentOn is OpenSegment on so many cores.
func OpenSegmentOn(path string, cores int) (*Segment, error) {
	data, free, err := readFile(path, cores)
	if err != nil {
		return nil, err
	}
	s, err := readOn(data, cores)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), free())
	}
	s.free = free
	return s.Acquire(), nil
}

// Acquire adds one reference: a segment that OpenSegment opened needs one Close more. It returns
// the segment.
func (s *Segment) Acquire() *Segment {
	s.shares.Add(1)
	return s
}

// Close gives up one reference to a segment that OpenSegment opened. The last Close gives its
// memory back: nothing that the segment has handed out may be used afterwards. Close does nothing
// to a segment of ReadSegment.
func (s *Segment) Close() error {
	if s.free == nil || s.shares.Add(-1) != 0 {
		return nil
	}
	return s.free()
}
