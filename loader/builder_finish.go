package loader

import "hdqs/snapshot"

// finish drops duplicate rows (unless keepDuplicates, as for view dumps), sorts the rest, and
// returns the table. The builder cannot be used afterwards.
func (b *tableBuilder) finish(keepDuplicates bool) (*snapshot.TableData, duplicateRows) {
	b.oneTuplePerValue()
	var ids []uint32
	var found duplicateRows
	if keepDuplicates {
		ids = b.ids(nil)
	} else {
		ids, found = b.dropDuplicates()
	}
	ids = b.sorted(ids)
	data := &snapshot.TableData{Name: b.table.name, Rows: len(ids)}
	for _, g := range b.groups {
		data.Groups = append(data.Groups, g.data(ids))
	}
	for _, v := range b.own {
		data.Columns = append(data.Columns, v.data(ids))
	}
	return data, found
}

// oneTuplePerValue merges equal tuples that were found by different keys.
func (b *tableBuilder) oneTuplePerValue() {
	for _, g := range b.groups {
		g.codes = g.codes[:b.rows]
		of, bound := classify(g.columns, g.n)
		if int(bound) == g.n {
			continue
		}
		first := make([]uint32, 0, bound)
		for i, c := range of {
			if int(c) == len(first) {
				first = append(first, uint32(i))
			}
		}
		for i, c := range g.codes {
			g.codes[i] = of[c]
		}
		for _, v := range g.columns {
			v.pick(first)
		}
		g.n, g.byKey = int(bound), nil
	}
}

// pick keeps the values at the given positions, in that order.
func (v *vector) pick(positions []uint32) {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		v.codes = picked(v.codes, positions)
	case snapshot.Decimal:
		v.decs = picked(v.decs, positions)
	default:
		v.ints = picked(v.ints, positions)
	}
}

func picked[T any](values []T, positions []uint32) []T {
	out := make([]T, len(positions))
	for i, p := range positions {
		out[i] = values[p]
	}
	return out
}

// data is the group with its rows in the order of ids, without tuples that no row uses any more.
func (g *tuples) data(ids []uint32) snapshot.GroupData {
	codes := picked(g.codes, ids)
	g.codes = nil
	number := make([]uint32, g.n) // new code + 1
	var first []uint32
	for i, c := range codes {
		if number[c] == 0 {
			first = append(first, c)
			number[c] = uint32(len(first))
		}
		codes[i] = number[c] - 1
	}
	d := snapshot.GroupData{Name: g.name, Codes: codes, Tuples: len(first)}
	for _, v := range g.columns {
		d.Columns = append(d.Columns, v.data(first))
	}
	return d
}

// data is the column with its values in the order of positions, without texts that are not used any
// more.
func (v *vector) data(positions []uint32) snapshot.ColumnData {
	v.pick(positions)
	d := snapshot.ColumnData{Name: v.name, Kind: v.kind, Index: v.index}
	switch v.kind {
	case snapshot.Enum:
		d.Codes, d.Values = v.codes, v.dict
	case snapshot.Text:
		d.Codes, d.Values = usedOnly(v.codes, v.dict)
	case snapshot.Decimal:
		d.Decimals, d.Texts = v.decs, v.usedTexts()
	default:
		d.Ints = v.ints
	}
	*v = vector{column: v.column, at: v.at} // frees what d does not share
	return d
}

// usedOnly numbers the texts in use by first appearance, in place.
func usedOnly(codes []uint32, dict []string) ([]uint32, []string) {
	number := make([]uint32, len(dict)) // new code + 1
	var used []string
	for i, c := range codes {
		if c == snapshot.NullCode {
			continue
		}
		if number[c] == 0 {
			used = append(used, dict[c])
			number[c] = uint32(len(used))
		}
		codes[i] = number[c] - 1
	}
	return codes, used
}

func (v *vector) usedTexts() []string {
	var used []string
	number := map[int64]int64{}
	for i, d := range v.decs {
		if d.Scale != snapshot.DecText {
			continue
		}
		at, ok := number[d.Mantissa]
		if !ok {
			at = int64(len(used))
			number[d.Mantissa] = at
			used = append(used, v.texts[d.Mantissa])
		}
		v.decs[i].Mantissa = at
	}
	return used
}
