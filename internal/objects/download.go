package objects

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"hdqs/internal/atomicfile"
)

// Request describes one object to download. The fields that are set are checked.
type Request struct {
	Name   string // in its Store; for a fetch.Client the address
	Size   int64  // bytes of the stored file
	SHA256 string // hex
	MD5    string // hex
	ETag   string // of the copy that the caller has; if it is current, the Result is NotModified

	// Received, if set, is called with the number of bytes as they arrive. A negative number takes
	// back bytes that will be downloaded again.
	Received func(n int64)
}

// Result describes a download.
type Result struct {
	NotModified bool
	ETag        string
	Bytes       int64
	SHA256      string
}

var (
	// ErrMismatch marks a complete object that differs from its Request in size or digest.
	ErrMismatch = errors.New("not the file that was asked for")
	// ErrTooLarge marks a body over its size limit.
	ErrTooLarge = errors.New("body over the size limit")
)

// Receive makes a Part, has it filled and checked, and gives it the name path. An existing file is
// replaced only then.
func Receive(path string, fill func(*Part) (Result, error)) (Result, error) {
	file, err := atomicfile.Create(path)
	if err != nil {
		return Result{}, diskError(err)
	}
	defer file.Discard()
	part := &Part{file: file.OS(), sha: sha256.New(), md5: md5.New()}
	result, err := fill(part)
	result.Bytes, result.SHA256 = part.Written, part.SHA256()
	switch {
	case err != nil:
		return Result{}, err
	case result.NotModified:
		return result, nil
	}
	if err := file.Commit(); err != nil {
		return result, diskError(err)
	}
	return result, nil
}

// Check compares the complete part with a Request.
func (p *Part) Check(q Request) error {
	sha, sum := p.SHA256(), p.MD5()
	switch {
	case q.Size > 0 && p.Written != q.Size:
		return fmt.Errorf("%w: %d bytes, the catalog says %d", ErrMismatch, p.Written, q.Size)
	case q.SHA256 != "" && !strings.EqualFold(sha, q.SHA256):
		return fmt.Errorf("%w: SHA-256 %s, the catalog says %s", ErrMismatch, sha, q.SHA256)
	case q.MD5 != "" && !strings.EqualFold(sum, q.MD5):
		return fmt.Errorf("%w: MD5 %s, the catalog says %s", ErrMismatch, sum, q.MD5)
	}
	return nil
}
