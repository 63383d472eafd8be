//go:build !unix

package store

import "os"

// lockFile does nothing: an open file cannot be removed on these systems.
func lockFile(*os.File) error { return nil }

func isLocked(error) bool { return false }

// syncDir does nothing: directories cannot be synced on these systems.
func syncDir(string) error { return nil }
