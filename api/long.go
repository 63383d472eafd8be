package api

import "hdqs/api/encode"

// A page of at least manyRuns runs of rows is compressed row by row. With at least manyCoded rows
// that takes long.
const (
	manyRuns  = 32
	manyCoded = 1000
)

// takesLong reports whether a page takes long before its first byte can be sent: a millisecond or
// more for 10,000 rows. Uncompressed pages do not, as they are made while they are sent
// (stream.go).
func (a *reply) takesLong() bool {
	return a.coding != encode.Identity && a.page.Rows >= manyCoded && len(a.page.Ranges) >= manyRuns
}

// enterGate takes a slot for a request: one of those for long answers if it computes records.
func (s *Server) enterGate(a *reply) error {
	gate, many := s.gate, a.request.Limit >= manyRows
	if a.computation != nil {
		gate, many = s.long, true
	}
	if !gate.Enter(many) {
		return &Busy{Rule: ruleQueries}
	}
	a.gate = gate
	return nil
}

// makeWay exchanges the slot of a query for one of the slots for long answers if its page takes
// long, so that short queries find a slot. A warm-up has no slot.
func (s *Server) makeWay(a *reply) error {
	if a.gate != s.gate || !a.takesLong() {
		return nil
	}
	a.leaveGate()
	if !s.long.Enter(true) {
		return &Busy{Rule: ruleQueries}
	}
	a.gate = s.long
	return nil
}

// leaveGate gives back the slot of a request, if it has one.
func (a *reply) leaveGate() {
	if a.gate != nil {
		a.gate.Leave()
		a.gate = nil
	}
}

// appendCoded appends a page in a content coding.
func (a *reply) appendCoded(dst []byte) []byte {
	form := a.list.form(a.scratch)
	if !a.takesLong() {
		return form.AppendCoded(dst, a.coding, a.page.Ranges)
	}
	a.turn.BeginLong()
	defer a.turn.EndLong()
	return form.AppendCodedPausing(dst, a.coding, a.page.Ranges, a.pause)
}
