package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"hdqs/internal/atomicfile"
)

// segmentFile buffers, counts and hashes the bytes of a segment that has no final name yet.
type segmentFile struct {
	*atomicfile.File
	buffer *bufio.Writer
	hash   hash.Hash
	bytes  int64
}

// createSegment creates a segment in the directory of segments. Its name follows from its content.
func createSegment(dir string) (*segmentFile, error) {
	f, err := atomicfile.Create(filepath.Join(dir, "segment"))
	if err != nil {
		return nil, err
	}
	return &segmentFile{File: f, buffer: bufio.NewWriterSize(f, 128<<10), hash: sha256.New()}, nil
}

func (s *segmentFile) Write(b []byte) (int, error) {
	s.hash.Write(b)
	s.bytes += int64(len(b))
	return s.buffer.Write(b)
}

func (s *segmentFile) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// commitAs gives the segment its name, once it is on disk.
func (s *segmentFile) commitAs(path string) error {
	if err := s.buffer.Flush(); err != nil {
		return err
	}
	return s.CommitAs(path)
}

// openRegular opens a regular file for reading and refuses anything else: opening a named pipe
// would wait until something writes to it. O_NONBLOCK is for a pipe that replaces the file between
// the check and the opening.
func openRegular(path string) (*os.File, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func checkRegular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return corruptf("%s is not a regular file", path)
	}
	return nil
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Size() <= limit {
		data.Grow(int(info.Size()) + bytes.MinRead)
	}
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if int64(data.Len()) > limit {
		return nil, corruptf("%s has more than %d bytes", path, limit)
	}
	return data.Bytes(), nil
}

func hashFile(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
