package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hdqs/snapshot/store"
)

// Verdict is what reports say of a publication.
type Verdict int

// The verdicts. A refused publication stays so; one that is served is proven after the hold.
const (
	Waiting Verdict = iota
	Served
	Refused
)

// Canaries are the names of the replicas that are known and follow a canary for so many per cent.
func Canaries(seen []Seen, percent int) (names []string) {
	for i := range seen {
		if seen[i].Unknown() == "" && store.Bucket(seen[i].Replica) < percent {
			names = append(names, seen[i].Replica)
		}
	}
	return names
}

// Enough is the smallest percentage that has a replica which is known; 0 if none is.
func Enough(seen []Seen) (percent int) {
	for i := range seen {
		if b := store.Bucket(seen[i].Replica) + 1; seen[i].Unknown() == "" && (percent == 0 || b < percent) {
			percent = b
		}
	}
	return percent
}

// Judge decides by reports whether a publication is served or refused, and gives the reasons.
type Judge struct {
	Pointer  store.Pointer
	Replicas []string // which must serve it

	started map[string]time.Time // the processes that have served it
}

// Look judges by the present reports. One refusal is enough, whoever it is from. A replica that was
// started again while it was to serve the snapshot may have been ended by it.
func (j *Judge) Look(seen []Seen) (v Verdict, reasons []string) {
	if j.started == nil {
		j.started = map[string]time.Time{}
	}
	v = Served
	add := func(is Verdict, name, format string, args ...any) {
		if is == Refused && v != Refused {
			v, reasons = Refused, nil
		}
		if is == Waiting && v == Served {
			v = Waiting
		}
		if is == v {
			reasons = append(reasons, "replica "+name+" "+fmt.Sprintf(format, args...))
		}
	}
	for i := range seen {
		s := &seen[i]
		was, known := j.started[s.Replica]
		switch {
		case s.Err != nil:
		case s.Refused != nil && s.Refused.Same(j.Pointer):
			add(Refused, s.Replica, "refuses it (%s): %s", s.Refused.Stage, s.Refused.Reason)
		case known && !was.Equal(s.Started):
			add(Refused, s.Replica, "was started again after it had served it")
		case s.Shown.Same(j.Pointer):
			j.started[s.Replica] = s.Started
		}
	}
	for _, name := range j.Replicas {
		at := slices.IndexFunc(seen, func(s Seen) bool { return s.Replica == name })
		switch {
		case at < 0:
			add(Waiting, name, "has no report any more")
		case seen[at].Unknown() != "":
			add(Waiting, name, "is silent: %s", seen[at].Unknown())
		case seen[at].Failed != "":
			add(Waiting, name, "could not poll the store: %s", seen[at].Failed)
		case !seen[at].Shown.Same(j.Pointer):
			add(Waiting, name, "does not serve it yet")
		}
	}
	return v, reasons
}

// Hold is how long a publication is watched.
type Hold struct {
	For   time.Duration // that all replicas must have served it without a break
	Most  time.Duration // of the watch: a publication that is not proven by then is not
	Pause time.Duration // between two looks
}

// Watch looks at reports until the publication is refused or proven, or the time is over. Then the
// verdict is Waiting, and the reasons say for what. An error of read ends it only at that time: a
// store may be away for a moment.
func (j *Judge) Watch(ctx context.Context, h Hold, read func() ([]Seen, error)) (Verdict, []string, error) {
	end := time.Now().Add(h.Most)
	var served time.Time // since when
	for {
		seen, err := read()
		v, reasons := Waiting, []string(nil)
		if err == nil {
			v, reasons = j.Look(seen)
		} else {
			reasons = []string{err.Error()}
		}
		now := time.Now()
		if v != Served {
			served = time.Time{}
		} else if served.IsZero() {
			served = now
		}
		switch {
		case v == Refused || v == Served && now.Sub(served) >= h.For:
			return v, reasons, nil
		case v == Served && served.Add(h.For).After(end):
			so := now.Sub(served).Round(time.Second)
			reasons = []string{fmt.Sprintf("all replicas have served it for %s only", so)}
		}
		if !now.Before(end) {
			return Waiting, reasons, nil
		}
		select {
		case <-ctx.Done():
			return Waiting, reasons, ctx.Err()
		case <-time.After(min(h.Pause, max(end.Sub(now), time.Millisecond))):
		}
	}
}
