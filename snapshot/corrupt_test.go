package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// fileOf returns the file of a table.
func fileOf(tb testing.TB, t *TableData) []byte {
	tb.Helper()
	var file bytes.Buffer
	testkit.Must(tb, WriteSegment(&file, t))
	return file.Bytes()
}

// mustRead reads a segment.
func mustRead(tb testing.TB, file []byte) *Segment {
	tb.Helper()
	return testkit.Value(ReadSegment(file))(tb)
}

// reseal applies edit to the directory and the bytes of the blocks, and corrects all checksums.
func reseal(tb testing.TB, file []byte, edit func(d *directory, data []byte)) []byte {
	tb.Helper()
	footer, offset, err := readFooter(file)
	testkit.Must(tb, err)
	d := testkit.Value(readDirectory(footer, offset))(tb)
	data := bytes.Clone(file[:offset])
	edit(d, data)
	return seal(d, data)
}

// seal joins blocks and a directory, with correct checksums.
func seal(d *directory, data []byte) []byte {
	fix := func(b *block) {
		from, to := b.offset, b.offset+alignUp(b.length)
		if from <= to && to <= uint64(len(data)) {
			b.crc = crc32.Checksum(data[from:to], castagnoli)
		}
	}
	for i := range d.groups {
		fix(&d.groups[i].codes)
		fix(&d.groups[i].postings)
	}
	for i := range d.columns {
		for k := range d.columns[i].blocks {
			fix(&d.columns[i].blocks[k])
		}
	}
	footer := d.append(nil)
	return appendTail(append(bytes.Clone(data), footer...), uint64(len(data)), footer)
}

// mend corrects the checksums it can find in any bytes, so that mutations reach the checks after
// them.
func mend(data []byte) ([]byte, bool) {
	if len(data) < headerSize+tailSize {
		return nil, false
	}
	out := bytes.Clone(data)
	copy(out, appendHeader(nil))
	tail := out[len(out)-tailSize:]
	offset, end := binary.LittleEndian.Uint64(tail), uint64(len(out)-tailSize)
	if offset < uint64(headerSize) || offset > end {
		return nil, false
	}
	footer := out[offset:end]
	d, err := readDirectory(footer, offset)
	if err != nil {
		copy(tail, appendTail(nil, offset, footer))
		return out, true
	}
	return seal(d, out[:offset]), true
}

// TestMalformedSegments makes one fault at a time. Opening the segment must find each, with the
// place in the message.
func TestMalformedSegments(t *testing.T) {
	t.Parallel()
	le := binary.LittleEndian
	file := fileOf(t, goldenTable())
	column := func(d *directory, name string) *columnEntry {
		for i := range d.columns {
			if d.columns[i].name == name {
				return &d.columns[i]
			}
		}
		panic("no column " + name)
	}
	at := func(d *directory, block string) *block {
		name, part, _ := strings.Cut(block, "/")
		for i := range d.groups {
			if g := &d.groups[i]; g.name == name && part == "codes" {
				return &g.codes
			} else if g.name == name {
				return &g.postings
			}
		}
		return &column(d, name).blocks[part[0]-'0']
	}
	put := func(block string, offset int, bytes string) func(d *directory, data []byte) {
		return func(d *directory, data []byte) { copy(data[int(at(d, block).offset)+offset:], bytes) }
	}
	le32 := func(v uint32) string { return string(le.AppendUint32(nil, v)) }
	le64 := func(v uint64) string { return string(le.AppendUint64(nil, v)) }
	faults := []struct {
		name, says string
		edit       func(d *directory, data []byte)
	}{
		{"rows_beyond_limit", "rows", func(d *directory, _ []byte) { d.rows = 1 << 31 }},
		{"rows_changed", "positions", func(d *directory, _ []byte) { d.rows-- }},
		{"table_without_name", "name", func(d *directory, _ []byte) { d.table = "" }},
		{"table_name_not_utf8", "UTF-8", func(d *directory, _ []byte) { d.table = "a\xff" }},
		{"two_columns_of_one_name", "two columns", func(d *directory, _ []byte) {
			d.columns[1].name = d.columns[0].name
		}},
		{"two_groups_of_one_name", "two groups", func(d *directory, _ []byte) { d.groups[1].name = d.groups[0].name }},
		{"no_tuples", "tuples", func(d *directory, _ []byte) { d.groups[0].tuples = 0 }},
		{"more_tuples_than_rows", "tuples", func(d *directory, _ []byte) { d.groups[0].tuples = d.rows + 1 }},
		{"one_tuple_more", `group "place"`, func(d *directory, _ []byte) { d.groups[0].tuples++ }},
		{"one_tuple_less", `group "colour"`, func(d *directory, _ []byte) { d.groups[1].tuples-- }},
		{"group_beyond_last", "group 3 of 2", func(d *directory, _ []byte) { d.columns[0].group = 3 }},
		{"kind_unknown", "kind 7", func(d *directory, _ []byte) { d.columns[0].kind = 7 }},
		{"kind_none", "kind 0", func(d *directory, _ []byte) { d.columns[0].kind = 0 }},
		{"flags_unknown", "flags", func(d *directory, _ []byte) { d.columns[0].flags |= flagsKnown }},
		{"text_not_coded", "flags", func(d *directory, _ []byte) { column(d, "town").flags &^= flagCoded }},
		{"text_read_as_ints", "dictionary", func(d *directory, _ []byte) { column(d, "town").kind = Int }},
		{"bool_of_other_numbers", "bool", func(d *directory, _ []byte) { column(d, "day").kind = Bool }},
		{"nulls_unannounced", "above", func(d *directory, _ []byte) { column(d, "size").flags &^= flagNullable }},
		{"block_missing", "footer", func(d *directory, _ []byte) {
			c := column(d, "size")
			c.flags &^= flagIndexed
			c.blocks = c.blocks[:2]
		}},
		{"block_too_long", "beyond the footer", func(d *directory, _ []byte) { d.groups[0].codes.length += 8 }},
		{"block_longer_than_file", "beyond the footer", func(d *directory, _ []byte) {
			d.groups[0].codes.length = 1<<64 - 4
		}},
		{"codes_too_wide", "bits", func(d *directory, _ []byte) { d.groups[0].codes.width = 63 }},
		{"codes_narrower", "bytes", func(d *directory, _ []byte) { column(d, "size").blocks[0].width = 1 }},
		{"codes_on_base", "base", func(d *directory, _ []byte) { d.groups[0].codes.base = 1 }},
		{"codes_miscounted", "positions", func(d *directory, _ []byte) { d.groups[0].codes.count++ }},
		{"codes_padding_set", "padding", func(d *directory, data []byte) {
			b := &d.groups[0].codes
			data[b.offset+b.length-1] = 1
		}},
		{"texts_miscounted", "texts", func(d *directory, _ []byte) { column(d, "town").blocks[1].count = 1 << 30 }},
		{"texts_offset_falls", "offset 2", put("size/1", 8, le32(4))},
		{"texts_offset_past_end", "offset 1", put("size/1", 4, le32(99))},
		{"texts_first_offset_not_zero", "offset 0", put("size/1", 0, le32(1))},
		{"texts_leave_bytes", "end", put("town/1", 8, le32(6))},
		{"text_not_utf8", "UTF-8", put("town/1", 12, "\xff")},
		{"texts_out_of_order", "out of order", put("town/1", 12, "xyzabcd")},
		{"enum_value_twice", "duplicate", put("size/1", 21, "small")},
		{"ints_out_of_order", "after", put("day/1", 0, le64(1<<62))},
		{"int_that_means_null", "null", put("day/1", 0, le64(1<<63))},
		{"ints_miscounted", "ints", func(d *directory, _ []byte) { column(d, "day").blocks[1].count++ }},
		{"starts_miscounted", "postings", func(d *directory, _ []byte) { column(d, "day").blocks[2].count++ }},
		{"starts_fall", "start", put("day/2", 4, le32(4001))},
		{"starts_not_from_zero", "start", put("day/2", 0, le32(1))},
		{"starts_short_of_rows", "end", put("day/2", 12, le32(4101))},
		{"tuple_without_rows", "start", put("place/postings", 4, le32(0))},
		{"bitmaps_end_falls", "bitmap", put("colour/postings", 4, le32(1))},
		{"bitmaps_end_past_block", "bitmap", put("colour/postings", 4, le32(1<<31))},
		{"bitmaps_leave_bytes", "bitmap", put("colour/postings", 4, le32(8222))},
		{"postings_of_unknown_encoding", "encoding", func(d *directory, _ []byte) {
			d.groups[1].postings.encoding = 99
		}},
		{"int_base_overflows", "64 bits", func(d *directory, _ []byte) {
			column(d, "count").blocks[0].base = 1<<63 - 1
		}},
		{"int_base_null", "base", func(d *directory, _ []byte) { column(d, "count").blocks[0].base = NullInt }},
		{"scales_too_many", "scales", put("exact/0", 0, "\x16")},
		{"scales_out_of_order", "scale 1", put("exact/0", 2, "\x00")},
		{"scale_beyond_limit", "scale 1", put("exact/0", 2, "\x13")},
		{"scale_of_null_missing", "null", func(d *directory, _ []byte) { column(d, "exact").flags &^= flagNullable }},
		{"scale_index_beyond_last", "decimal", put("exact/0", 0, "\x03\x00\x02\xff\x00")},
		{"decimal_base_overflows", "decimal", func(d *directory, _ []byte) {
			column(d, "exact").blocks[0].base = 1<<63 - 1
		}},
		{"decimal_with_trailing_zero", "mantissa", put("price/1", 16, le64(130))},
		{"decimal_scale_unknown", "scale 19", put("price/1", 26, "\x13")},
		{"decimals_out_of_order", "after", put("price/1", 8, le64(33))},
		{"exact_text_beyond_last", "exact text 1", put("price/1", 0, le64(1))},
		{"exact_text_not_needed", "needs no exact text", put("price/2", 8, "0.1000000000000000000")},
		{"exact_text_not_a_number", "plain digits", put("price/2", 8, "0.1000000000000x00055")},
	}
	for _, f := range faults {
		_, err := ReadSegment(reseal(t, file, f.edit))
		if !errors.Is(err, ErrCorrupt) || err != nil && !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %v, want an error with %q", f.name, err, f.says)
		}
	}
	if _, err := ReadSegment(reseal(t, file, func(*directory, []byte) {})); err != nil {
		t.Errorf("resealed without a fault: %v", err)
	}
}

// TestVerifyFindsContradictions makes faults that opening does not check.
func TestVerifyFindsContradictions(t *testing.T) {
	t.Parallel()
	file := fileOf(t, goldenTable())
	faults := []struct {
		name string
		edit func(d *directory, data []byte)
	}{
		{"row_in_another_posting", func(d *directory, data []byte) { data[d.groups[1].postings.offset+8] = 1 }},
		{"code_changed", func(d *directory, data []byte) { data[d.columns[2].blocks[0].offset+100] ^= 5 }},
		{"starts_moved", func(d *directory, data []byte) { data[d.groups[0].postings.offset+4]++ }},
		{"tuples_not_by_appearance", func(d *directory, data []byte) { data[d.groups[1].codes.offset] = 0x55 }},
		{"value_that_no_row_has", func(d *directory, data []byte) {
			b := &d.columns[3].blocks[0]
			clear(data[b.offset : b.offset+b.length])
		}},
	}
	for _, f := range faults {
		s, err := ReadSegment(reseal(t, file, f.edit))
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		testkit.Is(t, s.Verify(), ErrCorrupt, "%s", f.name)
	}
}

// TestBitFlips: every flipped bit is found, and no truncated file opens.
func TestBitFlips(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for seed := range fewer(10) {
		file := fileOf(t, generate(rand.New(rand.NewPCG(seed, 5))))
		for range 1000 {
			bit := r.IntN(8 * len(file))
			file[bit/8] ^= 1 << (bit % 8)
			if _, err := ReadSegment(file); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("table %d, bit %d of %d bytes: %v", seed, bit, len(file), err)
			}
			file[bit/8] ^= 1 << (bit % 8)
		}
		for range 100 {
			n := r.IntN(len(file))
			testkit.Fails(ReadSegment(file[:n]))(t, ErrCorrupt, "table %d cut to %d of %d bytes", seed, n, len(file))
		}
	}
}

// FuzzReadSegment: any bytes give a segment or ErrCorrupt, and every accessor of a segment works.
// Bytes are tried as they are and with corrected checksums.
func FuzzReadSegment(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(magic))
	for seed := range uint64(12) {
		table := generate(rand.New(rand.NewPCG(seed, 6)))
		if table.Rows < 200 {
			f.Add(fileOf(f, table))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files := [][]byte{data}
		if mended, ok := mend(data); ok {
			files = append(files, mended)
		}
		for _, file := range files {
			err := tryRead(t, file)
			var out bytes.Buffer
			if again := Dump(&out, file); (again == nil) != (err == nil) {
				t.Fatalf("reading: %v; dumping: %v", err, again)
			}
		}
	})
}

// tryRead calls every accessor of a segment. The error is ErrCorrupt.
func tryRead(t *testing.T, file []byte) error {
	t.Helper()
	s, err := ReadSegment(file)
	if err == nil {
		touch(s)
	} else if !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
	return err
}

// fewer is n, or a tenth of it in short mode.
func fewer(n uint64) uint64 {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

// TestMutations runs the fuzz test's check on mutations from fixed seeds.
func TestMutations(t *testing.T) {
	t.Parallel()
	var files [][]byte
	for seed := uint64(0); len(files) < 40; seed++ {
		if table := generate(rand.New(rand.NewPCG(seed, 8))); table.Rows < 500 {
			files = append(files, fileOf(t, table))
		}
	}
	opened := 0
	for seed := range fewer(20_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		file := bytes.Clone(files[seed%uint64(len(files))])
		for range 1 + r.IntN(3) {
			file[r.IntN(len(file))] = byte(r.Uint32())
		}
		mended, ok := mend(file)
		if !ok {
			continue
		}
		if tryRead(t, mended) == nil {
			opened++
		}
	}
	if opened == 0 {
		t.Error("every mutation was refused")
	}
}

// touch calls every accessor of a segment. It fails only by a panic.
func touch(s *Segment) {
	for _, g := range s.Groups() {
		touchPostings(&g.Postings)
		touchPacked(g.Codes)
		g.Size()
	}
	for _, c := range s.Columns() {
		for _, i := range someOf(c.Len()) {
			textAt(c, i)
		}
		for _, code := range someOf(c.Cardinality()) {
			textOf(c, code)
		}
		for i := range c.ExactTexts() {
			_ = c.DecString(Dec{Mantissa: int64(i), Scale: DecText})
		}
		if p, ok := c.Postings(); ok {
			touchPostings(&p)
		}
		if c.Coded() {
			touchPacked(c.Codes())
		} else {
			touchPacked(c.Numbers().Packed)
		}
		c.Size()
	}
	if s.Rows() < 100_000 {
		_ = s.Verify()
	}
}

// someOf returns up to some hundred numbers below n, including the first and the last.
func someOf(n int) []uint32 {
	var some []uint32
	for i := 0; i < n; i += 1 + n/200 {
		some = append(some, uint32(i))
	}
	if n > 0 {
		some = append(some, uint32(n-1))
	}
	return some
}

func touchPacked(p Packed) {
	for _, i := range someOf(p.Len()) {
		p.At(i)
		p.Unpack(make([]uint32, min(50, p.Len()-int(i))), i)
	}
}

func touchPostings(p *Postings) {
	for _, code := range someOf(p.Len()) {
		if p.Sorted() {
			_ = p.Start(code + 1)
		} else {
			_ = p.Frozen(code)
		}
	}
}
