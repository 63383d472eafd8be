package loader

import (
	"fmt"
	"strings"
	"time"

	"hdqs/snapshot"
)

// duplicateRows counts the rows that were replaced by a later one with the same key.
type duplicateRows struct {
	Identical int      `json:"identical"` // equal in every column
	Different int      `json:"different"`
	Examples  []string `json:"examples,omitempty"` // keys of the first different ones, in words
}

const maxDuplicateExamples = 5

// dropDuplicates gives the ids of the rows that stay, in load order: of the rows with one key the
// last.
func (b *tableBuilder) dropDuplicates() ([]uint32, duplicateRows) {
	var found duplicateRows
	if b.table.key == nil || b.rows < 2 {
		return b.ids(nil), found
	}
	key := b.keyClasses()
	size := 1
	for size < 2*b.rows {
		size *= 2
	}
	slots := make([]uint32, size) // row id + 1; 0 is free
	dropped := make([]bool, b.rows)
	for i := b.rows - 1; i >= 0; i-- {
		row := uint32(i)
		slot := hashRow(key, row) & uint64(size-1)
		for slots[slot] != 0 && !sameKey(key, slots[slot]-1, row) {
			slot = (slot + 1) & uint64(size-1)
		}
		switch later := slots[slot]; {
		case later == 0:
			slots[slot] = row + 1
		case b.equalRows(later-1, row):
			dropped[i] = true
			found.Identical++
		default:
			dropped[i] = true
			found.Different++
			if len(found.Examples) < maxDuplicateExamples {
				found.Examples = append(found.Examples, b.describeKey(row))
			}
		}
	}
	return b.ids(dropped), found
}

func (b *tableBuilder) ids(dropped []bool) []uint32 {
	ids := make([]uint32, 0, b.rows)
	for i := range b.rows {
		if dropped == nil || !dropped[i] {
			ids = append(ids, uint32(i))
		}
	}
	return ids
}

// keyClasses numbers the values of the key columns. Columns of one group become one number for each
// tuple.
func (b *tableBuilder) keyClasses() []classes {
	var key []classes
	isKey := map[string]bool{}
	for _, name := range b.table.key {
		isKey[name] = true
	}
	for _, g := range b.groups {
		var in []*vector
		for _, v := range g.columns {
			if isKey[v.name] {
				in = append(in, v)
			}
		}
		if in != nil {
			of, bound := classify(in, g.n)
			key = append(key, classes{of: of, codes: g.codes[:b.rows], bound: bound})
		}
	}
	for _, v := range b.own {
		switch {
		case !isKey[v.name]:
		case v.kind == snapshot.Text || v.kind == snapshot.Enum:
			key = append(key, classes{of: v.codes[:b.rows]})
		default:
			of, bound := v.rank(b.rows)
			key = append(key, classes{of: of, bound: bound})
		}
	}
	return key
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
			key = v.appendKey(key, i)
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

// appendKey appends bytes of fixed length that are equal for equal values of this column and for no
// others.
func (v *vector) appendKey(key []byte, i int) []byte {
	var x uint64
	switch v.kind {
	case snapshot.Text, snapshot.Enum:
		x = uint64(v.codes[i])
	case snapshot.Decimal:
		key = append(key, v.decs[i].Scale)
		if v.decs[i].Scale != snapshot.DecNull {
			x = uint64(v.decs[i].Mantissa)
		}
	default:
		x = uint64(v.ints[i])
	}
	return append(key, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48),
		byte(x>>56))
}

func hashRow(key []classes, row uint32) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for i := range key {
		h = (h ^ uint64(key[i].row(row))) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

func sameKey(key []classes, a, b uint32) bool {
	for i := range key {
		if key[i].row(a) != key[i].row(b) {
			return false
		}
	}
	return true
}

// equalRows compares every column. Tuples are compared by code: finish has merged equal tuples
// before.
func (b *tableBuilder) equalRows(i, j uint32) bool {
	for _, g := range b.groups {
		if g.codes[i] != g.codes[j] {
			return false
		}
	}
	for _, v := range b.own {
		switch v.kind {
		case snapshot.Text, snapshot.Enum:
			if v.codes[i] != v.codes[j] {
				return false
			}
		case snapshot.Decimal:
			if v.decs[i] != v.decs[j] {
				return false
			}
		default:
			if v.ints[i] != v.ints[j] {
				return false
			}
		}
	}
	return true
}

func (b *tableBuilder) describeKey(row uint32) string {
	var words []string
	for _, name := range b.table.key {
		v, at := b.column(name), int(row)
		for _, g := range b.groups {
			if v.group == g.name {
				at = int(g.codes[row])
			}
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
