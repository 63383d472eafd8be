// Package schema declares the lists: what a row of each holds, how rows are identified and ordered,
// which filters there are, what sums over rows mean, and where the rows are published. Each list is
// one literal. The loader's tables, the endpoints of the interface and the generated catalogs
// follow from it.
//
// docs/adding-a-list.md shows how a list, a field or a filter is added. The files of this package,
// each of which uses those below it:
//
//	lists.go          all lists, and what their literals leave out
//	metadata.go coordination.go affected.go food.go climate.go
//	blocks.go         columns and names that lists share
//	list.go           what is declared of a list
//	sums.go           what sums mean
//	column.go         what is declared of a column and a filter
//	names.go          names in HDX HAPI
package schema
