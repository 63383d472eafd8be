// Package fleet reads the reports that the replicas of a channel write into the store: what each
// serves and whether it is well. It judges a canary by them.
//
// What a replica says of a publication names the pointer of that, so that a report of an earlier
// one proves nothing. Ages are by the clock of the store, which dates its objects, and not by those
// of replicas. A replica whose report is overdue, or that cannot write one, is unknown and never
// good. Reports are not signed: with write access to the store one can have a canary rolled back,
// or have a snapshot promoted that its publisher has signed.
package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

// Report is what a replica says of itself. Its times are by its own clock.
type Report struct {
	Replica    string        `json:"replica"`
	Channel    string        `json:"channel"` // the main one, also of a replica that follows its canary
	Shown      store.Pointer `json:"shown"`   // zero while nothing is served
	Since      time.Time     `json:"since"`   // when it began to serve that
	Refused    *Refusal      `json:"refused,omitempty"`
	Failed     string        `json:"failed,omitempty"` // why the last poll failed, if it refused no snapshot
	Started    time.Time     `json:"started"`          // of the process
	Version    string        `json:"version,omitempty"`
	DueSeconds int           `json:"due_seconds"` // until the next report, at the latest
}

// Refusal is a publication that a replica does not serve, since its snapshot failed a check.
type Refusal struct {
	store.Pointer
	Stage  string `json:"stage"`
	Reason string `json:"reason"`
}

// mostReason is how many bytes of a reason are reported.
const mostReason = 500

// Short shortens a text to what a report has room for, on one line: whoever can write to the store
// can write anything into a report.
func Short(reason string) string {
	reason = strings.Join(strings.FieldsFunc(reason, unicode.IsControl), " ")
	if len(reason) <= mostReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:mostReason], "") + "..."
}

// Parse parses the report of a replica by its name in the store.
func Parse(name string, data []byte) (r Report, err error) {
	switch err = json.Unmarshal(data, &r); {
	case len(data) > store.MaxReplicaReport:
		err = fmt.Errorf("%d bytes, at most %d are read", len(data), store.MaxReplicaReport)
	case err != nil:
	case !utf8.Valid(data):
		err = errors.New("not UTF-8")
	case r.DueSeconds < 1 || r.DueSeconds > 1e9:
		err = fmt.Errorf("the next report is due after %d seconds, want 1 or more", r.DueSeconds)
	default:
		r.Shown.ID, r.Failed, r.Version = Short(r.Shown.ID), Short(r.Failed), Short(r.Version)
		if r.Refused != nil {
			r.Refused.ID, r.Refused.Stage = Short(r.Refused.ID), Short(r.Refused.Stage)
			r.Refused.Reason = Short(r.Refused.Reason)
		}
		var own string
		if own, err = store.ReplicaName(r.Channel, r.Replica); err == nil && own != name {
			err = fmt.Errorf("it is that of %s", own)
		}
	}
	if err != nil {
		return Report{}, fmt.Errorf("report %s: %w", name, err)
	}
	return r, nil
}

// Seen is a report as the store has it.
type Seen struct {
	Report
	Age time.Duration // by the clock of the store, as far as that is known
	Err error         // why it cannot be read; Report has only the name then
}

// Unknown is why nothing is known of the replica now, empty if something is.
func (s *Seen) Unknown() string {
	due := time.Duration(s.DueSeconds) * time.Second
	switch {
	case s.Err != nil:
		return s.Err.Error()
	case s.Age > due:
		return fmt.Sprintf("its last report is %s old, the next was due after %s", s.Age.Round(time.Second), due)
	}
	return ""
}

// reads is how many reports are read at once.
const reads = 8

// Read reads the reports of a channel's replicas, by name. Now is the present time if no report is
// of a later one.
func Read(ctx context.Context, from objects.Store, channel string, now time.Time) ([]Seen, error) {
	folder := store.ReplicasDir + "/" + channel
	all, err := from.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(o objects.Object) bool {
		name, isReport := strings.CutSuffix(path.Base(o.Name), ".json")
		return !isReport || path.Dir(o.Name) != folder || store.CheckID(name) != nil
	})
	for _, o := range all {
		if o.Modified.After(now) { // our clock is behind
			now = o.Modified
		}
	}
	seen := make([]Seen, len(all))
	var readers errgroup.Group
	readers.SetLimit(reads)
	for i, o := range all {
		readers.Go(func() error {
			s := &seen[i]
			s.Age = now.Sub(o.Modified)
			data, _, err := from.Read(ctx, o.Name, "", store.MaxReplicaReport)
			if err == nil {
				s.Report, err = Parse(o.Name, data)
			}
			if err != nil {
				s.Replica, s.Err = strings.TrimSuffix(path.Base(o.Name), ".json"), err
			}
			if errors.Is(err, fs.ErrNotExist) {
				s.Replica = "" // it was removed since it was listed
			}
			return nil
		})
	}
	_ = readers.Wait() // no reader returns an error
	seen = slices.DeleteFunc(seen, func(s Seen) bool { return s.Replica == "" })
	slices.SortFunc(seen, func(a, b Seen) int { return cmp.Compare(a.Replica, b.Replica) })
	return seen, nil
}

// State is how a replica fares.
type State string

// The states. An unknown replica may serve anything.
const (
	Good    State = "good"    // it serves what its channel shows
	Behind  State = "behind"  // it serves something else
	Failing State = "failing" // its last poll of the store failed
	Refuses State = "refuses" // the snapshot that its channel shows
	Unknown State = "unknown"
)

// State is how the replica fares if these are the channel and its canary now, and why it is not
// good.
func (s *Seen) State(shown, canary store.Channel) (State, string) {
	due := shown.Pointer
	if canary.Concerns(s.Replica, shown) {
		due = canary.Pointer
	}
	switch why := s.Unknown(); {
	case why != "":
		return Unknown, why
	case s.Refused != nil && s.Refused.Same(due):
		return Refuses, s.Refused.ID + " (" + s.Refused.Stage + "): " + s.Refused.Reason
	case s.Failed != "":
		return Failing, s.Failed
	case s.Shown.ID != due.ID || s.Shown.SHA256 != due.SHA256: // a promotion has the same rows
		return Behind, "its channel shows " + due.ID + " of " + due.PublishedAt.Format(time.RFC3339)
	}
	return Good, ""
}
