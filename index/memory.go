package index

// cacheBytes is the default limit of the cache of answered filters, for a table of that many rows.
func cacheBytes(rows int) int {
	return min(max(rows*cacheBytesPerRow, minCacheBytes), maxCacheBytes)
}

// CacheBytes is the default limit of the cache of answered filters.
func (x *Index) CacheBytes() int64 { return int64(cacheBytes(x.rows)) }

// SetCacheBytes changes the limit of the cache of answered filters, and evicts what is above it.
func (x *Index) SetCacheBytes(bytes int64) { x.cache.setLimit(int(bytes)) }

// FullBytes estimates the memory of the Index (Bytes) once all of these filters have been used,
// with any values, without its cache of answered filters.
func (x *Index) FullBytes(filters []Filter) int64 {
	n := x.Bytes() - x.searchBytes.Load() - int64(x.cache.size()) + x.series.fullBytes() - x.series.bytes() +
		x.places.fullBytes() - x.places.bytes()
	search, seen, spaces := int64(0), map[*column]bool{}, map[*codeSpace]bool{}
	for _, f := range filters {
		for _, name := range f.Columns {
			c := x.columns[name]
			if c == nil || seen[c] || !c.col.Coded() {
				continue
			}
			seen[c] = true
			values := int64(c.col.Cardinality())
			if f.Op == Like || f.Op == Contains {
				// The texts with a NUL and a start each. Folding makes some longer, which can take
				// half as much again.
				search += c.col.Size().Dictionary*3/2 + 5*(values+1) + 256
				search += 4 * int64(slotCount(int(values)))
			}
			if !spaces[c.space] {
				spaces[c.space] = true
				search += 8 * int64(c.space.size) // extents
			}
			if c.col.Group != nil {
				search += 4 * (values + 2 + int64(c.col.Len())) // tupleLists
			}
		}
	}
	return n + min(search, x.searchLimit)
}
