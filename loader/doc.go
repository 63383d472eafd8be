// Package loader turns a catalog into a snapshot: it reads files, checks and joins their rows,
// sorts them, and writes one table after the other to the snapshot store.
//
// There are two kinds of catalog. The files in the directory decide which one it is:
//
//	files of the public catalog     themes and lists as CSV, packages as JSON
//	view dumps of the incumbent     one CSV for each table, with all joins done
//
// Both are built by the same table builder, so that everything that decides about rows is decided
// once. The files of this package, each of which uses those below it:
//
//	build.go report_text.go  a load, its snapshot and its report
//	views.go                 reads a directory of view dumps
//	pass.go lists.go         reads the files of the public catalog: lists, then themes
//	fallback.go losses.go    what is taken from before when the catalog has a fault
//	samples.go               compares the rows of a table with those before
//	metadata.go              datasets and resources: their tables, the sources in the manifest
//	load.go previous.go      state of a load, and what it leaves for the next one
//	available.go             the list of available data
//	catalog.go check.go      the files of a catalog, by role; the check of a downloaded file
//	views_read.go            the steps that read a dump
//	themes.go                the theme of each list of package schema: table, files, steps, dump
//	steps_*.go steps.go      steps: cells to columns, places, joins
//	theme.go                 what belongs to a theme
//	reader.go                the rows of a role: steps, places, sources
//	packages.go units.go     packages and places of a catalog
//	scan.go                  a file as a stream of rows, given to a reader
//	workbook.go csv*.go      the two forms of a file
//	uri.go                   links
//	builder_finish.go        duplicates, order, and the snapshot's form of a table
//	builder.go cells.go      rows of a table in load order; the values of cells
//	table.go                 the table of a list; finished tables
//	report.go fetched.go     what was fetched, read, kept, dropped, and why
//
// From a catalog, a row that fails a check is dropped and counted, and of rows with one key one is
// kept, mostly the later. View dumps are taken as they are: the same checks only report, except
// that a cell that cannot be parsed drops its row.
//
// An empty cell is null where the record allows null and the empty text elsewhere; in numbers and
// dates that may not be null it is a fault. Texts are never trimmed. Decimals keep their exact
// digits.
//
// A new theme is a list of package schema: docs/adding-a-list.md.
//
// # Tests
//
// TestBothKindsOfCatalogAgree compares whole loads with an independent computation: it generates
// one world as files and as dumps of the joined views, and wants equal segments. testdata/catalogs
// has small catalogs with what their loads give, the faults of rows and of files among them.
//
// TestFinishAgainstNaive does the same for the table builder alone: dropping duplicates and
// sorting.
//
// # Tried
//
// Ranking each column of the order once, packing the ranks of a row into 64-bit words and sorting
// those by radix takes a tenth of the time of sorting row ids by comparing columns. The ranks of
// grouped columns cost next to nothing: there are thousands of tuples, not millions. Sorting ids by
// their ranks with package slices, 45 lines less, takes 1.2 times the CPU of a whole load (4.2 s
// against 3.5 s at scale 0.3).
//
// encoding/csv instead of the own reader: see csvReader. A calendar of our own saved 7 ns of 27 for
// each date and is gone: dates are parsed once for each distinct period.
package loader
