package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// leftoverAge is how long a temporary file must lie unchanged before Sweep removes it: its writer
// may not have locked it yet.
const leftoverAge = time.Minute

// temporary matches the names that the library makes: a dot, the final name, a random number of up
// to 63 bits. Earlier releases left .tmp-, .part- and .memory- with a number of up to 32 bits,
// which it matches too.
var temporary = regexp.MustCompile(`^\..+[0-9]{6,19}$`)

// Sweep removes the temporary files of a directory whose writers were killed: those that nobody
// holds a lock on, and that have not changed for a minute.
func Sweep(dir string) error { return SweepAfter(dir, leftoverAge) }

// SweepAfter is Sweep for files that have not changed for a grace, or for a minute if that is less.
func SweepAfter(dir string, grace time.Duration) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !temporary.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < min(grace, leftoverAge) {
			continue
		}
		errs = append(errs, removeUnlocked(filepath.Join(dir, e.Name())))
	}
	return errors.Join(errs...)
}

func removeUnlocked(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // another process has removed it
	}
	defer f.Close() // opened for reading
	if TryLock(f) != nil {
		return nil
	}
	if err := os.Remove(path); !os.IsNotExist(err) {
		return err
	}
	return nil
}
