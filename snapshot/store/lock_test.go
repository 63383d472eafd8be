package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hdqs/internal/testkit"
)

func TestLock(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first, err := s.Lock("first operation")
	testkit.Must(t, err)
	_, err = s.Lock("second operation")
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "first operation") ||
		!strings.Contains(err.Error(), "process ") {
		t.Errorf("second lock: %v", err)
	}
	testkit.Must(t, first.Release())
	testkit.Must(t, testkit.Value(s.Lock("third operation"))(t).Release())
	if _, err := os.Stat(filepath.Join(s.Dir(), lockName)); !os.IsNotExist(err) {
		t.Errorf("the lock file remains: %v", err)
	}
}

// TestStaleLock: the file of a dead process excludes nobody, whatever its content.
func TestStaleLock(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, text := range []string{
		"", "{",
		`{"pid":1,"host":"elsewhere","what":"load","since":"2024-03-01T12:00:00Z"}`,
	} {
		testkit.Must(t, os.MkdirAll(s.Dir(), 0o755))
		testkit.Must(t, os.WriteFile(filepath.Join(s.Dir(), lockName), []byte(text), 0o644))
		l, err := s.Lock("operation")
		if err != nil {
			t.Fatalf("after %q: %v", text, err)
		}
		testkit.Must(t, l.Release())
	}
}

// TestLockIsExclusive: of many goroutines that acquire and release the lock, one at a time has it.
func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var inside, taken atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				l, err := s.Lock("operation")
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				testkit.Equal(t, inside.Add(1), 1, "holders at once")
				taken.Add(1)
				inside.Add(-1)
				testkit.Is(t, l.Release(), nil, "Release")
			}
		})
	}
	wait.Wait()
	if taken.Load() == 0 {
		t.Error("no goroutine acquired the lock")
	}
}
