package list

import (
	"hdqs/api/reply"
	"hdqs/api/state"
)

// sinceList is the list of a request in the snapshot that it names in since.
type sinceList struct {
	served *state.Served
	List   *state.BoundList
}

// goneSince is the error of a request whose snapshot in since is not held.
func (s *Lists) goneSince() error {
	return &reply.Gone{Current: s.State.Snapshots.CurrentID(), Since: true}
}

// openSince acquires the list to compare with.
func (s *Lists) openSince(a *Reply) error {
	v := s.State.Snapshots.AcquirePinned(a.Request.Since)
	if v == nil {
		return s.goneSince()
	}
	a.Since = sinceList{v, v.Bound.Lists[a.Endpoint.Path]}
	if a.Since.List.IsQuarantined() {
		v.Release(s.State.Log)
		return s.sinceRefusal(a)
	}
	return nil
}

// endSince releases the list to compare with, as EndList does the one that answers.
func (s *Lists) endSince(a *Reply, result *Finished, err *error) {
	fault := recover()
	defer a.Since.served.Release(s.State.Log)
	if s.State.Inspector.MetDamage(a.Since.List, fault, nil) {
		*result, *err = Finished{}, s.sinceRefusal(a)
	} else if fault != nil {
		panic(fault)
	}
}

// SinceFailed returns the error to answer with after the query of the list to compare with failed.
func (s *Lists) SinceFailed(a *Reply, err error) error {
	if s.State.Inspector.MetDamage(a.Since.List, nil, err) {
		return s.sinceRefusal(a)
	}
	return err
}

// sinceRefusal is the error for a list to compare with that is damaged. Only the current snapshot's
// are healed.
func (s *Lists) sinceRefusal(a *Reply) error {
	if a.Request.Since == s.State.Snapshots.CurrentID() {
		return &reply.Refused{Table: a.Endpoint.Table}
	}
	return s.goneSince()
}
