package store

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
)

// Verify reads every file of a snapshot from disk again. It checks the hashes of segments, those of
// the manifest and the figures if a channel points to it, and everything that Segment.Verify
// checks. The error has all faults.
func (s *Store) Verify(id string) error {
	m, err := s.Snapshots.Manifest(id)
	if err != nil {
		return err
	}
	names, err := s.Channels.Names()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		c, err := s.Channels.readChannel(name) // without its signature: this is about one snapshot
		if err == nil && c.ID == id {
			_, err = s.Snapshots.Published(c.Pointer)
			if err == nil && c.Figures != "" {
				if _, err = s.Snapshots.Figures(c.Pointer); errors.Is(err, fs.ErrNotExist) {
					err = corruptf("the channel names %s: %v", FiguresName(c.Figures), err)
				}
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("channel %s: %w", name, err))
		}
	}
	for _, ref := range m.Tables {
		errs = append(errs, s.Segments.verifyRef(ref))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("snapshot %s: %w", id, err)
	}
	return nil
}

func (s *Segments) verifyRef(ref SegmentRef) error {
	path, err := s.SegmentPath(ref.SHA256)
	if err != nil {
		return err
	}
	got, err := HashFile(path)
	if err != nil {
		return fmt.Errorf("table %q: %w", ref.Table, err)
	}
	if got != ref.SHA256 {
		return corruptf("table %q: %s has the SHA-256 %s", ref.Table, path, got)
	}
	segment, err := openAs(ref, path, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	return errors.Join(segment.Verify(), segment.Close())
}
