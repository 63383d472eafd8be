package snapshot

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
)

// encodeDecimals encodes decimals with a dictionary if that is smaller, wanted, or the only way,
// else scaled.
func encodeDecimals(p *part, c *ColumnData) {
	d := prepareDecimals(c)
	width := bits.Len64(d.span) + d.scaleBits
	limit := len(c.Decimals)
	if !c.Index && width <= 64 {
		limit = codedLimit(len(c.Decimals), width, 9)
	}
	codes, found, ok := distinct(d.values, func(v Dec) bool { return v.Scale == DecNull }, limit)
	if !ok {
		d.scaled(p, width)
		return
	}
	values, null := sortCodes(codes, found, d.compare)
	p.coded(c, codes, len(values), null, func(b *block) []byte { return decimalsPayload(b, values) }, d.exact)
}

// prepareDecimals sorts the exact texts in use and finds the bounds of the ordinary values.
func prepareDecimals(c *ColumnData) *decColumn {
	d := &decColumn{values: c.Decimals}
	used := make([]bool, len(c.Texts))
	var scales [256]bool
	some, high := false, int64(0)
	for _, v := range c.Decimals {
		scales[v.Scale] = true
		switch {
		case v.Scale == DecText:
			used[v.Mantissa] = true
		case v.Scale == DecNull:
		case !some:
			d.low, high, some = v.Mantissa, v.Mantissa, true
		default:
			d.low, high = min(d.low, v.Mantissa), max(high, v.Mantissa)
		}
	}
	for scale, is := range scales {
		if is {
			d.scaleOf[scale] = uint8(len(d.scales))
			d.scales = append(d.scales, uint8(scale))
		}
	}
	if len(d.scales) > 0 {
		d.scaleBits = bits.Len(uint(len(d.scales) - 1))
	}
	d.sortExact(c, used)
	d.span = max(uint64(high)-uint64(d.low), uint64(max(len(d.exact)-1, 0)))
	return d
}

// sortExact sorts the exact texts in use and adapts the values that refer to them.
func (d *decColumn) sortExact(c *ColumnData, used []bool) {
	if !slices.Contains(used, true) && !slices.ContainsFunc(c.Decimals,
		func(v Dec) bool { return v.Scale == DecNull && v.Mantissa != 0 }) {
		return
	}
	rats := make([]*big.Rat, len(c.Texts))
	for i, is := range used {
		if is {
			rats[i] = ratOf(c.Texts[i])
		}
	}
	order, place := ranked(used, func(a, b uint32) int { return rats[a].Cmp(rats[b]) })
	for _, at := range order {
		d.exact = append(d.exact, c.Texts[at])
		d.rats = append(d.rats, rats[at])
	}
	d.values = slices.Clone(c.Decimals)
	for i := range d.values {
		switch v := &d.values[i]; v.Scale {
		case DecText:
			v.Mantissa = int64(place[v.Mantissa])
		case DecNull:
			v.Mantissa = 0
		}
	}
}

func (d *decColumn) scaled(p *part, width int) {
	if slices.Contains(d.scales, DecNull) {
		p.column.flags |= flagNullable
	}
	if width > maxLoad {
		width = 64
	}
	p.next(func(b *block) []byte {
		b.encoding, b.width, b.count, b.base = encScaled, uint8(width), uint32(len(d.values)), d.low
		head := make([]byte, scaledHead)
		head[0] = uint8(len(d.scales))
		copy(head[1:], d.scales)
		pack := newPacker(len(d.values), width)
		for _, v := range d.values {
			number := uint64(v.Mantissa)
			if v.Scale <= MaxScale {
				number -= uint64(d.low)
			}
			pack.add(number<<d.scaleBits | uint64(d.scaleOf[v.Scale]))
		}
		return append(head, pack.bytes()...)
	})
	p.exact(d.exact)
}

func decimalsPayload(b *block, values []Dec) []byte {
	b.encoding, b.count = encDecimals, uint32(len(values))
	out := make([]byte, 0, 9*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v.Mantissa))
	}
	for _, v := range values {
		out = append(out, v.Scale)
	}
	return out
}
