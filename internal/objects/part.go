package objects

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
)

// ErrDisk marks a file that could not be written on this machine. It is no fault of the server, and
// another request does not help.
var ErrDisk = errors.New("cannot write what was received")

// Part is a file that a body is written to, and the digests of what was written.
type Part struct {
	Written   int64  // bytes so far
	Validator string // strong ETag of the file on the server; "" if the next try begins at the first byte

	file     *os.File
	sha, md5 hash.Hash
}

// Begin records which version of the file on the server the next bytes belong to. Weak ETags do not
// count: they do not promise equal bytes.
func (p *Part) Begin(etag string) {
	p.Validator = ""
	if strings.HasPrefix(etag, `"`) {
		p.Validator = etag
	}
}

// Write appends bytes of the body.
func (p *Part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.sha.Write(b[:n])
	p.md5.Write(b[:n])
	p.Written += int64(n)
	if err != nil {
		err = fmt.Errorf("%w, after %d bytes: %w", ErrDisk, p.Written, err)
	}
	return n, err
}

// Restart discards what was written.
func (p *Part) Restart() error {
	p.Written, p.Validator = 0, ""
	p.sha.Reset()
	p.md5.Reset()
	_, err := p.file.Seek(0, io.SeekStart)
	if err := errors.Join(err, p.file.Truncate(0)); err != nil {
		return diskError(err)
	}
	return nil
}

// diskError marks an error of this machine's file system with ErrDisk.
func diskError(err error) error { return fmt.Errorf("%w: %w", ErrDisk, err) }

// SHA256 returns the digest of what was written, in hexadecimal digits.
func (p *Part) SHA256() string { return hex.EncodeToString(p.sha.Sum(nil)) }

// MD5 returns the MD5 digest of what was written, in hexadecimal digits.
func (p *Part) MD5() string { return hex.EncodeToString(p.md5.Sum(nil)) }
