package mcp

import (
	"encoding/json"
	"errors"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/api/textual"
	"hdqs/api/wire"
)

// The longest addresses of lists and of searches, in bytes. An answer names an address that gives
// the same.
const (
	mostAddress = 48 << 10
	mostSearch  = 2 << 10
)

// call is one call of a tool. All its questions are about one snapshot.
type call struct {
	of     *Options
	served *state.Served
	base   string // address of the service, empty if it is not known
	tool   string
	sent   map[string]any // the arguments
	args   arguments      // the same
}

// found are records that answer a question.
type found struct {
	texts []textual.Record
	json  []json.RawMessage
	total int // of all pages
	notes say.Notes
}

// parse is the question of a request with some parameters, names and values, with a hint at what
// may be meant otherwise. Unknown ones are refused: a filter that is ignored gives rows that nobody
// has asked for.
func (c *call) parse(p *contract.Plan, pairs []string) (*contract.Question, say.Text, error) {
	if len(c.address(p.Paths()[0], pairs...)) > mostAddress {
		return nil, say.Text{}, &refusal{Message: "the filters are too long; send fewer or shorter values"}
	}
	r := new(contract.Request)
	r.Scanned.Scan(p, []byte(contract.QueryOf(pairs...)))
	err := r.Parse()
	if err == nil && r.Scanned.UnknownCount() > 0 {
		err = r.UnknownFaults(true, reply.Meant)
	}
	if err != nil {
		return nil, say.Text{}, c.refused(err)
	}
	_, hint := reply.UnknownOf(r)
	return &r.Question, hint, nil
}

// ask asks a question. The records are there as JSON too if whole is set. Each question has the
// limits that it would have over HTTP. An error is *refusal where the caller can do something about
// it.
func (c *call) ask(q *contract.Question, whole bool) (*found, error) {
	all := new(found)
	read := func(_ *list.Reply, records list.Records) error {
		all.total, all.notes = records.Total(), records.Notes()
		names := contract.FieldNames(records.Fields())
		for i := 0; whole && i < records.Len(); i++ {
			all.json = append(all.json, render.AppendRecord(nil, names, records, i, false))
		}
		all.texts = list.TextsOf(records)
		return nil
	}
	gate := c.of.Lists.Admission.Gate
	if q.Plan().Kind != contract.Rows {
		gate = c.of.Lists.Admission.Slow
	}
	return all, c.pass(gate, func() error { return c.of.Lists.Query(c.served, c.of.Mount, q, read) })
}

// pass does work with a slot.
func (c *call) pass(gate *wire.Gate, work func() error) error {
	err := c.of.Lists.Admission.Pass(work, gate)
	if busy, ok := errors.AsType[*reply.Busy](err); ok {
		c.of.Lists.State.Shed.Add(busy.Rule)
	}
	return c.refused(err)
}

type baseKey struct{}

// address is the request that gives an answer, whole where the address of the service is known.
func (c *call) address(path string, pairs ...string) string {
	return c.base + strings.TrimSuffix(c.of.Mount.Prefix+path+"?"+contract.QueryOf(pairs...), "?")
}
