package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// Written describes a file that was written.
type Written struct {
	Path   string // below the catalog's root, with slashes
	Bytes  int64
	SHA256 string
}

// output is a file being written. Bytes pass through the compressor, if there is one, and the
// checksum.
type output struct {
	Written
	file *os.File
	sum  hash.Hash
	zip  *gzip.Writer
	to   io.Writer
}

// create opens dir/path for writing, with compress as dir/path.gz.
func create(dir, path string, compress bool) (*output, error) {
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
	o := &output{Written: Written{Path: path}, file: f, sum: sha256.New()}
	o.to = o
	if compress {
		o.zip, err = gzip.NewWriterLevel(o, 3)
		if err != nil {
			return nil, err
		}
		o.to = o.zip
	}
	return o, nil
}

// Write writes bytes to the file, compressed ones if the file is.
func (o *output) Write(b []byte) (int, error) {
	o.sum.Write(b)
	o.Bytes += int64(len(b))
	return o.file.Write(b)
}

func (o *output) close() (Written, error) {
	if o.zip != nil {
		if err := o.zip.Close(); err != nil {
			return o.Written, err
		}
	}
	o.SHA256 = hex.EncodeToString(o.sum.Sum(nil))
	return o.Written, o.file.Close()
}

// writeWhole writes a small file.
func writeWhole(dir, path string, b []byte) (Written, error) {
	o, err := create(dir, path, false)
	if err != nil {
		return Written{}, err
	}
	if _, err := o.Write(b); err != nil {
		return Written{}, err
	}
	return o.close()
}

// stream buffers lines and writes them in blocks.
type stream struct {
	line
	out *output
	err error
}

const blockSize = 1 << 18

// flush writes the buffer if it is full, or always.
func (s *stream) flush(always bool) {
	if len(s.buf) < blockSize && !always {
		return
	}
	if s.err == nil {
		_, s.err = s.out.to.Write(s.buf)
	}
	s.buf = s.buf[:0]
}
