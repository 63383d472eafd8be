package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

func TestDeltas(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	before := putSnapshot(t, s, "s1", tables.Wide("a", 1), tables.Wide("b", 1), smallTable("c", 1))
	after := putSnapshot(t, s, "s2", tables.Wide("a", 2), tables.Wide("b", 1), smallTable("c", 2), tables.Wide("d", 1))
	written, err := s.PutDeltas(before, after)
	if err != nil || written.Files != 1 || written.Whole != after.Tables[0].Bytes || written.Bytes > written.Whole/50 {
		t.Fatalf("%+v, %v; want one small delta", written, err)
	}
	d := Delta{before.Tables[0], after.Tables[0]}
	names, err := s.DeltasTo(after)
	if err != nil || len(names) != 1 || names[0] != d.Name() {
		t.Errorf("deltas %q, %v", names, err)
	}
	if names, err = s.DeltasTo(before); err != nil || len(names) != 0 {
		t.Errorf("deltas to the first snapshot %q, %v", names, err)
	}
	file := filepath.Join(s.Dir(), filepath.FromSlash(d.Name()))
	delta, err := os.ReadFile(file)
	testkit.Must(t, err)

	// Another store that has the first segment gets the second one. It must be exactly that.
	other := newStore(t)
	putSnapshot(t, other, "s1", tables.Wide("a", 1))
	wrong := Delta{d.From, before.Tables[1]}
	err = other.Segments.AddByDelta(wrong, delta, new(snapshot.DeltaApplier))
	if !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("a delta to another segment: %v, want ErrCorrupt", err)
	}
	if other.Segments.HasSegment(d.To, false) {
		t.Error("the store has the segment already")
	}
	err = other.Segments.AddByDelta(d, delta, new(snapshot.DeltaApplier))
	if err != nil || !other.Segments.HasSegment(d.To, true) {
		t.Errorf("the delta was not applied: %v", err)
	}
	if err := newStore(t).Segments.AddByDelta(d, delta, new(snapshot.DeltaApplier)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the first segment: %v", err)
	}

	// What is there is not made again; what cannot be made is not an error.
	testkit.Must(t, os.WriteFile(file, []byte("x"), 0o600))
	if written, err = s.PutDeltas(before, after); err != nil || written.Bytes != 1 {
		t.Errorf("made again: %+v, %v", written, err)
	}
	empty := newStore(t)
	putSnapshot(t, empty, "s2", tables.Wide("a", 2))
	if written, err = empty.PutDeltas(before, after); err != nil || written.Files != 0 {
		t.Errorf("without the first segments: %+v, %v", written, err)
	}
}

// TestCollectDeltas: a delta stays as long as the segment that it makes.
func TestCollectDeltas(t *testing.T) {
	t.Parallel()
	s, now := newStore(t), time.Now()
	manifests := []*Manifest{
		putSnapshot(t, s, "s1", tables.Wide("a", 1)), putSnapshot(t, s, "s2", tables.Wide("a", 2)),
		putSnapshot(t, s, "s3", tables.Wide("a", 3)),
	}
	for i := range 2 {
		_, err := s.PutDeltas(manifests[i], manifests[i+1])
		testkit.Must(t, err)
	}
	stray := filepath.Join(s.Dir(), deltasDir, "notes.txt")
	testkit.Must(t, os.WriteFile(stray, nil, 0o600))
	testkit.Must(t, s.Channels.Publish("channel", "s3", noon))
	o := CollectOptions{Grace: time.Hour, Now: now.Add(time.Minute)}
	_, err := Collect(t.Context(), s.Files(), o)
	if err != nil || !exists(s, Delta{manifests[0].Tables[0], manifests[1].Tables[0]}) {
		t.Errorf("a young delta was removed, %v", err)
	}
	o.Now = now.Add(2 * time.Hour)
	_, err = Collect(t.Context(), s.Files(), o)
	testkit.Must(t, err)
	if exists(s, Delta{manifests[0].Tables[0], manifests[1].Tables[0]}) {
		t.Error("a delta to a segment that was removed is still there")
	}
	if !exists(s, Delta{manifests[1].Tables[0], manifests[2].Tables[0]}) {
		t.Error("the delta to the shown segment was removed")
	}
	if _, err := os.Stat(stray); err != nil {
		t.Errorf("another file was removed: %v", err)
	}
}

func exists(s *Store, d Delta) bool {
	_, err := os.Stat(filepath.Join(s.Dir(), filepath.FromSlash(d.Name())))
	return err == nil
}
