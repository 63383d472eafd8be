package render

// dialect is the syntax of an output format. Its methods are called when a form is made and when
// fragments are built, not for each row.
type dialect interface {
	// head and tail return the text of a body before and after its rows.
	head(fields []boundField) []byte
	tail() []byte
	// cut returns the number of bytes that a body omits at the end of its last row: a separator.
	cut() int
	// before returns the text before a row's i-th value, end the text after its last.
	before(i int, name string) []byte
	end() []byte

	null() []byte
	appendText(dst []byte, s string) []byte
	appendBool(dst []byte, b bool) []byte
	appendTime(dst []byte, micros int64) []byte
}
