package render

// dialect is how values and what stands between them look in one output format. Its methods run when fragments are built, not
// once a row; what a row needs is taken from it when the form is made.
type dialect interface {
	// head and tail enclose the rows of a body.
	head(fields []boundField) []byte
	tail() []byte
	// cut is how many of the last row's bytes a body leaves out: a separator that no row follows.
	cut() int
	// before is what stands in front of a row's i-th value, end what follows its last.
	before(i int, name string) []byte
	end() []byte

	null() []byte
	appendText(dst []byte, s string) []byte
	appendBool(dst []byte, b bool) []byte
	appendTime(dst []byte, micros int64) []byte
}
