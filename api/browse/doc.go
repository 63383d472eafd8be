// Package browse makes the pages on which people see the records of an endpoint: a form of its
// filters, counts by value, the records, and the same question as a request of the interface.
//
// The address of a page is its whole state. Its parameters are those of the endpoint, and a few of
// the page's own (state.go). Whatever a page shows comes from the answers that the interface gives
// to the same parameters (Source), so it cannot differ from them. Nothing needs a script.
package browse
