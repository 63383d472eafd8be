package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"hdqs/internal/background"
	"hdqs/snapshot"
)

// openFile is a bulk file that stays open, so that it can be read when its name is removed. Nothing
// is sent before its digest was found right, nor after it was written to: its entity tag is the
// digest, and caches keep it for a year. Snapshots that have the same file share it. Nothing closes
// it: *os.File does when nobody refers to it.
type openFile struct {
	name, sha256 string
	bytes        int64

	mu     sync.Mutex
	file   *os.File    // nil before it is opened, and once it was found damaged
	opened fs.FileInfo // of the file that was opened last
	sound  bool        // its digest was right
	fault  error       // why the file that was opened last was given up
	found  time.Time   // when that was
}

// checkAgain is how long a damaged file is refused without reading it again, unless it is replaced
// or changed.
const checkAgain = time.Minute

// digests limits what reads whole files for requests to one at a time.
var digests sync.Mutex

// soundFile opens and checks a file. The caller does not close it.
func (s *Files) soundFile(f *openFile) (*os.File, fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil && wasWritten(f.file, f.opened) {
		s.giveUp(f, errWritten)
	}
	if err := f.open(); err != nil {
		return nil, nil, err
	}
	if !f.sound {
		var err error
		digests.Lock()
		background.Run(func() { err = f.digest() })
		digests.Unlock()
		if err != nil {
			s.giveUp(f, err)
			return nil, nil, err
		}
		f.sound = true
	}
	return f.file, f.opened, nil
}

// open opens the file, unless it is open or known to be damaged. The caller has the lock.
func (f *openFile) open() error {
	if f.file != nil {
		return nil
	}
	file, err := os.OpenFile(f.name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // of a pipe it does not wait for a writer
	if err != nil {
		return err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.Size() != f.bytes || !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a file of %d bytes", f.name, f.bytes)
	case f.fault != nil && os.SameFile(info, f.opened) && info.ModTime().Equal(f.opened.ModTime()) &&
		time.Since(f.found) < checkAgain:
		err = f.fault
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.opened, f.sound = file, info, false
	return nil
}

// giveUp marks what is open as damaged. The caller has the lock.
func (s *Files) giveUp(f *openFile, what error) {
	s.State.Log.Error("a bulk file is refused, since it is damaged; put it back by renaming, or run "+
		"'hdqs build --bulk'", "file", f.name, "found", what)
	f.file, f.fault, f.found = nil, what, time.Now()
}

// digest compares the bytes of the open file with its SHA-256.
func (f *openFile) digest() error {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f.file, 0, f.bytes)); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != f.sha256 {
		return fmt.Errorf("%w: %s has the SHA-256 %s", snapshot.ErrCorrupt, f.name, got)
	}
	return nil
}

// errWritten says that a file is not what was opened.
var errWritten = errors.New("the file was written to after it was opened")

// wasWritten reports whether an open file was written to since it was like before, also if it has
// the same bytes again: what was read meanwhile may have been wrong. That a file was renamed,
// replaced by another one or removed changes nothing.
func wasWritten(file *os.File, before fs.FileInfo) bool {
	now, err := file.Stat()
	return err == nil && (now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()))
}
