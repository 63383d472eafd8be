package wire

import (
	"cmp"
	"sync/atomic"
)

// DefaultBudget is the limit of a budget if none is given.
const DefaultBudget = 512 << 20

// Budget counts the bytes of answers in flight: bodies that clients have not received yet, and the
// other memory of their connections until then. A body that several connections send counts once,
// and only while it is not in a cache, which has a limit of its own (Shared).
type Budget struct {
	bytes atomic.Int64
	limit int64
}

// NewBudget makes a budget. Zero is DefaultBudget.
func NewBudget(limit int64) *Budget { return &Budget{limit: cmp.Or(limit, DefaultBudget)} }

// IsFull reports that no further body may be rendered or sent. Bodies that are being rendered when
// the budget fills up exceed it: at most one for each slot of the Gate.
func (b *Budget) IsFull() bool { return b.bytes.Load() >= b.limit }

// Add counts bytes. A negative number releases them.
func (b *Budget) Add(bytes int64) { b.bytes.Add(bytes) }

// Bytes returns the number of bytes in flight.
func (b *Budget) Bytes() int64 { return b.bytes.Load() }

// Limit returns the number of bytes at which the budget is full.
func (b *Budget) Limit() int64 { return b.limit }
