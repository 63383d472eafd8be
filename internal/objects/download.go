package objects

import (
	"errors"
	"fmt"
	"strings"
)

// Request describes one object to download. The fields that are set are checked.
type Request struct {
	Name   string // in its Store; for a fetch.Client the address
	Size   int64  // bytes of the stored file
	SHA256 string // hex
	MD5    string // hex
	ETag   string // of the copy that the caller has; if it is current, the Result is NotModified

	// Part, if set, is the file that a download is written to until it is complete. A download that
	// was interrupted resumes where it ended, if the server still has the same file. It is for
	// callers that lock its directory. Without Part several processes may download the same file,
	// and each begins at the first byte.
	Part string
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
// replaced only then. A part that can be resumed has at most most bytes.
func Receive(q Request, path string, most int64, fill func(*Part) (Result, error)) (Result, error) {
	part, err := newPart(q, path, most)
	if err != nil {
		return Result{}, err
	}
	defer part.Close()
	result, err := fill(part)
	result.Bytes, result.SHA256 = part.Written, part.SHA256()
	switch {
	case err != nil:
		return Result{}, errors.Join(err, part.Abort(err))
	case result.NotModified:
		return result, part.Discard()
	}
	return result, part.Commit(path)
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
