package loader

import "hdqs/snapshot"

// finish drops doubles (unless every row is to stand, as in view dumps), sorts the rest, and hands
// out the table. The assembly is used up.
func (a *tableBuilder) finish(keepDuplicates bool) (*snapshot.TableData, duplicateRows) {
	a.oneTuplePerValue()
	var ids []uint32
	var found duplicateRows
	if keepDuplicates {
		ids = a.ids(nil)
	} else {
		ids, found = a.dropDuplicates()
	}
	ids = a.sorted(ids)
	data := &snapshot.TableData{Name: a.table.name, Rows: len(ids)}
	for _, g := range a.groups {
		data.Groups = append(data.Groups, g.data(ids))
	}
	for _, v := range a.own {
		data.Columns = append(data.Columns, v.data(ids))
	}
	return data, found
}

// oneTuplePerValue makes equal tuples, found by different keys, one.
func (a *tableBuilder) oneTuplePerValue() {
	for _, g := range a.groups {
		g.codes = g.codes[:a.rows]
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

// pick makes the values at the given positions all there are.
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

// data is the group with its rows in the order of ids, less the tuples that no row has any more.
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

// data is the column with its values in the order of positions, less the texts that no position has
// any more.
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
	*v = vector{column: v.column, at: v.at} // frees what data does not share
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
