// Package index answers filters on a segment: which rows pass all of them, a page of those, and how many they are.
//
// # From a filter to rows
//
// A filter never looks at rows first. It is asked of the distinct values of its column, which gives a set of codes (valuesMatching); for a
// column of a group these become the group's tuples that have such a value (tuplesMatching). What a filter selects by is called a space: the
// codes of a column, or the tuples of a group. Columns of one group that are or'ed are one set of tuples. Numbers without a dictionary
// become spans of packed numbers instead (numberTest), so that no row is ever decoded.
//
// Filters that select by the same space or column of numbers are joined before any row is looked for (Index.both): the two ends of a range
// become the few codes between them, not two halves of the table.
//
// Codes become rows (predicate.materialize) in the cheapest way the space has: runs where codes never fall from row to row; one posting in
// place; a union of postings, or of all others when those are less; a scan of the packed codes.
//
//	filter ──► codes of values ──► tuples ──► set of rows, by chunk ──┐
//	filter ──► spans of numbers ─────────────► test of rows ──────────┴──► and, chunk by chunk ──► page, total
//
// # From sets to a page
//
// Rows are taken 65,536 at a time, a chunk, the reach of a roaring container. A set has one of five shapes a chunk: none, full, runs, an
// array of values, a bitmap. Select starts each chunk with the smallest predicate and intersects the others into one buffer (rowsOf); a chunk
// where any predicate is none costs nothing. Memory per query is one scratch, reused.
//
// An predicate that would cost more to materialize than testing the rows the others leave is only tested on those. What was so spent is
// noted, and when it reaches the cost of materializing, the predicate is materialized and kept: a rent that turns into a purchase.
//
// Cached are predicates, and the totals of sets of filters by chunk, so that a later page starts in the chunk where it begins and counts
// nothing.
//
// # Sharing and lifetimes
//
// An Index is shared by any number of goroutines; sets and predicates do not change once built. All of it points into the segment and must
// not outlive it. Postings come from outside: each is looked at row by row when first used (openFrozen), so that damaged ones give
// ErrPosting and never a wrong row or a panic.
//
// Scan is the slow twin of all of it and shares nothing with it but the types.
//
// # Tried
//
// Array shapes up to 4,096 values, as roaring has them: an array of 4,000 takes as long to intersect as eight bitmaps. Sets of our own
// keep arrays and runs to a quarter of that, and single postings full of long arrays are rebuilt.
//
// Uniting the postings of one run per tuple through bitmaps: a contains filter with 3,000 hits touched every chunk's page twice; sorted
// postings now become runs directly (rangesSet).
//
// Scanning a group's codes for the tuples of a few values: as long as searching the names. The list of tuples by value (tupleLists) costs
// four bytes a tuple, once, and made an uncached contains filter with few hits half as long.
//
// Searching the needle's first two bytes, neighbours: names share beginnings. The two rarest bytes at any distance meet far fewer false
// places.
//
// Materializing each predicate at its second use: a pager over one small place paid for whole-table bitmaps of its dates. The note of what was
// spent, above, replaced it.
//
// Building with GOAMD64=v3: 5 to 10 % less processor time on counting bitmaps, nothing elsewhere; not worth a second binary.
package index
