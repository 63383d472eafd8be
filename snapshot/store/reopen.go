package store

import (
	"errors"
	"fmt"

	"hdqs/snapshot"
)

// Reopen returns the snapshot with new segments in place of those that are marked as suspect. A new
// segment is that of the file in the store or, if that is damaged or removed, the bytes that are
// mapped already, if they have become right again. Either is verified whole (Segment.Verify). Where
// neither is right, the suspect segment stays, and the error says why. Both snapshots must be
// closed, in any order.
func (s *Snapshots) Reopen(snap *Snapshot) (*Snapshot, error) {
	next := snap.Acquire()
	var errs []error
	for _, ref := range snap.Manifest.Tables {
		old := next.Segments[ref.Table]
		if !old.IsSuspect() {
			continue
		}
		fresh, err := s.segments.reopenRef(ref, old)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		next.Segments[ref.Table] = fresh
		errs = append(errs, old.Close())
	}
	return next, errors.Join(errs...)
}

func (s *Segments) reopenRef(ref SegmentRef, old *snapshot.Segment) (*snapshot.Segment, error) {
	fresh, err := verified(s.openRef(ref, 1)) // requests need the other cores
	if err == nil {
		return fresh, nil
	}
	fresh, mappedErr := verified(old.Reread())
	if mappedErr == nil {
		return fresh, nil
	}
	return nil, fmt.Errorf("%w; and the file that was open: %w", err, mappedErr)
}

// verified verifies a segment that was opened, and closes it if that fails.
func verified(segment *snapshot.Segment, err error) (*snapshot.Segment, error) {
	if err != nil {
		return nil, err
	}
	if err := segment.Verify(); err != nil {
		return nil, errors.Join(err, segment.Close())
	}
	return segment, nil
}
