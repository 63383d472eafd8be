package api

import (
	"runtime/debug"
	"slices"
	"sync/atomic"

	"hdqs/api/contract"
	"hdqs/index"
	"hdqs/rowdiff"
)

// equalRows are the rows that two versions of a table have in common; nil before they are known,
// and empty if the tables have little in common.
type equalRows = atomic.Pointer[[]rowdiff.EqualRows]

// equalRows returns the rows that the table of a dictionary and that of the answer have in common,
// ascending. It has none until they are known: they are found once for two versions of a table, in
// the background, since that reads both tables.
func (s *Server) equalRows(a *reply, d *dictionary) []rowdiff.EqualRows {
	if d.list.version == a.list.version {
		return []rowdiff.EqualRows{{Rows: uint32(a.list.rows)}}
	}
	key := a.endpoint.Path + " " + d.list.version
	if known, ok := a.served.equal.Load(key); ok {
		if rows := known.(*equalRows).Load(); rows != nil {
			return *rows
		}
		return nil
	}
	entry, known := a.served.equal.LoadOrStore(key, new(equalRows))
	if !known {
		a.served.refs.Add(1) // the request has one of each
		d.served.refs.Add(1)
		go s.findEqualRows(entry.(*equalRows), a.endpoint, a.served, d.served)
	}
	return nil
}

// leastEqual is the least average number of neighbouring equal rows. Below it, the tables have too
// little in common.
const leastEqual = 8

// findEqualRows finds the rows that the tables of an endpoint have in common in two snapshots,
// which it releases.
func (s *Server) findEqualRows(into *equalRows, e *contract.Endpoint, now, earlier *served) {
	defer now.release(s.log)
	defer earlier.release(s.log)
	s.comparing.Lock() // not on all cores at once
	defer s.comparing.Unlock()
	debug.SetPanicOnFault(true)
	list, old := now.bound.lists[e.Path], earlier.bound.lists[e.Path]
	found := []rowdiff.EqualRows{}
	defer func() {
		if fault := recover(); fault != nil {
			found = found[:0]
			if !s.wasFault(list, fault) && !s.wasFault(old, fault) {
				s.logPanic(fault, "")
			}
		}
		found = slices.Clip(found)
		into.Store(&found)
	}()
	tables, err := rowdiff.Open(old.segment, list.segment, rowdiff.Columns{
		Key: e.Key, Values: answerColumns(e), Order: e.Order,
	})
	if err != nil {
		s.logFault(e.Path, err)
		return
	}
	before, err := old.passing(new(index.Query))
	if err != nil {
		return
	}
	current, err := list.passing(new(index.Query))
	if err != nil {
		return
	}
	most := list.rows/leastEqual + 1
	tables.Equal(before, current, func(rows rowdiff.EqualRows) bool {
		found = append(found, rows)
		return len(found) < most
	})
	if len(found) >= most || list.isSuspect() || old.isSuspect() {
		found = nil
	}
}

// answerColumns are the columns of all fields that pages of an endpoint have, in any names.
func answerColumns(e *contract.Endpoint) []string {
	var columns []string
	at := slices.IndexFunc(contract.Endpoints, func(o contract.Endpoint) bool { return o.Path == e.Path })
	for names := range contract.NameSet(nameSets) {
		in := &contract.EndpointsIn(names)[at]
		for _, f := range slices.Concat(in.Fields, in.CSVFields()) {
			if name := f.Column(); !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}
