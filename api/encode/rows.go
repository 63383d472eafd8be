package encode

import "math"

// Rows are the rows of a table, rendered in one output format. Its methods may be called
// concurrently.
type Rows interface {
	// Head and Tail return the text of a body before and after its rows.
	Head() []byte
	Tail() []byte

	// Len returns the number of rows.
	Len() int

	// Cut returns the number of bytes that a body omits at the end of its last row: every row is
	// rendered as if another one followed.
	Cut() int

	// AppendRows appends the rows of runs.
	AppendRows(dst []byte, runs []Run) []byte

	// NewBatch returns a renderer of rows in pieces, for one goroutine at a time. Each row consists
	// of one piece for each of the slots, always in the same order.
	NewBatch() Batch
	Slots() int

	// Fragments returns the number of fragments, which are numbered from 0. Cuts returns where the
	// fields of two fragments of a slot start within their texts. The first field starts at 0, and
	// both have the same number of fields.
	Fragments() int
	Cuts(slot int, fragment, other uint32) (cuts, others []uint32)
}

// Batch renders up to BatchRows rows at a time.
type Batch interface {
	// Append appends the rows of runs, which ascend, and sets the Lane of each slot to their
	// pieces.
	Append(dst []byte, lanes []Lane, runs []Run) []byte
}

// Lane holds the pieces of a batch's rows in one slot: texts of fragments, which never change, or
// plain texts, which the next Append may overwrite. Slack bytes after each text are readable.
type Lane struct {
	Same  []byte   // the text of all rows, if they have the same fragment
	Texts [][]byte // otherwise, the text of each row

	// Fragments holds the number of each row's fragment less First; with Same, the first element
	// counts for all rows. It is nil for plain texts.
	Fragments []uint32
	First     uint32

	// After is the number of bytes at the end of a plain text that are the same in every row.
	After int
}

// Slack is the number of readable bytes after each text of a Lane.
const Slack = 16

// Run is the rows From to To-1.
type Run struct{ From, To uint32 }

const noFragment = math.MaxUint32

// BatchRows is the number of rows that are encoded at a time. Their text is encoded while it is in
// the second-level cache.
const BatchRows = 64

// batches calls do with runs of at most BatchRows rows in total, in the memory of space.
func batches(space *[BatchRows]Run, runs []Run, do func(part []Run)) {
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
