package main_test

import (
	"path/filepath"
	"testing"
)

// newKey makes a pair of keys in a folder.
func newKey(t *testing.T, dir, name string) (private, public string) {
	t.Helper()
	private, public = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".pub")
	mustExit(t, 0, "keygen", "--private", private, "--public", public)
	return private, public
}
