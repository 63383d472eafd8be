package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"hdqs/internal/atomicfile"
	"hdqs/snapshot"
)

// Delta is a file that makes one segment of a table from another one. It is named by the digests of
// both. It may be missing or damaged: what it makes is compared with the digest of the new segment,
// and a reader without it takes the whole segment.
type Delta struct{ From, To SegmentRef }

// minDelta is the size of a segment from which deltas are made. Below it, a request takes as long
// as the bytes.
const minDelta = 64 << 10

// DeltasOf are the deltas between two snapshots that can be of use: those of tables that both have,
// with other rows.
func DeltasOf(from, to *Manifest) (all []Delta) {
	changed, _ := Compare(from, to)
	for _, c := range changed {
		if c.Before.SHA256 != "" && c.After.Bytes >= minDelta {
			all = append(all, Delta{c.Before, c.After})
		}
	}
	return all
}

// Name is the name of the delta in a store.
func (d Delta) Name() string {
	return path.Join(deltasDir, d.From.SHA256+"-"+d.To.SHA256+deltaExt)
}

// MaxBytes is the most that the delta may have. A larger one is not worth the work.
func (d Delta) MaxBytes() int64 { return d.To.Bytes / 4 }

// deltaTarget returns the segment that a delta makes, from the name of its file.
func deltaTarget(name string) (segment string, ok bool) {
	base, ok := strings.CutSuffix(path.Base(name), deltaExt)
	_, to, cut := strings.Cut(base, "-")
	return SegmentName(to), ok && cut && checkHash(to) == nil
}

// DeltasTo are the names of the deltas of the store that make segments of a snapshot.
func (s *Store) DeltasTo(m *Manifest) (names []string, err error) {
	wanted := map[string]bool{}
	for _, ref := range m.Tables {
		wanted[SegmentName(ref.SHA256)] = true
	}
	all, err := s.Files().List(context.Background(), deltasDir)
	for _, o := range all {
		if segment, ok := deltaTarget(o.Name); ok && wanted[segment] {
			names = append(names, o.Name)
		}
	}
	return names, err
}

// WrittenDeltas is what PutDeltas wrote.
type WrittenDeltas struct {
	Files int
	Bytes int64 // of the deltas
	Whole int64 // of the segments that they make
}

// Add adds what another call wrote.
func (w *WrittenDeltas) Add(o WrittenDeltas) {
	w.Files, w.Bytes, w.Whole = w.Files+o.Files, w.Bytes+o.Bytes, w.Whole+o.Whole
}

// PutDeltas writes the deltas between two snapshots of the store, as far as it has the segments of
// the first. Each is applied once before it is written.
func (s *Store) PutDeltas(from, to *Manifest) (WrittenDeltas, error) {
	var files, size, whole atomic.Int64
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, d := range DeltasOf(from, to) {
		workers.Go(func() error {
			n, err := s.putDelta(d)
			if n > 0 {
				files.Add(1)
				size.Add(n)
				whole.Add(d.To.Bytes)
			}
			return err
		})
	}
	err := workers.Wait()
	return WrittenDeltas{int(files.Load()), size.Load(), whole.Load()}, err
}

func (s *Store) putDelta(d Delta) (size int64, err error) {
	file := s.Snapshots.Path(d.Name())
	if info, err := os.Stat(file); err == nil {
		return info.Size(), nil
	}
	path, err := s.Segments.SegmentPath(d.From.SHA256)
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var delta bytes.Buffer
	err = s.makeDelta(d, &delta)
	if errors.Is(err, snapshot.ErrNoDelta) || err == nil && int64(delta.Len()) > d.MaxBytes() {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	hash := sha256.New()
	if err := new(snapshot.DeltaApplier).Apply(hash, path, delta.Bytes(), d.To.Bytes); err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != d.To.SHA256 {
		return 0, fmt.Errorf("%s: a delta makes a segment with the SHA-256 %s", file, got)
	}
	return int64(delta.Len()), atomicfile.Write(file, delta.Bytes())
}

func (s *Store) makeDelta(d Delta, to *bytes.Buffer) error {
	a, err := s.Segments.openRef(d.From, 1)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := s.Segments.openRef(d.To, 1)
	if err != nil {
		return err
	}
	defer b.Close()
	return snapshot.WriteDelta(to, a, b)
}

// AddByDelta stores a segment that a delta makes from one of the store. It gets its name only if it
// has the right digest.
func (s *Segments) AddByDelta(d Delta, delta []byte, applier *snapshot.DeltaApplier) error {
	from, err := s.SegmentPath(d.From.SHA256)
	if err != nil {
		return err
	}
	to, err := s.SegmentPath(d.To.SHA256)
	if err != nil {
		return err
	}
	f, err := CreatePending(s.folder)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := applier.Apply(f, from, delta, d.To.Bytes); err != nil {
		return err
	}
	switch _, got, err := f.Finish(); {
	case err != nil:
		return err
	case got != d.To.SHA256:
		return corruptf("it has the SHA-256 %s, the manifest says %s", got, d.To.SHA256)
	}
	return f.CommitAs(to)
}
