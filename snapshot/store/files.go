package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"hdqs/internal/atomicfile"
	"hdqs/internal/objects"
)

// Pending is a file that has no name yet, since that follows from its content: it buffers, counts
// and hashes what is written. The caller ends with Discard, which does nothing after CommitAs.
type Pending struct {
	*atomicfile.File
	buffer *bufio.Writer
	hash   hash.Hash
	bytes  int64
}

// CreatePending creates a file in a directory.
func CreatePending(dir string) (*Pending, error) {
	f, err := atomicfile.Create(filepath.Join(dir, "part"))
	if err != nil {
		return nil, err
	}
	return &Pending{File: f, buffer: bufio.NewWriterSize(f, 256<<10), hash: sha256.New()}, nil
}

// Write implements io.Writer.
func (p *Pending) Write(b []byte) (int, error) {
	p.hash.Write(b)
	p.bytes += int64(len(b))
	return p.buffer.Write(b)
}

// Finish returns the size and the SHA-256 of what was written. CommitAs may follow, in the
// directory of CreatePending.
func (p *Pending) Finish() (bytes int64, hash string, err error) {
	return p.bytes, hex.EncodeToString(p.hash.Sum(nil)), p.buffer.Flush()
}

// HasFile reports whether a file has a size and, with whole, a SHA-256.
func HasFile(path string, bytes int64, hash string, whole bool) bool {
	if info, err := os.Stat(path); err != nil || info.Size() != bytes {
		return false
	}
	if !whole {
		return true
	}
	got, err := HashFile(path)
	return err == nil && got == hash
}

// asCorrupt marks the error of a file that cannot be one of a store.
func asCorrupt(err error) error {
	if errors.Is(err, objects.ErrIrregular) || errors.Is(err, objects.ErrTooLarge) {
		return corruptf("%v", err)
	}
	return err
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	data, err := objects.ReadFile(path, limit)
	return data, asCorrupt(err)
}

// HashFile is the SHA-256 of a regular file.
func HashFile(path string) (string, error) {
	f, err := objects.OpenRegular(path)
	if err != nil {
		return "", asCorrupt(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
