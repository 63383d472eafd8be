package objects

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"

	"hdqs/internal/atomicfile"
)

// ErrDisk marks a file that could not be written on this machine. It is no fault of the server, and
// another request does not help.
var ErrDisk = errors.New("cannot write what was received")

// Part is a file that a body is written to, and the digests of what was written.
//
// The part of a Request that names it can be resumed by another process. If its process ends early,
// it leaves two files: the bytes that were received, and, with the suffix .of, the name and
// validator of the object. Without a strong validator the next process begins at the first byte. It
// also does after a reboot, since bytes that never reached the disk may be missing then.
type Part struct {
	Written   int64  // bytes so far
	Validator string // strong ETag of the file on the server; "" if the part cannot be resumed

	file     *os.File
	sha, md5 hash.Hash
	address  string           // of the object; "" if no other process may resume the part
	temp     *atomicfile.File // the file, if it has a name that no other process uses
}

const (
	originSuffix = ".of"
	maxOrigin    = 8 << 10
)

// newPart makes the part of a download to path. It resumes what an earlier process left in q.Part,
// if that is at most most bytes and less than the object has. The caller closes the part.
//
// Such a part is not an atomicfile.File: the next process must know its name, and Sweep must not
// remove it.
func newPart(q Request, path string, most int64) (*Part, error) {
	p := &Part{sha: sha256.New(), md5: md5.New()}
	var err error
	if q.Part == "" {
		if p.temp, err = atomicfile.Create(path); err != nil {
			return nil, diskError(err)
		}
		p.file = p.temp.OS()
		return p, nil
	}
	if p.file, err = os.OpenFile(q.Part, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, diskError(err)
	}
	p.address = q.Name
	below := most + 1
	if q.Size > 0 {
		below = min(below, q.Size)
	}
	if err := p.resume(below); err != nil {
		return nil, errors.Join(diskError(err), p.Discard(), p.Close())
	}
	return p, nil
}

// resume keeps what an earlier process left if it is a part of the same file and shorter than
// below.
func (p *Part) resume(below int64) error {
	text, err := readOrigin(p.file.Name() + originSuffix)
	if err != nil {
		return err
	}
	validator, rest, _ := strings.Cut(text, "\n")
	if boot := bootID(); boot != "" && rest == boot+"\n"+p.address && strings.HasPrefix(validator, `"`) {
		if p.Written, err = io.Copy(io.MultiWriter(p.sha, p.md5), p.file); err != nil {
			return err
		}
		p.Validator = validator
	}
	if p.Written > 0 && p.Written < below {
		return nil
	}
	return p.Restart()
}

// Begin records which version of the file on the server the next bytes belong to. Weak ETags do not
// count: they do not promise equal bytes.
func (p *Part) Begin(etag string) error {
	p.Validator = ""
	if strings.HasPrefix(etag, `"`) {
		p.Validator = etag
	}
	if p.address == "" {
		return nil
	}
	if err := p.writeOrigin(); err != nil {
		return diskError(err)
	}
	return nil
}

// writeOrigin writes the file from which another process learns what the part belongs to.
func (p *Part) writeOrigin() error {
	boot, name := bootID(), p.file.Name()+originSuffix
	text := p.Validator + "\n" + boot + "\n" + p.address
	if p.Validator == "" || boot == "" || len(text) >= maxOrigin {
		return removeIfThere(name)
	}
	if had, err := readOrigin(name); err == nil && had == text {
		return nil
	}
	return os.WriteFile(name, []byte(text), 0o644)
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
func diskError(err error) error {
	if errors.Is(err, ErrDisk) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDisk, err)
}

// SHA256 returns the digest of what was written, in hexadecimal digits.
func (p *Part) SHA256() string { return hex.EncodeToString(p.sha.Sum(nil)) }

// MD5 returns the MD5 digest of what was written, in hexadecimal digits.
func (p *Part) MD5() string { return hex.EncodeToString(p.md5.Sum(nil)) }

// Commit syncs the complete file and renames it to path. On an error neither path nor the part is
// left.
func (p *Part) Commit(path string) error {
	if p.temp != nil {
		if err := p.temp.Commit(); err != nil {
			return diskError(err)
		}
		return nil
	}
	err := atomicfile.Rename(p.file, path)
	if _, statErr := os.Stat(p.file.Name()); err != nil && errors.Is(statErr, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(path)) // renamed, but the directory could not be synced
	}
	if err := errors.Join(err, p.Discard()); err != nil {
		return diskError(err)
	}
	return nil
}

// Abort ends an incomplete download that failed with why. It leaves the part for another process if
// it can be resumed, and removes it if not.
func (p *Part) Abort(why error) error {
	if p.Validator != "" && p.Written > 0 && p.address != "" && !errors.Is(why, ErrDisk) {
		return nil
	}
	return p.Discard()
}

// Discard removes the part and the file with its origin.
func (p *Part) Discard() error {
	if p.temp != nil {
		return p.temp.Discard()
	}
	return errors.Join(removeIfThere(p.file.Name()), removeIfThere(p.file.Name()+originSuffix))
}

// Close closes the file.
func (p *Part) Close() error {
	if p.temp != nil {
		return p.temp.Discard()
	}
	return p.file.Close()
}

func readOrigin(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOrigin))
	return string(data), err
}

// bootID returns the identifier that Linux gives each boot. It is empty on other systems.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
