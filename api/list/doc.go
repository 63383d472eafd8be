// Package list answers requests for lists: it routes them, checks the identifier, parses the
// parameters (contract), finds the rows (index), renders them (render) and compresses the result
// (encode). What is computed of rows registers as a RecordSource.
//
// The files, each of which uses those below it:
//
//	standard.go once.go         for standards: requests and errors; what a snapshot keeps
//	pieces.go view.go query.go  long texts; other views of rows; questions of pages
//	warm.go                     requests before a snapshot is served
//	records.go values.go        what is computed of rows
//	list.go stream.go parts.go  rows of a list; streams; parts of a body
//	meant.go                    names that were probably meant
//	lists.go                    lists, with all that they need
//	identify.go content.go      identifiers; pages that are made once
//	request_log.go route.go     the log of requests; routes
//	admission.go body.go        limits of work; the body of an answer
//	cache.go                    finished bodies
package list
