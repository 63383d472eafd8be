// Package reply has what answers of all kinds share: heads, entity tags, conditions, parts, purge
// keys, and the statuses and bodies of errors. It knows no snapshot.
package reply

// HeaderField is one line of a header.
type HeaderField struct{ Name, Value string }
