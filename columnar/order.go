package columnar

import (
	"cmp"
	"slices"
	"time"

	"hdqs/index"
	"hdqs/snapshot"
)

// SortedBy returns the first of some fields by which the rows are sorted: ascending, texts by their
// bytes, nulls last, each field among rows that are equal in those before. It is as long as
// possible. Points and decimals end it.
func SortedBy(fields []Field, rows Rows) []Field {
	for i := range fields {
		if t := fields[i].Type(); t == Point || t == Double {
			fields = fields[:i]
			break
		}
	}
	last := make([]int64, len(fields))
	first := true
	columns := make([][]int64, len(fields))
	ranks := make([][]int64, len(fields))
	for i := range fields {
		ranks[i] = textRanks(fields[i].Column)
	}
	for b := range index.Batches(rows, RowGroup) {
		for i := range fields {
			columns[i] = appendRanks(columns[i][:0], b, fields[i].Column, ranks[i])
		}
		for k := range b.Len() {
			for i := 0; i < len(fields) && !first; i++ {
				v := columns[i][k]
				if v < last[i] {
					fields = fields[:i]
				}
				if v != last[i] {
					break
				}
			}
			for i := range fields {
				last[i] = columns[i][k]
			}
			first = false
		}
		if len(fields) == 0 {
			break
		}
	}
	return fields
}

// appendRanks appends numbers that order like the values of a column, nulls last.
func appendRanks(dst []int64, b *index.Batch, c *snapshot.Column, ranks []int64) []int64 {
	if ranks != nil {
		for _, code := range b.Codes(c) {
			dst = append(dst, ranks[code])
		}
		return dst
	}
	if c.Coded() { // codes order like values
		for _, code := range b.Codes(c) {
			dst = append(dst, int64(code))
		}
		return dst
	}
	for _, v := range b.Ints(c) {
		if v == snapshot.NullInt {
			v = 1<<63 - 1
		}
		dst = append(dst, v)
	}
	return dst
}

// textRanks are the ranks of an enum's codes by the bytes of their texts, null's last. Other
// columns have none.
func textRanks(c *snapshot.Column) []int64 {
	if c.Kind != snapshot.Enum {
		return nil
	}
	codes := make([]uint32, c.Cardinality())
	for i := range codes {
		codes[i] = uint32(i)
	}
	slices.SortFunc(codes, func(a, b uint32) int { return cmp.Compare(c.TextOf(a), c.TextOf(b)) })
	ranks := make([]int64, len(codes)+1)
	for rank, code := range codes {
		ranks[code] = int64(rank)
	}
	ranks[len(codes)] = int64(len(codes))
	return ranks
}

// Sorted yields rows in the order of the values of a field of type String, Boolean or Timestamp,
// whose columns are coded: nulls last, rows with the same value in their order.
func Sorted(f *Field, rows Rows) Rows {
	return func(yield func(index.Range) bool) {
		ranks := textRanks(f.Column)
		var space []int64
		// A counting sort: next is where the next row of each value goes.
		next := make([]int, f.Column.Cardinality()+2)
		for b := range index.Batches(rows, RowGroup) {
			space = appendRanks(space[:0], b, f.Column, ranks)
			for _, rank := range space {
				next[rank+1]++
			}
		}
		for i := range next[1:] {
			next[i+1] += next[i]
		}
		sorted := make([]uint32, next[len(next)-1])
		for b := range index.Batches(rows, RowGroup) {
			space = appendRanks(space[:0], b, f.Column, ranks)
			ids := b.IDs()
			for k, rank := range space {
				sorted[next[rank]] = ids[k]
				next[rank]++
			}
		}
		for i := 0; i < len(sorted); {
			r := index.Range{From: sorted[i], To: sorted[i] + 1}
			for i++; i < len(sorted) && sorted[i] == r.To; i++ {
				r.To++
			}
			if !yield(r) {
				return
			}
		}
	}
}

// Bounds returns the smallest and the largest value of a field of type String or Timestamp in some
// rows: texts by their bytes, times as RFC 3339 without a zone. ok is false without a value.
func Bounds(f *Field, rows Rows) (least, most string, ok bool) {
	c := f.Column
	ranks := textRanks(c)
	seen := make([]bool, c.Cardinality()+1)
	for b := range index.Batches(rows, RowGroup) {
		for _, code := range b.Codes(c) {
			seen[code] = true
		}
	}
	low, high := -1, -1
	for code := range c.Cardinality() {
		if !seen[code] {
			continue
		}
		if low < 0 || ranks != nil && ranks[code] < ranks[low] {
			low = code
		}
		if high < 0 || ranks == nil || ranks[code] > ranks[high] {
			high = code
		}
	}
	if low < 0 {
		return "", "", false
	}
	return textOf(c, uint32(low)), textOf(c, uint32(high)), true
}

func textOf(c *snapshot.Column, code uint32) string {
	if c.Kind == snapshot.Time {
		return formatTime(c.IntOf(code))
	}
	return c.TextOf(code)
}

// formatTime is a time in RFC 3339 without a zone, with six more digits if there is a fraction of a
// second.
func formatTime(micros int64) string {
	t := time.UnixMicro(micros).UTC()
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04:05.000000")
}
