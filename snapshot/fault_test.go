package snapshot

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"hdqs/internal/testkit"
)

// mapped maps the file of a table, which the test may change.
func mapped(t *testing.T, table *TableData) (s *Segment, path string, data []byte) {
	t.Helper()
	data = fileOf(t, table)
	path = filepath.Join(t.TempDir(), "segment")
	testkit.Must(t, os.WriteFile(path, data, 0o644))
	s, err := OpenSegment(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, path, data
}

// noPause is the pace of a Recheck without pauses.
func noPause(int) error { return nil }

// TestGuard: a read of a mapped file that was truncated is an error, in the caller's goroutine and
// in those of opening and verifying. Other panics stay panics.
func TestGuard(t *testing.T) {
	t.Parallel()
	s, path, data := mapped(t, goldenTable())
	testkit.Must(t, errors.Join(s.Recheck(noPause), s.Verify()))
	testkit.Must(t, os.Truncate(path, 0))
	before := debug.SetPanicOnFault(false)
	for name, read := range map[string]func() error{
		"Guard":   func() error { return Guard(func() error { touch(s); return nil }) },
		"Recheck": func() error { return s.Recheck(noPause) },
		"Verify":  s.Verify,
		"Reread": func() error {
			_, err := s.Reread()
			return err
		},
	} {
		if err := read(); !errors.Is(err, ErrFault) || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrFault", name, err)
		}
	}
	if debug.SetPanicOnFault(before) {
		t.Error("Guard has not restored the setting of the goroutine")
	}
	for _, want := range []error{errors.New("other"), nil} {
		if err := Guard(func() error { return want }); err != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	func() {
		defer func() {
			got := recover()
			if _, ok := FaultAddress(got); got == nil || ok {
				t.Errorf("recovered %v", got)
			}
		}()
		_ = Guard(func() error { return []error{}[min(len(path), 0)] })
	}()

	// The same mapping is right again once the file is.
	testkit.Must(t, os.WriteFile(path, data, 0o644))
	if err := errors.Join(s.Recheck(noPause), s.Verify()); err != nil {
		t.Error(err)
	}
}

// TestFaultAddress finds the segment of a fault by its address.
func TestFaultAddress(t *testing.T) {
	t.Parallel()
	s, path, _ := mapped(t, goldenTable())
	other, _, _ := mapped(t, goldenTable())
	testkit.Must(t, os.Truncate(path, 0))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		address, ok := FaultAddress(recover())
		if !ok || !s.Contains(address) || other.Contains(address) {
			t.Errorf("%#x, %v: in the segment %v, in the other %v",
				address, ok, s.Contains(address), other.Contains(address))
		}
	}()
	touch(s)
	t.Error("no fault")
}

// TestRecheck: every changed bit is found, wherever it is.
func TestRecheck(t *testing.T) {
	t.Parallel()
	s, path, data := mapped(t, goldenTable())
	read := 0
	if err := s.Recheck(func(bytes int) error { read += bytes; return nil }); err != nil || read < len(data)*3/4 {
		t.Errorf("%v after %d of %d bytes", err, read, len(data))
	}
	stop := errors.New("stop")
	if err := s.Recheck(func(int) error { return stop }); err != stop {
		t.Errorf("got %v, want the error of pace", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for range fewer(500) {
		bit := random.IntN(8 * len(data))
		at := int64(bit / 8)
		if _, err := f.WriteAt([]byte{data[at] ^ 1<<(bit%8)}, at); err != nil {
			t.Fatal(err)
		}
		if err := s.Recheck(noPause); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrFault) {
			t.Errorf("bit %d: %v", bit, err)
		}
		if _, err := f.WriteAt(data[at:at+1], at); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Recheck(noPause); err != nil {
		t.Error(err)
	}
}

// TestRecheckForged: another segment in the place of the opened one is found, though its own
// checksums are right.
func TestRecheckForged(t *testing.T) {
	t.Parallel()
	s, path, data := mapped(t, goldenTable())
	forged := reseal(t, data, func(d *directory, data []byte) {
		b := &d.columns[len(d.columns)-1].blocks[0]
		data[b.offset] ^= 1
	})
	if len(forged) != len(data) {
		t.Fatalf("%d bytes, want %d", len(forged), len(data))
	}
	testkit.Must(t, os.WriteFile(path, forged, 0o644))
	if err := s.Recheck(noPause); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// TestReread: the new segment outlives the one that it was read from, and has no mark.
func TestReread(t *testing.T) {
	t.Parallel()
	s, err := OpenSegment(func() string { _, path, _ := mapped(t, goldenTable()); return path }())
	if err != nil {
		t.Fatal(err)
	}
	if !s.MarkSuspect() || s.MarkSuspect() || !s.IsSuspect() {
		t.Error("the mark is not set once")
	}
	fresh, err := s.Reread()
	if err != nil || fresh.IsSuspect() {
		t.Fatalf("%v, suspect %v", err, fresh.IsSuspect())
	}
	testkit.Must(t, s.Close())
	if err := compareTable(fresh, goldenTable()); err != nil {
		t.Error(err)
	}
	if err := fresh.Close(); err != nil {
		t.Error(err)
	}
	if fresh.shares.Load() != 0 || s.shares.Load() != 0 {
		t.Errorf("%d and %d references are left", fresh.shares.Load(), s.shares.Load())
	}
}
