//go:build !unix

package snapshot

import "os"

// mapFile reads the file: there is no mapping here that closes as simply.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}

// lockFile does nothing: a file that is open cannot be removed here.
func lockFile(*os.File) error { return nil }

func isLocked(error) bool { return false }

// syncDir does nothing: directories cannot be synced here.
func syncDir(string) error { return nil }
