// Package index answers filters on a segment: which rows pass all of them, one page of those rows,
// and how many there are.
//
// # From a filter to rows
//
// A filter is first applied to the distinct values of its column, not to rows. The result is a set
// of codes (valuesMatching). If the column belongs to a group, these become the tuples of the group
// that have such a value (tuplesMatching). The codes of a column and the tuples of a group are both
// called a code space. Columns of one group in an OR filter give one set of tuples. Numbers without
// a dictionary become spans of packed numbers (numberTest), so no row is decoded. Numbers in a
// span, and codes that are consecutive, are compared 64 rows at a time (snapshot.Packed.Within).
//
// A filter with several values selects the union of their codes, which is found before any row is
// looked up. Whole texts are looked up in a hash table of the dictionary (textSlots). One pass over
// the dictionary for each length of text that patterns begin with finds those, and one finds
// patterns with four literal bytes anywhere (foldedTexts.searchAny). Only other patterns need a
// pass each. If it is the only filter, its rows are counted by the lengths of their postings, and
// those of the page are found by reading codes, so no postings are united (pageByScan).
// Microseconds of CPU of Select for 2 million rows and 30,000 codes, with nothing cached
// (BenchmarkSeveral, November 2026):
//
//	                                            1 value   200 values
//	whole texts in any case                          64           41
//	beginnings, which half of all codes have         73          640
//	exact texts                                       7           31
//	the first column, 85 % of all rows                6           56
//	a column in no order, half of all rows          190           12
//
// Once the predicate is cached, 200 values take 2 to 6 microseconds, and one 0.2 to 0.7. A whole
// request over HTTP with 200 codes, uncached, takes 1.1 to 2.2 times the CPU of one with a single
// code (docs/measurements/history.md).
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
// predicate and intersects the others into one buffer (rowsOf). A chunk where any predicate is
// empty costs nothing. A query uses one scratch memory, which the next one reuses.
//
// If materializing a predicate would cost more than testing the rows that the others leave, it is
// only tested on those. Ski-rental: once testing has cost as much as materializing would have, the
// predicate is materialized and cached. The total cost is at most twice the optimum.
//
// Two things are cached: predicates, and the totals of sets of filters by chunk. With totals a
// later page starts in its own chunk and counts nothing.
//
// Passing gives all rows instead of a page, chunk by chunk, to those who count or add up.
//
// # The newest of each series
//
// Query.Latest keeps the newest rows of each series among those that pass. A stretch is consecutive
// rows of one series, each newer than the one before. Of the rows of a stretch that pass, the last
// is the newest, whatever the filters are. So a bitmap of the last rows of all stretches is enough:
// lastOfEach finds the rows to keep in 64 rows at a time. A series of several stretches is
// scattered; what is kept of its rows is compared (stretches.keepNewest). The filters need no
// distinction between columns of the series and others.
//
// On tables of 12 million rows in all, shaped like real ones (cmd/generate), at most 0.1 % of the
// rows of a table are scattered; on real input none in nine tables of thirteen, 8 % in the worst.
// Milliseconds of CPU with nothing cached but the stretches, November 2026, 2 cores, in parentheses
// without Latest:
//
//	                                       no filter   one place     three quarters of the periods
//	3.2 M  rows, 15 k stretches         0.66 (0)   0.01 (0.02)   2.1 (2.1)
//	2.3 M  rows, 21 k stretches         0.52 (0)   0.07 (0.02)   1.3 (1.0)
//	1.9 M  rows, 65 k stretches         0.42 (0)   0.01 (0.03)   1.2 (1.1)
//	1.3 M  rows, 1.1 M stretches        0.28 (0)   0.07 (0.19)   0.6 (0.2)
//	12 M   rows, 90 k (BenchmarkNewest)  2.1 (0)    0.1           3.7
//	12 M   rows, nearly all scattered    350 (0)    4.7           200
//
// A filter on numbers without postings is tested from the last row of each stretch on until a row
// passes, while that takes few tests (lastThatPass). On the table of 12 M rows with 90 k stretches,
// with nothing cached: 7.5 ms for 90 % of the numbers in a fifth of the rows (26 before), 9.4 for
// half of all numbers, 6.9 for one in two thousand, where all rows are read.
//
// The stretches take 22 to 104 ms to find once (2 and 12 million rows of BenchmarkNewest, 0.5 s
// where nearly all are scattered), and 0.02 to 0.8 bytes a row on tables of more than 10,000.
//
// # Counting by value
//
// Counts finds the rows that pass, a bit or less a row of the table, and counts them by code, or by
// tuple for all columns of a group at once. There are four ways; the cheapest is taken
// (tally.choose): the codes of the rows that pass; all rows less the codes of the others; the
// postings; the runs of rows with one code. Most columns follow the row order more or less, so runs
// are what wide queries use. A table of them (runTable) is found once reading codes has taken as
// long as finding it, and cached. A query takes at most about two nanoseconds for each second row
// of the table and code space, and finds runs for at most one, at about one nanosecond a row.
//
// BenchmarkFacets, microseconds of CPU on a busy machine (November 2026, Intel Xeon, 2 cores). By
// codes is by five columns of two groups and two enums of 12 million rows, 30,000 codes the
// largest; by enums is by the last two. Roaring is AndCardinality of the rows that pass with each
// posting, where both are bitmaps before the clock starts:
//
//	query        codes    enums   enums, roaring   years
//	wide3        2,333    1,305            3,558   6,754
//	wide4        2,463    1,633            4,307   3,465
//	enums2       3,290    2,103            1,745   5,466
//	selective4     339       60               60      42
//	one_month    1,599      457              662     393
//	top_months     521       81               84      62
//	contains       506       95               20      51
//	no filter      342        2                -       5
//
// The years are of a group that is in no order, which is the worst case.
//
// # Sharing and lifetimes
//
// Any number of goroutines may share an Index. Sets and predicates do not change once built. They
// point into the segment and must not be used after it is closed. Postings come from outside: all
// bytes of a posting are checked before its first use (snapshot.Containers), so a damaged one gives
// ErrPosting, never a wrong row or a panic.
//
// The tests compare Select with Scan, which tests row by row and shares only types with it.
//
// # Why not roaring here
//
// Roaring writes the postings and reads them everywhere else (snapshot.Postings.Bitmap). Select has
// an evaluator of its own because it is faster: roaring.FastAnd builds a bitmap of all rows that
// pass, one allocated container a chunk, before the first one is counted. The evaluator intersects
// one chunk at a time in a reused buffer. BenchmarkSelect measures both on the same materialized
// predicates, with the exact total and the first 10,000 row ids. Microseconds of CPU (allocations),
// roaring v2.30, one core, two machines:
//
//	                          earlier         November 2026, Intel Xeon, 2 cores
//	rows  query       evaluator  roaring    evaluator     roaring         ratio
//	2 M   wide3              54      576         21 (4)      399 (385)     19.4
//	2 M   wide4             153      953         65 (4)      530 (263)      8.1
//	2 M   enums2                                 50 (4)      287 (139)      5.8
//	2 M   selective4                            5.8 (4)       13 (16)       2.2
//	2 M   one_month                              24 (4)       46 (77)       1.9
//	2 M   top_months                            4.1 (4)      5.9 (9)        1.4
//	2 M   contains                              0.9 (4)      3.2 (54)       3.5
//	10 M  wide3                                 170 (4)      968 (1,419)    5.7
//	10 M  wide4                                 242 (4)    2,259 (1,395)    9.3
//	10 M  enums2                                273 (4)      800 (636)      2.9
//	10 M  selective4                             34 (4)       38 (39)       1.1
//	10 M  one_month       equal                  21 (4)       29 (275)      1.3
//	10 M  top_months         11       99        6.9 (4)       14 (23)       2.1
//	10 M  contains                              1.7 (4)      6.3 (148)      3.7
//
// Over all queries the earlier machine gave ratios of 1.0 to 10.8 and at most 1,325 allocations.
//
// What is new starts with roaring's operations on Postings.Bitmap. It gets code of its own only
// when a benchmark like this one asks for it.
//
// # Tried
//
// Not taken: arrays of up to 4,096 values, as in roaring. Intersecting an array of 4,000 values
// takes as long as intersecting eight bitmaps. Sets built here keep arrays and runs to a quarter of
// that size, and a posting made mostly of long arrays is converted when it is first used.
//
// Not taken: uniting sorted postings through bitmaps. A Contains filter with 3,000 hits then
// touched the bitmap of every chunk twice. Sorted postings now become runs directly (rangesSet).
//
// Not taken: scanning the codes of a group for the tuples of a few values. It takes as long as
// searching the names. A list of tuples by value (tupleLists) costs four bytes a tuple, once, and
// halves the time of an uncached Contains filter with few hits.
//
// Not taken: searching for the first two bytes of the needle. Names share beginnings. Searching for
// its two rarest bytes, at their distance, finds far fewer false places.
//
// Not taken: materializing each predicate at its second use. Paging through one small place then
// paid for whole-table bitmaps of its dates. The ski-rental rule above replaced it.
//
// Not taken: building with GOAMD64=v3. Counting bitmaps takes 5 to 10 % less CPU, nothing else
// changes; not worth a second binary.
package index
