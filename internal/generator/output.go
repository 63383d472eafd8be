package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

type written struct {
	path   string // below the catalog's root, with slashes
	size   int64
	sha256 string
}

// stream is a file being written. It buffers lines and writes them in blocks.
type stream struct {
	line
	path string
	file *os.File
	sum  hash.Hash
	zip  *gzip.Writer // nil: the file is not compressed
	to   io.Writer
	err  error
}

// create opens dir/path for writing, with compress as dir/path.gz.
func create(dir, path string, compress bool) (*stream, error) {
	if compress {
		path += ".gz"
	}
	full := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(full)
	if err != nil {
		return nil, err
	}
	s := &stream{line: line{ends: "\n"}, path: path, file: f, sum: sha256.New()}
	s.to = io.MultiWriter(f, s.sum)
	if compress {
		s.zip, err = gzip.NewWriterLevel(s.to, 3)
		s.to = s.zip
	}
	return s, err
}

const blockSize = 1 << 18

// flush writes the buffer if it is full, or always.
func (s *stream) flush(always bool) {
	if len(s.buf) < blockSize && !always {
		return
	}
	if s.err == nil {
		_, s.err = s.to.Write(s.buf)
	}
	s.buf = s.buf[:0]
}

func (s *stream) close() (written, error) {
	s.flush(true)
	if s.zip != nil {
		s.err = errors.Join(s.err, s.zip.Close())
	}
	size, err := s.file.Seek(0, io.SeekCurrent)
	return written{s.path, size, hex.EncodeToString(s.sum.Sum(nil))}, errors.Join(s.err, err, s.file.Close())
}

func writeWhole(dir, path string, b []byte) (written, error) {
	s, err := create(dir, path, false)
	if err != nil {
		return written{}, err
	}
	s.buf = b
	return s.close()
}
