package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"hdqs/internal/atomicfile"
)

// lockName is the file that a writer to a store has locked. The lock ends with its process, however
// that ends, so the next writer takes over a file that nobody has locked. Its content is only for
// the error messages of other processes.
const lockName = "lock"

// Lock is the right to move channels and to remove files of a store.
type Lock struct{ f *os.File }

// holder is the content of the lock file.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

// Lock acquires the store's writer lock. what describes the operation in other processes' error
// messages. If another writer has the lock the error is ErrLocked and names that writer.
func (s *Store) Lock(what string) (*Lock, error) { return LockDir(s.Snapshots.dir, what) }

// LockDir locks any directory as Lock locks a store's.
func LockDir(dir, what string) (*Lock, error) {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockName)
	f, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	text, err := json.Marshal(holder{
		PID: os.Getpid(), Host: host, What: what,
		Since: time.Now().UTC().Truncate(time.Second),
	})
	if err == nil {
		err = errors.Join(f.Truncate(0), writeAt(f, append(text, '\n')))
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // the lock works without the text, and gc makes room

		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), (&Lock{f: f}).Release())
	}
	return &Lock{f: f}, nil
}

// takeLock opens the file and locks it. The previous holder may remove the file between the two.
// The lock is then on a file without a name, which excludes nobody, so it counts only if the name
// still refers to it. A process of another user, root for example, that was killed leaves a file
// that cannot be written: if nobody has locked it, it is removed.
func takeLock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		foreign := errors.Is(err, fs.ErrPermission)
		if foreign {
			if theirs, openErr := os.Open(path); openErr == nil { // else the folder must not be written to
				f, err = theirs, nil
			}
		}
		if err != nil {
			return nil, err
		}
		_ = f.Chmod(0o644) // whatever the umask; only the owner may
		if err := atomicfile.TryLock(f); err != nil {
			f.Close() // nothing was written
			if !atomicfile.IsLocked(err) {
				return nil, fmt.Errorf("lock %s: %w", path, err)
			}
			return nil, fmt.Errorf("%w: %s is held by %s", ErrLocked, path, readHolder(path))
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if named, err := os.Stat(path); err == nil && os.SameFile(mine, named) {
			if !foreign {
				return f, nil
			}
			if err := os.Remove(path); err != nil {
				return nil, errors.Join(err, f.Close())
			}
		}
		f.Close() // nothing was written
	}
}

func writeAt(f *os.File, data []byte) error {
	_, err := f.WriteAt(data, 0)
	return err
}

// readHolder describes the holder of a lock. The file may be read before its holder has written it.
func readHolder(path string) string {
	var h holder
	data, err := ReadFile(path, MaxChannel)
	if err != nil || json.Unmarshal(data, &h) != nil || h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d on %s (%s, since %s)", h.PID, h.Host, h.What, h.Since.Format(time.RFC3339))
}

// Release gives the lock up.
func (l *Lock) Release() error { return errors.Join(os.Remove(l.f.Name()), l.f.Close()) }
