// Package odata serves the lists as OData 4.01 in JSON, read-only, for Excel, Power BI, Tableau and
// programs that read OData. docs/spreadsheets.md is for those who use it.
//
// The files, each of which uses those below it:
//
//	serve.go files.go metadata.go  addresses; files for other programs; the description
//	computed.go match.go           sets of figures and sums, and a $filter on them
//	rows.go write.go               records of lists, and their text
//	options.go choose.go           query options; rows that the index alone does not find
//	compile.go eval.go filter.go   a $filter: its conditions, their results, its tree
//	fault.go model.go literal.go   errors; sets and properties; values
//
// # From a request to rows
//
// A $filter is read into a tree (filter.go) and divided into conditions that a row must meet all,
// each of one property (compile.go). Lists of texts become filters that the index has. All other
// conditions become a test that is asked of each distinct value of the column, once, so they mean
// exactly what OData says: texts match as they are printed, with their case. What cannot be so
// divided is refused, never widened. Rows are found, written, compressed and kept as those of lists
// are (list.View): only the text around them differs, and the key after them (render.Form.Framed).
//
// # Pages
//
// A page has at most 10,000 records. Its @odata.nextLink has a $skiptoken with the version of the
// table's content, so that all pages are of one state of the data. After a load that leaves the
// table as it is, the token goes on to work; after one that changes it, as long as the replaced
// snapshot is retained; then it is 410.
//
// # Tried
//
// Keys made of the fields that identify a row would stay the same from load to load. They are up to
// 200 bytes, in a record of 450, and no client that was looked at keeps keys from refresh to
// refresh.
package odata
