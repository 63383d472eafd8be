// Package browse makes the pages on which people see the records of an endpoint: a form of its
// filters, counts by value, the records, and the same question as a request of the interface.
//
// The address of a page is its whole state. Its parameters are those of the endpoint, and a few of
// the page's own (state.go). Whatever a page shows comes from the answers that the interface gives
// to the same parameters (Source), so it cannot differ from them. Nothing needs a script.
//
// The files are in three rooms, each of which uses what is below it. The view:
//
//	page.go share.go           the page, and what it says of itself elsewhere
//	first.go drawings.go       the first view: tiles and drawings
//	own.go tile.go             the view of one headline figure; figures of what is in view
//	figure.go                  the drawing that an address asks for
//	offer.go                   choices that draw something, and which records they bring
//	kinds.go                   drawings of groups with two values each
//	draw.go overtime.go        maps, charts and tables of figures, and those over time
//	national.go summed.go      figures that sums of units differ from; countries that sums lack
//	title.go                   what figures are called
//	changes.go record.go       records that differ; one record
//	sort.go table.go           records in another order, and as a table
//	cells.go parts.go          rows as HTML; what templates show of records and figures
//
// The form, which chooses other records:
//
//	warnings.go facets.go      filters in use, why not to add up; counts by value
//	form.go                    fields for all filters
//	downloads.go snippets.go   all records for other programs
//
// The question, which is asked:
//
//	ways.go right.go           pages that have records; sums without what makes them wrong
//	about.go names.go          sources of records; names of codes
//	by.go measures.go          by what figures can be drawn, and which
//	source.go                  the question, and who answers it
//	state.go                   the address
//	words.go                   what fields and values are called
package browse
