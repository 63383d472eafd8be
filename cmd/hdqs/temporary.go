package main

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"hdqs/snapshot/store"
)

// temporaryDir makes a temporary directory that is locked until remove is called or the process
// ends. Directories of the same kind whose processes were killed are removed first.
func temporaryDir(kind string) (dir string, remove func(), err error) {
	earlier, _ := filepath.Glob(filepath.Join(os.TempDir(), "hdqs-"+kind+"-*")) // the pattern is right
	for _, dir := range earlier {
		removeDead(dir)
	}
	if dir, err = os.MkdirTemp("", "hdqs-"+kind+"-"); err != nil {
		return "", nil, err
	}
	lock, err := store.LockDir(dir, kind)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir); _ = lock.Release() }, nil
}

// removeDead removes a directory of temporaryDir if it is this user's and nobody has its lock. A
// new one may not be locked yet.
func removeDead(dir string) {
	info, err := os.Lstat(dir)
	lockFile, lockErr := os.Lstat(filepath.Join(dir, "lock"))
	if err != nil || lockErr != nil || !info.IsDir() || time.Since(lockFile.ModTime()) < time.Minute {
		return
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
		return
	}
	if lock, err := store.LockDir(dir, "removal"); err == nil {
		os.RemoveAll(dir)
		_ = lock.Release()
	}
}
