package encode

import "math"

// Rows are the rows of a table in one output format, as their renderer writes them. Calls come from several goroutines.
type Rows interface {
	// Head and Tail enclose the rows of a body.
	Head() []byte
	Tail() []byte

	// Len is the number of rows.
	Len() int

	// Cut is how many of the last row's bytes a body leaves out: every row is written as if another followed.
	Cut() int

	// AppendRows appends the rows of runs.
	AppendRows(dst []byte, runs []Run) []byte

	// AppendPieces does so too, and tells the pieces they consist of: Slots for each row, always in the same order. Runs are ascending.
	AppendPieces(dst []byte, pieces []Piece, runs []Run) ([]byte, []Piece)
	Slots() int

	// Fragments is how many fragments there are; their numbers are below it. Cuts are the places within the texts of two fragments of a slot at
	// which their fields start, the first of them 0, as many of the one as of the other.
	Fragments() int
	Cuts(slot int, fragment, other uint32) (cuts, others []uint32)
}

// Run is the rows From to To-1.
type Run struct{ From, To uint32 }

// Piece is a stretch of rendered rows: the text of a fragment, the same wherever its number stands, or a plain text.
type Piece struct {
	Fragment uint32
	Len      uint32
}

// Plain is the Fragment of a piece that is none.
const Plain = math.MaxUint32

// batchRows is how many rows are encoded at a time. Their text is to stay in the second cache until it is encoded.
const batchRows = 64

// batches calls do with runs of at most batchRows rows together. The slice is reused.
func batches(runs []Run, do func(part []Run)) {
	var space [batchRows]Run
	part, n := space[:0], uint32(0)
	for _, r := range runs {
		for r.From < r.To {
			to := min(r.To, r.From+batchRows-n)
			part = append(part, Run{r.From, to})
			n += to - r.From
			r.From = to
			if n == batchRows {
				do(part)
				part, n = space[:0], 0
			}
		}
	}
	if n > 0 {
		do(part)
	}
}
