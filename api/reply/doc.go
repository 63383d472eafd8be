// Package reply has what answers of all kinds share: heads, entity tags, conditions, parts, purge
// keys, and the statuses and bodies of errors. It knows no snapshot.
//
// The files, each of which uses those below it:
//
//	validators.go ranges.go       entity tags and conditions; parts
//	errors.go hints.go            errors, and parameters that were meant
//	headers.go text.go prefer.go  heads; texts and preferences of a request
//	links.go purge.go field.go    links of pages; purge keys; a line of a header
package reply
