package reply

// HeaderField is one line of a header.
type HeaderField struct{ Name, Value string }
