package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestLock(t *testing.T) {
	s := newStore(t)
	first, err := s.Lock("first errand")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Lock("second errand")
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "first errand") || !strings.Contains(err.Error(), "process ") {
		t.Errorf("second lock: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	third, err := s.Lock("third errand")
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), lockName)); !os.IsNotExist(err) {
		t.Errorf("the lock's file stays: %v", err)
	}
}

// TestStaleLock: a file that a dead process has left keeps nobody out, whatever it says.
func TestStaleLock(t *testing.T) {
	s := newStore(t)
	for _, text := range []string{"", "{", `{"pid":1,"host":"elsewhere","what":"load","since":"2024-03-01T12:00:00Z"}`} {
		if err := os.MkdirAll(s.Dir(), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.Dir(), lockName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := s.Lock("errand")
		if err != nil {
			t.Fatalf("after %q: %v", text, err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLockIsExclusive: of many that take and release it, one at a time has it.
func TestLockIsExclusive(t *testing.T) {
	s := newStore(t)
	var inside, taken atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				l, err := s.Lock("errand")
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d at once", n)
				}
				taken.Add(1)
				inside.Add(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if taken.Load() == 0 {
		t.Error("nobody got it")
	}
}
