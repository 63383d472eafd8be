package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"hdqs/api/state"
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
	if f.file != nil && snapshot.WasWritten(f.file, f.opened) {
		s.giveUp(f, state.ByWrite, state.ErrWritten)
	}
	if err := f.open(); err != nil {
		return nil, nil, err
	}
	if !f.sound {
		var err error
		digests.Lock()
		background.Run(func() { err = f.digest(f.file, func(int) error { return nil }) })
		digests.Unlock()
		if err != nil {
			s.giveUp(f, state.ByChecksum, err)
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
func (s *Files) giveUp(f *openFile, by state.Damage, what error) {
	s.State.Inspector.Found[by].Add(1)
	s.State.Log.Error("a bulk file is refused, since it is damaged; put it back by renaming, or run "+
		"'hdqs build --bulk'", "file", f.name, "found", what)
	f.file, f.fault, f.found = nil, what, time.Now()
}

// digest compares the bytes of an open file with its SHA-256. It calls pace after each piece.
func (f *openFile) digest(file *os.File, pace func(bytes int) error) error {
	h, piece := sha256.New(), make([]byte, min(f.bytes, 1<<20))
	for at := int64(0); at < f.bytes; {
		n, err := file.ReadAt(piece[:min(int64(len(piece)), f.bytes-at)], at)
		if n == 0 {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		h.Write(piece[:n])
		at += int64(n)
		if err := pace(n); err != nil {
			return err
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != f.sha256 {
		return fmt.Errorf("%w: %s has the SHA-256 %s", snapshot.ErrCorrupt, f.name, got)
	}
	return nil
}

// scrubFile compares an open file with its digest, without keeping requests for it waiting.
func (s *Files) scrubFile(ctx context.Context, f *openFile, pace func(bytes int) error) {
	f.mu.Lock()
	file := f.file
	f.mu.Unlock()
	if file == nil {
		return
	}
	err := f.digest(file, pace)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != file || ctx.Err() != nil {
		return
	}
	if f.sound = err == nil; !f.sound {
		s.giveUp(f, state.ByChecksum, err)
	}
}

// bulkFilesInUse returns the files of all snapshots, each once.
func (s *Files) bulkFilesInUse() map[*openFile]bool {
	all := map[*openFile]bool{}
	inventory := s.Bulk.Load()
	if inventory == nil {
		return all
	}
	for _, files := range inventory.byID {
		for _, f := range files.byPath {
			all[f.openFile] = true
		}
	}
	return all
}

// CheckBulkFiles refuses the open files that were written to.
func (s *Files) CheckBulkFiles() {
	for f := range s.bulkFilesInUse() {
		if !f.mu.TryLock() {
			continue // a request checks it
		}
		if f.file != nil && snapshot.WasWritten(f.file, f.opened) {
			s.giveUp(f, state.ByWrite, state.ErrWritten)
		}
		f.mu.Unlock()
	}
}

// BulkFilesToScrub returns the bulk files for Scrub.
func (s *Files) BulkFilesToScrub() (files []state.Scrubbed) {
	for f := range s.bulkFilesInUse() {
		files = append(files, state.Scrubbed{Bytes: f.bytes, Check: func(ctx context.Context,
			pace func(bytes int) error,
		) {
			s.scrubFile(ctx, f, pace)
		}})
	}
	return files
}
