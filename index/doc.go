// Package index answers filters on a segment: which rows pass all of them, one page of those rows,
// and how many there are. docs/measurements/index.md has what it costs and what was tried.
//
// The files, each of which uses those below it:
//
//	overlaps.go nested.go             rows that count something twice
//	nesting_find.go places.go         places that contain others
//	passing.go                        rows that pass, for callers that read them all
//	kept.go newest.go edition.go      of those, the newest and the coarsest
//	select.go scan_page.go            pages and totals; pages without sets
//	runs.go count_scratch.go          counting by value
//	page.go tested.go                 the page in the making; tests of a caller's own
//	chunk.go predicate.go             filters bound to a table, from chunk to chunk
//	number.go                         ranges of numbers
//	index.go                          the index, its columns and code spaces
//	stretches.go series.go period.go  series, where they end, and periods
//	fold.go patterns.go match.go      texts without case, and patterns
//	codes.go                          from values to codes to tuples
//	set.go cache.go frozen.go         sets of rows
//	batch.go                          values of some rows
//	query.go                          what callers ask
//	numbering.go keys.go              rows by their place and other values
//
// # From a filter to rows
//
// A filter is first applied to the distinct values of its column, not to rows. The result is a set
// of codes (valuesMatching). If the column belongs to a group, these become the tuples of the group
// that have such a value (tuplesMatching). The codes of a column and the tuples of a group are both
// called a code space. Columns of one group in an OR filter give one set of tuples. Numbers without
// a dictionary become spans of packed numbers (numberTest), so no row is decoded.
//
// A filter with several values selects the union of their codes, which is found before any row is
// looked up. Whole texts are looked up in a hash table of the dictionary (textSlots), beginnings in
// the dictionary if it is sorted when folded; one pass over it finds most other patterns
// (foldedTexts.searchAny). If it is the only filter, its
// rows are counted by the lengths of their postings, and those of the page are found by reading
// codes, so no postings are united (pageByScan).
//
// A filter bound to the table this way is a predicate. Predicates on the same code space or the
// same column of numbers are merged before any row is looked up (Index.merge): the two ends of a
// range become the few codes between them, not two halves of the table.
//
// To materialize a predicate is to turn its codes into rows. There are four ways; the cheapest is
// taken: runs, where codes never fall from row to row; one posting, read in place; a union of
// postings, or the complement of the union of all others; a scan of the packed codes.
//
//	filter ──► codes of values ──► tuples ──► set of rows ──┐
//	filter ──► spans of numbers ────────────► test of rows ─┴──► and, by chunk ──► page, total
//
// # From sets to a page
//
// Rows are processed in chunks of 65,536, the size of a roaring container. A chunk of a set has one
// of five shapes: empty, full, runs, array, bitmap. Select starts each chunk with the smallest
// predicate and intersects the others into one buffer (rowsOf). If materializing a predicate would
// cost more than testing the rows that the others leave, it is only tested on those, until testing
// has cost as much (ski-rental, see predicate.spent). Predicates are cached, and the totals of sets
// of filters by chunk. With totals a later page starts in its own chunk and counts nothing.
//
// # The newest of each series
//
// Query.Latest keeps the newest rows of each series among those that pass: see series. A bitmap of
// the last rows of all stretches is enough; lastOfEach finds the rows to keep in 64 rows at a time.
//
// # Counting by value
//
// A Counter finds the rows that pass, a bit or less per row, and counts them by code, or
// by tuple for all columns of a group at once, in the cheapest of three ways (countScratch.choose).
// Most columns follow the row order more or less, so runs of rows with one code are what wide
// queries use. A query takes at most about two nanoseconds for each second row of the table and
// code space, and finds runs for at most one, at about one nanosecond per row.
//
// # Sharing and lifetimes
//
// Any number of goroutines may share an Index. Sets and predicates do not change once built. They
// point into the segment and must not be used after it is closed. All bytes of a posting are
// checked before its first use (snapshot.Containers), so a damaged one gives ErrPosting, never a
// wrong row or a panic. The tests compare Select with Scan, which tests row by row.
package index
