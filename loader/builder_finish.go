package loader

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"hdqs/snapshot"
)

// finish drops duplicate rows (unless keepDuplicates, as for view dumps: they are only counted),
// sorts the rest, and returns the table. The builder cannot be used afterwards.
func (b *tableBuilder) finish(keepDuplicates bool) (*snapshot.TableData, duplicateRows) {
	b.groups = slices.DeleteFunc(b.groups, (*tuples).isLacking)
	b.oneTuplePerValue()
	ids := make([]uint32, b.rows)
	for i := range ids {
		ids[i] = uint32(i)
	}
	var found duplicateRows
	sortedBy := []string{}
	if b.table.key != nil {
		kept, by, duplicates := b.dropDuplicates(slices.Clone(ids))
		found = duplicates
		if !keepDuplicates {
			ids, sortedBy = kept, by
		}
	}
	if !slices.Equal(sortedBy, b.table.order) {
		slices.Sort(ids)
		sortRows(ids, b.ranked(b.table.order))
	}
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
	first := renumber(codes, g.n)
	d := snapshot.GroupData{Name: g.name, Codes: codes, Tuples: len(first)}
	for _, v := range g.columns {
		d.Columns = append(d.Columns, v.data(first))
	}
	return d
}

// data is the column with its values in the order of positions. Its dictionary has no text that is
// not used any more.
func (v *vector) data(positions []uint32) snapshot.ColumnData {
	v.pick(positions)
	d := snapshot.ColumnData{Name: v.name, Kind: v.kind, Index: v.index}
	switch v.kind {
	case snapshot.Enum:
		d.Codes, d.Values = v.codes, v.dict
	case snapshot.Text:
		used := renumber(v.codes, len(v.dict))
		d.Codes, d.Values = v.codes, picked(v.dict, used)
	case snapshot.Decimal:
		d.Decimals, d.Texts = v.decs, v.texts
	default:
		d.Ints = v.ints
	}
	*v = vector{column: v.column, at: v.at} // frees what d does not share
	return d
}

// renumber numbers codes below n by first appearance, in place. It returns the old codes in that
// sequence.
func renumber(codes []uint32, n int) (used []uint32) {
	number := make([]uint32, n) // new code + 1
	for i, c := range codes {
		if c == snapshot.NullCode {
			continue
		}
		if number[c] == 0 {
			used = append(used, c)
			number[c] = uint32(len(used))
		}
		codes[i] = number[c] - 1
	}
	return used
}

// dropDuplicates gives the ids of the rows that stay, one of each key. It sorts them by the key, so
// that such rows are neighbours. The columns of the key come in the sequence of the table's order,
// which mostly has no others.
func (b *tableBuilder) dropDuplicates(ids []uint32) (kept []uint32, sortedBy []string, found duplicateRows) {
	var others []string
	for _, name := range b.table.key {
		if !slices.Contains(b.table.order, name) {
			others = append(others, name)
		}
	}
	sortedBy = slices.DeleteFunc(slices.Concat(b.table.order, others),
		func(name string) bool { return !slices.Contains(b.table.key, name) })
	key := b.ranked(sortedBy)
	sortRows(ids, key)
	stays := make([]uint32, b.rows) // for each row the one of its key that stays
	for start, end := 0, 0; start < len(ids); start = end {
		for end = start + 1; end < len(ids) && sameKey(key, ids[start], ids[end]); {
			end++
		}
		one := b.bestOf(ids[start:end])
		for _, row := range ids[start:end] {
			stays[row] = one
		}
	}
	kept = slices.DeleteFunc(ids, func(row uint32) bool { return stays[row] != row })
	for i, other := range stays {
		if row := uint32(i); other != row {
			b.countDuplicate(row, other, &found)
		}
	}
	return kept, sortedBy, found
}

// bestOf is the row that stays of those with one key: the last one, but one that is misplaced only
// if all are. A unit that fell to its country must not replace the figure of the country.
func (b *tableBuilder) bestOf(rows []uint32) uint32 {
	for _, row := range slices.Backward(rows) {
		if b.misplaced[row] == 0 {
			return row
		}
	}
	return rows[len(rows)-1]
}

// countDuplicate counts a row that another one replaces.
func (b *tableBuilder) countDuplicate(row, other uint32, found *duplicateRows) {
	columns := b.differences(row, other)
	if len(columns) == 0 {
		found.Identical++
		if found.Same == "" && b.from.fileOf(row) != b.from.fileOf(other) {
			found.Same = b.from.of(row) + " and " + b.from.of(other)
		}
		return
	}
	found.Different++
	if len(found.Examples) == maxExamples {
		return
	}
	found.Examples = append(found.Examples, fmt.Sprintf("%s and %s, which has priority, differ in %s: %s",
		b.from.of(row), b.from.of(other), strings.Join(columns, ", "), b.describeKey(row)))
}

// differences names the columns in which two rows differ. Misplaced rows may be of different units
// although their columns are equal, so their cells have to be equal too.
func (b *tableBuilder) differences(row, other uint32) (names []string) {
	if b.misplaced[row] != b.misplaced[other] {
		names = append(names, "the named unit")
	}
	for i := range b.table.columns {
		v, at, with := b.column(b.table.columns[i].name), int(row), int(other)
		if v.group != "" {
			codes := b.group(v.group).codes
			at, with = int(codes[row]), int(codes[other])
		}
		word, scale := v.word(at)
		if w, s := v.word(with); w != word || s != scale {
			names = append(names, v.name)
		}
	}
	return names
}

// classify numbers the distinct combinations of values of columns, n positions, by first
// appearance.
func classify(columns []*vector, n int) (of []uint32, bound uint32) {
	of = make([]uint32, n)
	seen := make(map[string]uint32, n)
	var key []byte
	for i := range n {
		key = key[:0]
		for _, v := range columns {
			word, scale := v.word(i)
			key = append(binary.LittleEndian.AppendUint64(key, word), scale) // of one length for all values
		}
		c, ok := seen[string(key)]
		if !ok {
			c = uint32(len(seen))
			seen[string(key)] = c
		}
		of[i] = c
	}
	return of, uint32(len(seen))
}

// word is the value at position i as a number, which for a Decimal counts with its scale.
func (v *vector) word(i int) (word uint64, scale uint8) {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		return uint64(v.codes[i]), 0
	case snapshot.Decimal:
		return uint64(v.decs[i].Mantissa), v.decs[i].Scale
	}
	return uint64(v.ints[i]), 0
}

func sameKey(key []classes, a, b uint32) bool {
	for i := range key {
		if key[i].row(a) != key[i].row(b) {
			return false
		}
	}
	return true
}

func (b *tableBuilder) describeKey(row uint32) string {
	var words []string
	for _, name := range b.table.key {
		v, at := b.column(name), int(row)
		if v.group != "" {
			at = int(b.group(v.group).codes[row])
		}
		value := "null"
		switch {
		case v.isNull(at):
		case v.kind == snapshot.Text || v.kind == snapshot.Enum:
			value = fmt.Sprintf("%q", v.text(at))
		case v.kind == snapshot.Time:
			value = time.UnixMicro(v.int(at)).UTC().Format(time.DateOnly)
		default:
			value = fmt.Sprint(v.int(at))
		}
		words = append(words, name+"="+value)
	}
	return strings.Join(words, " ")
}

// rank numbers the n values of a column in its sort order: numbers by value, texts by bytes, an
// Enum as declared, nulls last.
func (v *vector) rank(n int) (of []uint32, bound uint32) {
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		byCode, last := v.rankTexts()
		of = make([]uint32, n)
		for i, c := range v.codes[:n] {
			of[i] = last
			if c != snapshot.NullCode {
				of[i] = byCode[c]
			}
		}
		return of, last + 1
	case snapshot.Decimal:
		panic("loader: tables cannot be sorted by a decimal such as " + v.name)
	}
	distinct := slices.Clone(v.ints[:n])
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) > 0 && distinct[0] == snapshot.NullInt {
		distinct = append(distinct[1:], math.MaxInt64)
	}
	of = make([]uint32, n)
	for i, x := range v.ints[:n] {
		if x == snapshot.NullInt {
			x = math.MaxInt64
		}
		at, _ := slices.BinarySearch(distinct, x)
		of[i] = uint32(at)
	}
	return of, uint32(len(distinct))
}

// rankTexts returns the rank of each code, and the rank of null, which is after them.
func (v *vector) rankTexts() (byCode []uint32, null uint32) {
	byCode = make([]uint32, len(v.dict))
	order := make([]uint32, len(v.dict))
	for i := range order {
		order[i] = uint32(i)
	}
	if v.kind == snapshot.Text {
		slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(v.dict[a], v.dict[b]) })
	}
	for rank, code := range order {
		byCode[code] = uint32(rank)
	}
	return byCode, uint32(len(v.dict))
}

// sortRows sorts row ids, given in load order, by ranked columns. It sorts stably from the least
// significant word of the packed ranks to the most significant one, so equal rows keep their load
// order.
func sortRows(ids []uint32, parts []classes) {
	words := make([]uint64, len(ids))
	for len(parts) > 0 {
		from, width := len(parts), 0
		for from > 0 && width+parts[from-1].width() <= 64 {
			from--
			width += parts[from].width()
		}
		for i, id := range ids {
			w := uint64(0)
			for j := from; j < len(parts); j++ {
				w = w<<parts[j].width() | uint64(parts[j].row(id))
			}
			words[i] = w
		}
		radixSort(words, ids, width)
		parts = parts[:from]
	}
}

func (c *classes) width() int { return bits.Len32(max(c.bound, 1) - 1) }

// ranked numbers the values of columns in their sort order, each column once.
func (b *tableBuilder) ranked(names []string) []classes {
	var columns []classes
	for _, name := range names {
		c, ok := b.ranks[name]
		if !ok {
			c = b.rank(b.column(name))
			b.ranks[name] = c
		}
		columns = append(columns, c)
	}
	return columns
}

func (b *tableBuilder) rank(v *vector) classes {
	if v.group == "" {
		of, bound := v.rank(b.rows)
		return classes{of: of, bound: bound}
	}
	g := b.group(v.group)
	of, bound := v.rank(g.n)
	return classes{of: of, codes: g.codes[:b.rows], bound: bound}
}

// radixSort sorts words, and ids along with them, by the lowest width bits; equal words keep their
// order.
func radixSort(words []uint64, ids []uint32, width int) {
	const digitBits = 11
	if slices.IsSorted(words) {
		return
	}
	words2, ids2 := make([]uint64, len(words)), make([]uint32, len(ids))
	swapped := false
	for shift := 0; shift < width; shift += digitBits {
		var starts [1 << digitBits]int
		for _, w := range words {
			starts[w>>shift&(1<<digitBits-1)]++
		}
		sum := 0
		for d, n := range starts {
			starts[d], sum = sum, sum+n
		}
		for i, w := range words {
			d := w >> shift & (1<<digitBits - 1)
			words2[starts[d]], ids2[starts[d]] = w, ids[i]
			starts[d]++
		}
		words, words2, ids, ids2 = words2, words, ids2, ids
		swapped = !swapped
	}
	if swapped {
		copy(ids2, ids)
	}
}
