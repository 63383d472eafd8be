//go:build !linux

package main_test

import "testing"

// mountDead skips the test: it needs Linux.
func mountDead(t *testing.T) string {
	t.Helper()
	t.Skip("mounting a file system that hangs needs Linux")
	return ""
}
