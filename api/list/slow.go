package list

import (
	"hdqs/api/encode"
	"hdqs/api/reply"
)

// A page of at least manyRuns runs of rows is compressed row by row, and in zstd every page is
// compressed whole. With at least manyCoded rows that takes long.
const (
	manyRuns  = 32
	ManyCoded = 1000
)

// isExpensive reports whether a page takes long before its first byte can be sent: a millisecond or
// more for 10,000 rows. Uncompressed pages do not, as they are made while they are sent
// (stream.go).
func (a *Reply) isExpensive() bool {
	if a.Coding == encode.Identity || a.Page.Rows < ManyCoded {
		return false
	}
	return a.Coding == encode.Zstd || len(a.Page.Ranges) >= manyRuns
}

// enterGate takes a slot for a request: one of those for long answers if it computes records.
func (d *Admission) enterGate(a *Reply) error {
	gate, many := d.Gate, a.Request.Limit >= manyRows
	if a.RecordSource != nil {
		gate, many = d.Slow, true
	}
	if !gate.Enter(many) {
		return &reply.Busy{Rule: reply.RuleQueries}
	}
	a.gate = gate
	return nil
}

// moveToSlowGate exchanges the slot of a query for one of the slots for long answers if its page
// takes long, so that short queries find a slot. A warm-up has no slot.
func (d *Admission) moveToSlowGate(a *Reply) error {
	if a.gate != d.Gate || !a.isExpensive() {
		return nil
	}
	a.leaveGate()
	if !d.Slow.Enter(true) {
		return &reply.Busy{Rule: reply.RuleQueries}
	}
	a.gate = d.Slow
	return nil
}

// leaveGate gives back the slot of a request, if it has one.
func (a *Reply) leaveGate() {
	if a.gate != nil {
		a.gate.Leave()
		a.gate = nil
	}
}

// appendCoded appends a page in a content coding.
func (a *Reply) appendCoded(dst []byte) []byte {
	form := a.Form(a.List)
	if !a.isExpensive() {
		return form.AppendCoded(dst, a.Coding, a.Page.Ranges)
	}
	a.turn.BeginLong()
	defer a.turn.EndLong()
	return form.AppendCodedPausing(dst, a.Coding, a.Page.Ranges, a.Pause)
}
