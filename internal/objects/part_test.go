package objects

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestFullDisk: a write that fails on this machine is marked as such.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	_, err = (&Part{file: full, sha: sha256.New(), md5: md5.New()}).Write([]byte("1"))
	const want = "after 0 bytes: write /dev/full: no space left"
	if !errors.Is(err, ErrDisk) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
