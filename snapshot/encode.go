package snapshot

import (
	"cmp"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"
)

// encodeColumn encodes one column as blocks. group is the number of its group, counted from 1.
func encodeColumn(c *ColumnData, group int) part {
	e := &columnEntry{name: c.Name, kind: c.Kind, group: uint16(group), blocks: make([]block, 0, 4)}
	p := part{column: e}
	switch c.Kind {
	case Text, Enum:
		encodeTexts(&p, c)
	case Decimal:
		encodeDecimals(&p, c)
	default:
		encodeInts(&p, c)
	}
	return p
}

// next adds a block to the column's entry. The entry's list must not move, since parts point into
// it.
func (p *part) next(encode func(b *block) []byte) {
	e := p.column
	if len(e.blocks) == cap(e.blocks) {
		panic("snapshot: column has more blocks than the format allows")
	}
	e.blocks = append(e.blocks, block{})
	b := &e.blocks[len(e.blocks)-1]
	p.add(b, encode(b))
}

// coded adds codes, the dictionary, exact texts and postings. The code of null is count.
func (p *part) coded(c *ColumnData, codes []uint32, count int, null bool, dictionary func(b *block) []byte,
	exact []string,
) {
	e := p.column
	e.flags |= flagCoded
	if null {
		e.flags |= flagNullable
		count++
	}
	p.next(func(b *block) []byte { return codesPayload(b, codes, count) })
	p.next(dictionary)
	p.exact(exact)
	if c.Index {
		e.flags |= flagIndexed
		p.next(func(b *block) []byte { return postingsPayload(b, codes, count) })
	}
}

func (p *part) exact(texts []string) {
	if len(texts) > 0 {
		p.column.flags |= flagTexts
		p.next(func(b *block) []byte { return textsPayload(b, texts) })
	}
}

// encodeTexts encodes the values that occur in sorted order, those of Enum as declared.
func encodeTexts(p *part, c *ColumnData) {
	used := make([]bool, len(c.Values))
	null := false
	for _, code := range c.Codes {
		if code == NullCode {
			null = true
		} else {
			used[code] = true
		}
	}
	compare := func(a, b uint32) int { return strings.Compare(c.Values[a], c.Values[b]) }
	if c.Kind == Enum {
		used, compare = slices.Repeat([]bool{true}, len(c.Values)), cmp.Compare[uint32]
	}
	order, number := ranked(used, compare)
	values := make([]string, len(order))
	for i, code := range order {
		values[i] = c.Values[code]
	}
	codes := make([]uint32, len(c.Codes))
	for i, code := range c.Codes {
		if code == NullCode {
			codes[i] = uint32(len(values))
		} else {
			codes[i] = number[code]
		}
	}
	p.coded(c, codes, len(values), null, func(b *block) []byte { return textsPayload(b, values) }, nil)
}

// ranked sorts the positions that are used, and returns the place of each in that order.
func ranked(used []bool, compare func(a, b uint32) int) (order, place []uint32) {
	for at, is := range used {
		if is {
			order = append(order, uint32(at))
		}
	}
	slices.SortFunc(order, compare)
	place = make([]uint32, len(used))
	for i, at := range order {
		place[at] = uint32(i)
	}
	return order, place
}

func textsPayload(b *block, values []string) []byte {
	b.encoding, b.count = encTexts, uint32(len(values))
	size := 0
	for _, v := range values {
		size += len(v)
	}
	out := make([]byte, 0, 4*(len(values)+1)+size)
	at := uint32(0)
	out = binary.LittleEndian.AppendUint32(out, at)
	for _, v := range values {
		at += uint32(len(v))
		out = binary.LittleEndian.AppendUint32(out, at)
	}
	for _, v := range values {
		out = append(out, v...)
	}
	return out
}

// fewValues is the number of distinct ints or decimals up to which a column always gets a
// dictionary: filters then compare each value once, and a reader can prepare each value.
const fewValues = 4096

// distinct numbers the distinct values of a column in order of appearance. Nulls get the code
// NullCode. It stops, with ok false, when there are more than limit values.
func distinct[T comparable](values []T, null func(T) bool, limit int) (codes []uint32, found []T, ok bool) {
	codes = make([]uint32, len(values))
	number := make(map[T]uint32)
	for i, v := range values {
		if null(v) {
			codes[i] = NullCode
			continue
		}
		code, is := number[v]
		if !is {
			if len(found) == limit {
				return nil, nil, false
			}
			code = uint32(len(found))
			number[v] = code
			found = append(found, v)
		}
		codes[i] = code
	}
	return codes, found, true
}

// sortCodes sorts the values that distinct found and renumbers their codes. Null gets the code
// after the last.
func sortCodes[T any](codes []uint32, found []T, compare func(a, b T) int) (sorted []T, null bool) {
	all := slices.Repeat([]bool{true}, len(found))
	order, number := ranked(all, func(a, b uint32) int { return compare(found[a], found[b]) })
	for _, code := range order {
		sorted = append(sorted, found[code])
	}
	for i, code := range codes {
		if code == NullCode {
			null = true
			codes[i] = uint32(len(found))
		} else {
			codes[i] = number[code]
		}
	}
	return sorted, null
}

// codedLimit is the number of distinct values, of so many bytes each, up to which a dictionary and
// its codes take less than n packed numbers of that width, or are wanted anyway (fewValues).
func codedLimit(n, width, bytes int) int {
	limit := fewValues
	for codeWidth := widthOf(fewValues); codeWidth < width; codeWidth++ {
		// The bytes that codes save, divided by the size of an entry.
		fits := n * (width - codeWidth) / 8 / bytes
		limit = max(limit, min(fits, 1<<codeWidth))
	}
	return limit
}

// encodeInts encodes ints with a dictionary if that is smaller or wanted, else packed.
func encodeInts(p *part, c *ColumnData) {
	low, high, some, null := int64(0), int64(0), false, false
	for _, v := range c.Ints {
		switch {
		case v == NullInt:
			null = true
		case !some:
			low, high, some = v, v, true
		default:
			low, high = min(low, v), max(high, v)
		}
	}
	span := uint64(high) - uint64(low)
	if null {
		span++
	}
	limit := codedLimit(len(c.Ints), widthOf(span), 8)
	if c.Index || c.Kind != Int {
		limit = len(c.Ints)
	}
	codes, found, ok := distinct(c.Ints, func(v int64) bool { return v == NullInt }, limit)
	if ok {
		values, null := sortCodes(codes, found, cmp.Compare[int64])
		p.coded(c, codes, len(values), null, func(b *block) []byte { return intsPayload(b, values) }, nil)
		return
	}
	first := uint64(0)
	if null {
		p.column.flags |= flagNullable
		first = 1
	}
	p.next(func(b *block) []byte {
		b.encoding, b.width, b.count, b.base = encPacked, uint8(widthOf(span)), uint32(len(c.Ints)), low
		pack := newPacker(len(c.Ints), int(b.width))
		for _, v := range c.Ints {
			if v == NullInt {
				pack.add(0)
			} else {
				pack.add(uint64(v) - uint64(low) + first)
			}
		}
		return pack.bytes()
	})
}

func intsPayload(b *block, values []int64) []byte {
	b.encoding, b.count = encInts, uint32(len(values))
	out := make([]byte, 0, 8*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return out
}

// decColumn is a Decimal column prepared for encoding: its exact texts in use, sorted.
type decColumn struct {
	values []Dec
	exact  []string
	rats   []*big.Rat

	low       int64 // smallest mantissa of an ordinary value
	span      uint64
	scales    []uint8
	scaleOf   [256]uint8
	scaleBits int
}

func (d *decColumn) compare(a, b Dec) int { return compareDecs(a, b, d.rat) }

func (d *decColumn) rat(v Dec) *big.Rat {
	if v.Scale == DecText {
		return d.rats[v.Mantissa]
	}
	return v.Rat()
}
