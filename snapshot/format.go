package snapshot

import (
	"encoding/binary"
	"hash/crc32"
)

// A segment has every row of one table, column by column. Integers are little-endian; offsets count
// from byte 0 of the segment.
//
//	0         8                               F          T         T+24
//	┌─────────┬─────────┬─────────┬───────────┬──────────┬─────────┐
//	│ header  │ block 0 │ block 1 │    ...    │  footer  │  tail   │
//	└─────────┴─────────┴─────────┴───────────┴──────────┴─────────┘
//	 read third: block checksums               read second  read first
//
//	header  magic "HSEG" · version u32
//	block   one array, zero-padded to a multiple of 8. The first block starts at 8, each other one
//	        where the padding of the one before ends, the footer after the last. So no byte is
//	        outside a block, and no entry needs an offset
//	footer  table str · rows u32
//	        groups u16 · per group:  name str · tuples u32 · blocks: codes, postings
//	        columns u16 · per column: name str · kind u8 · flags u8 · group u16 · blocks (below)
//	tail    F u64 · footer's length u32 · footer's crc32c u32 · version u32 · magic "HSEG"
//
//	str     length u8 · that many bytes of UTF-8
//	group   of a column: 0 for a column of rows, k for one of the tuples of the k-th group
//	block   encoding u8 · width u8 · count u32 · base i64 · length u64 · crc32c u32 (of the block
//	        and its padding)
//
// The blocks of a column follow from its kind and flags (n: its rows or tuples; d: its distinct
// values; an indexed column has postings after them):
//
//	coded Text, Enum        packed n codes · texts d
//	coded Int, Bool, Time   packed n codes · ints d
//	coded Decimal           packed n codes · decimals d · texts when it has exact texts
//	Int                     packed n, value = base + number; when nullable 0 is null and
//	                        value = base + number - 1
//	Decimal                 scaled n · texts when it has exact texts
//
// A code is the position of a value in the column's dictionary; null is the code d. The postings of
// a group have one entry a tuple. Those of a column have one entry a distinct value and, when
// nullable, a last one for null. The encodings:
//
//	packed    count numbers of width bits, see Packed
//	scaled    24 bytes: count u8 of scales, the scales u8 ascending, zeros; then packed numbers:
//	          the position of the value's scale in the lowest bits (as many as the largest needs),
//	          above it mantissa - base; for null 0, for an exact text its position
//	texts     count+1 offsets u32 from 0, ascending · the bytes of all texts
//	ints      count i64, ascending
//	decimals  count i64 mantissas · count u8 scales, ascending by value
//	starts    count+1 row ids u32: entry c is the rows from start c up to start c+1, exclusive.
//	          For codes that never fall from row to row
//	frozen    count u32: where the bitmap of each entry ends, in bytes after this list and its
//	          padding to a multiple of 8; bitmaps, each in roaring's frozen form (see frozen.go),
//	          each starting at the next multiple of 8
const (
	magic      = "HSEG"
	headerSize = len(magic) + 4
	tailSize   = 8 + 4 + 4 + 4 + len(magic)
	blockSize  = 1 + 1 + 4 + 8 + 8 + 4

	// The log of format versions.
	//
	// 1: first format. Since November 2026 containers have the types that roaring gives them: 2r+1
	//    rows in r runs are an array, not runs, and take 2 bytes more. Programs from before and
	//    after read both, so the version stayed.
	formatV1    = 1
	formatWrite = formatV1
)

// MaxRows is the most rows of a table, and MinSegmentBytes the size of the smallest segment.
const (
	MaxRows         = 1<<31 - 1
	MinSegmentBytes = int64(headerSize + tailSize)
)

type encoding uint8

const (
	encPacked encoding = 1 + iota
	encScaled
	encTexts
	encInts
	encDecimals
	encStarts
	encFrozen
)

var encodingNames = [...]string{"0", "packed", "scaled", "texts", "ints", "decimals", "starts", "frozen"}

func (e encoding) String() string {
	if int(e) < len(encodingNames) {
		return encodingNames[e]
	}
	return "unknown"
}

// The flags of a column.
const (
	flagNullable = 1 << iota
	flagCoded
	flagIndexed
	flagTexts // the column has exact texts
	flagsKnown
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// block is one entry of the directory, and the offset of its bytes.
type block struct {
	encoding encoding
	width    uint8
	count    uint32
	base     int64
	length   uint64
	crc      uint32

	offset uint64
}

type directory struct {
	table   string
	rows    uint32
	groups  []groupEntry
	columns []columnEntry
}

type groupEntry struct {
	name     string
	tuples   uint32
	codes    block
	postings block
}

type columnEntry struct {
	name   string
	kind   Kind
	flags  uint8
	group  uint16
	blocks []block
}

// bytes is the length of the blocks of a group or column, by its position: groups come first.
func (d *directory) bytes(part int) (n uint64) {
	if part < len(d.groups) {
		return d.groups[part].codes.length + d.groups[part].postings.length
	}
	for i := range d.columns[part-len(d.groups)].blocks {
		n += d.columns[part-len(d.groups)].blocks[i].length
	}
	return n
}

// blockCount is the number of blocks of a column of this kind and these flags.
func (c *columnEntry) blockCount() int {
	n := 1
	if c.flags&flagCoded != 0 {
		n++
	}
	if c.flags&flagTexts != 0 {
		n++
	}
	if c.flags&flagIndexed != 0 {
		n++
	}
	return n
}

// alignUp is n rounded up to a multiple of 8.
func alignUp(n uint64) uint64 { return (n + 7) &^ 7 }

func (b *block) append(dst []byte) []byte {
	dst = append(dst, byte(b.encoding), b.width)
	dst = binary.LittleEndian.AppendUint32(dst, b.count)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.base))
	dst = binary.LittleEndian.AppendUint64(dst, b.length)
	return binary.LittleEndian.AppendUint32(dst, b.crc)
}

func appendName(dst []byte, name string) []byte {
	return append(append(dst, byte(len(name))), name...)
}

func (d *directory) append(dst []byte) []byte {
	dst = appendName(dst, d.table)
	dst = binary.LittleEndian.AppendUint32(dst, d.rows)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(d.groups)))
	for i := range d.groups {
		g := &d.groups[i]
		dst = appendName(dst, g.name)
		dst = binary.LittleEndian.AppendUint32(dst, g.tuples)
		dst = g.codes.append(dst)
		dst = g.postings.append(dst)
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(d.columns)))
	for i := range d.columns {
		c := &d.columns[i]
		dst = appendName(dst, c.name)
		dst = append(dst, byte(c.kind), c.flags)
		dst = binary.LittleEndian.AppendUint16(dst, c.group)
		for k := range c.blocks {
			dst = c.blocks[k].append(dst)
		}
	}
	return dst
}

// appendHeader and appendTail write the two ends of a segment.
func appendHeader(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, magic...), formatWrite)
}

func appendTail(dst []byte, offset uint64, footer []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, offset)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(footer)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(footer, castagnoli))
	dst = binary.LittleEndian.AppendUint32(dst, formatWrite)
	return append(dst, magic...)
}

// readFooter checks the two ends of a segment and returns its footer and where that starts.
func readFooter(data []byte) (footer []byte, offset uint64, err error) {
	if len(data) < headerSize+tailSize {
		return nil, 0, corruptf("%d bytes, a segment has at least %d", len(data), headerSize+tailSize)
	}
	tail := data[len(data)-tailSize:]
	if head := string(data[:len(magic)]); head != magic {
		return nil, 0, corruptf("header magic %q, want %q", head, magic)
	}
	if end := string(tail[20:]); end != magic {
		return nil, 0, corruptf("tail magic %q, want %q: truncated?", end, magic)
	}
	head, end := binary.LittleEndian.Uint32(data[4:]), binary.LittleEndian.Uint32(tail[16:])
	if head != end || head != formatV1 {
		return nil, 0, corruptf("format version %d in the header, %d in the tail; this program reads %d", head, end,
			formatV1)
	}
	offset = binary.LittleEndian.Uint64(tail)
	length := uint64(binary.LittleEndian.Uint32(tail[8:]))
	tailStart := uint64(len(data) - tailSize)
	if offset < uint64(headerSize) || offset > tailStart || tailStart-offset != length || offset%8 != 0 {
		return nil, 0, corruptf("footer [%d,+%d) is not between header and tail at %d", offset, length, tailStart)
	}
	footer = data[offset:tailStart]
	if got, want := crc32.Checksum(footer, castagnoli), binary.LittleEndian.Uint32(tail[12:]); got != want {
		return nil, 0, corruptf("footer checksum %08x, want %08x", got, want)
	}
	return footer, offset, nil
}
