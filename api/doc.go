// Package api answers HTTP requests from a snapshot: paths, parameters, records, statuses.
//
// One literal an endpoint (endpoints_*.go) says its path, table, record and filters; routing, checks, column binding, the interface
// description and the pages are derived from these literals. A request goes the way of handler.go: route, identifier, parameters
// (params.go), rows (index), bytes (render), coding (encode). Everything that a caller can do wrong is an error of errors.go, and only
// that file knows statuses and texts.
//
// A Server serves one snapshot at a time. Swap puts another in its place: requests that run keep the one they began with, and it is
// closed when the last of them ends.
package api
