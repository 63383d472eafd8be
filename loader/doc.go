// Package loader turns a catalog into a snapshot: it reads files, checks and joins their rows,
// sorts them, and hands one table after the other to the snapshot store.
//
// A catalog comes in two kinds, told apart by what lies in the directory:
//
//	files of the public catalog     themes and lists as CSV, packages as JSON     catalog.go, sources*.go, references.go, packages*.go
//	view dumps of the incumbent     one CSV a table, all joins done               views*.go
//
// Both end in the same assembly, so that everything that decides about rows is decided once:
//
//	tables*.go     what a table is: columns, kinds, bounds, row key, sort order; one literal each
//	assembly*.go   rows in load order, column by column; then doubles, order, and the snapshot's form
//	place.go       what a record prints of where it is, and on which level it stands
//	availability   the list of what there is, out of the finished tables
//	build*.go      the steps of a load; what it remembers for the next one, so that a table whose files and lists are as they were is kept
//	report*.go     what was read, kept, dropped, and why
//
// From a catalog, a row that breaks a check is dropped and counted, and of two rows with one key
// the later stands. View dumps are taken as they are: the same checks only report, except that a
// cell which cannot be read at all drops its row.
//
// An empty cell is null where the record allows null and the empty text elsewhere; numbers and
// dates that may not be null are a fault. Texts are never trimmed. Decimals keep their exact
// digits.
//
// # Tried
//
// Sorting row ids by comparing columns took ten times as long as ranking each column of the order
// once, packing the ranks of a row into 64-bit words and sorting those by radix. The ranks of
// grouped columns cost next to nothing: there are thousands of tuples, not millions.
package loader
