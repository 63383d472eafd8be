package mcp

import (
	"encoding/json"
	"errors"
	"net/url"
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
	hint  say.Text
	notes say.Notes
}

// ask asks for the records at a path below the mount, as JSON too if whole is set. Each question
// has the limits that it would have over HTTP. Unknown parameters are refused: a filter that is
// ignored gives rows that nobody has asked for. An error is *refusal where the caller can do
// something about it.
func (c *call) ask(path string, params url.Values, whole bool) (*found, error) {
	if len(c.address(path, params)) > mostAddress {
		return nil, &refusal{Message: "the filters are too long; send fewer or shorter values"}
	}
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
	for _, to := range c.of.Mount.Lists {
		if to.List.Paths()[0] != path {
			continue
		}
		gate := c.of.Lists.Admission.Gate
		if to.RecordSource != nil {
			gate = c.of.Lists.Admission.Slow
		}
		to.TakesTurns = true
		return all, c.pass(gate, func() error {
			r := new(contract.Request)
			r.Scanned.Scan(to.List, []byte(params.Encode()))
			if err := r.Parse(); err != nil {
				return err
			}
			if r.Scanned.UnknownCount() > 0 {
				return r.UnknownFaults(true, reply.Meant)
			}
			_, all.hint = reply.UnknownOf(r)
			return c.of.Lists.Query(c.served, &to, &r.Question, read)
		})
	}
	panic("no list has the path " + path) // all paths are of contract
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
func (c *call) address(path string, params url.Values) string {
	return c.base + strings.TrimSuffix(c.of.Mount.Prefix+path+"?"+params.Encode(), "?")
}
