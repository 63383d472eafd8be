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

	// NewBatch is for rendering rows piece by piece, by one goroutine at a time. A row consists of Slots pieces, always in the same order.
	NewBatch() Batch
	Slots() int

	// Fragments is how many fragments there are; their numbers are below it. Cuts are the places within the texts of two fragments of a slot at
	// which their fields start, the first of them 0, as many of the one as of the other.
	Fragments() int
	Cuts(slot int, fragment, other uint32) (cuts, others []uint32)
}

// Batch renders up to BatchRows rows at a time.
type Batch interface {
	// Append appends the rows of runs, which ascend, and sets a Lane for each slot to the pieces they consist of.
	Append(dst []byte, lanes []Lane, runs []Run) []byte
}

// Lane is the pieces of a batch's rows that stand in one slot: texts of fragments, which stay as they are for ever, or plain texts, which the next
// Append may overwrite. Behind each text slack more bytes can be read.
type Lane struct {
	Same  []byte   // the text of every row, if it is the same fragment in all
	Texts [][]byte // else one a row

	// Fragments are the numbers of the rows' fragments less First, of which the first holds for all if the text is the same. Plain texts have none.
	Fragments []uint32
	First     uint32

	// After is how many bytes at the end of a plain text are the same in every row.
	After int
}

// Slack is how many bytes can be read behind each text of a Lane.
const Slack = 16

// Run is the rows From to To-1.
type Run struct{ From, To uint32 }

// noFragment is no fragment's number.
const noFragment = math.MaxUint32

// BatchRows is how many rows are encoded at a time. Their text is to stay in the second cache until it is encoded.
const BatchRows = 64

// batches calls do with runs of at most BatchRows rows together. The slice is reused.
func batches(runs []Run, do func(part []Run)) {
	var space [BatchRows]Run
	part, n := space[:0], uint32(0)
	for _, r := range runs {
		for r.From < r.To {
			to := min(r.To, r.From+BatchRows-n)
			part = append(part, Run{r.From, to})
			n += to - r.From
			r.From = to
			if n == BatchRows {
				do(part)
				part, n = space[:0], 0
			}
		}
	}
	if n > 0 {
		do(part)
	}
}
