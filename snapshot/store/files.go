package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	tempPrefix = ".tmp-"
	// leftoverAge is how long a temporary file must lie untouched before it can be a killed run's: its writer may not have locked it yet.
	leftoverAge = time.Minute
)

// tempFile is a file that has no final name yet. Its writer holds a lock on it, by which others see that it is no leftover.
type tempFile struct {
	*bufio.Writer
	f    *os.File
	n    int64
	disk int64 // bytes that have reached the file
}

// onDisk writes to the file; errors tell how far it came.
type onDisk struct{ t *tempFile }

func (d onDisk) Write(b []byte) (int, error) {
	n, err := d.t.f.Write(b)
	d.t.disk += int64(n)
	if err != nil {
		err = fmt.Errorf("%w, after %d bytes", err, d.t.disk)
	}
	return n, err
}

// createTemp makes a temporary file in a directory, which it makes if need be, and removes what killed runs have left there.
func createTemp(dir string) (*tempFile, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	if err := removeLeftovers(dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, tempPrefix)
	if err != nil {
		return nil, err
	}
	t := &tempFile{f: f}
	t.Writer = bufio.NewWriterSize(onDisk{t}, 1<<20)
	if err := lockFile(f); err != nil {
		t.discard()
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return t, nil
}

// makeDir makes a directory and its name durable.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func removeLeftovers(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if !strings.HasPrefix(e.Name(), tempPrefix) || err != nil || time.Since(info.ModTime()) < leftoverAge {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue // gone meanwhile
		}
		if lockFile(f) == nil {
			err = os.Remove(path)
		}
		f.Close() // read only
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// commit gives the file its final name, once it is on disk.
func (t *tempFile) commit(path string) error {
	if err := t.Flush(); err != nil {
		return err
	}
	if err := t.f.Chmod(0o644); err != nil {
		return err
	}
	if err := t.f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(t.f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// discard closes the file and removes it if it has its temporary name still.
func (t *tempFile) discard() {
	os.Remove(t.f.Name()) // not there after commit
	t.f.Close()           // synced by commit, else of no use
}

// teeWriter writes to a temporary file and hashes what it writes.
type teeWriter struct {
	f    *tempFile
	hash hash.Hash
}

func (t *teeWriter) Write(b []byte) (int, error) {
	t.hash.Write(b)
	t.f.n += int64(len(b))
	return t.f.Write(b)
}

// writeFile writes a file so that its name shows either the old or the new content, whole, whatever happens in between.
func writeFile(path string, data []byte) error {
	t, err := createTemp(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer t.discard()
	if _, err := t.Write(data); err != nil {
		return err
	}
	return t.commit(path)
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if int64(len(data)) > limit {
		return nil, corruptf("%s has more than %d bytes", path, limit)
	}
	return data, nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
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
