package fetch

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

// ErrDisk marks a file that could not be written here. It says nothing of the server, and asking that again does not help.
var ErrDisk = errors.New("cannot keep what was received")

// Part is a file in which the bytes of a body are gathered and summed up.
//
// One that OpenPart made leaves two files behind when its process ends early: what came of the body, and under the same name with .of which file
// on the server that is a part of. Without a strong validator there is no such thing, and the next process begins at the first byte; so it
// does after the machine has started anew, since bytes that were never written to the disk may be missing then.
type Part struct {
	Written   int64  // bytes so far
	Validator string // strong ETag of the file that they are of; "" when they cannot be gone on with

	file     *os.File
	sha, md5 hash.Hash
	address  string // of the file on the server; "" for a part that goes with its process
}

const (
	ofSuffix = ".of"
	maxOf    = 8 << 10
)

// NewPart makes a part of an open and empty file.
func NewPart(file *os.File) *Part { return &Part{file: file, sha: sha256.New(), md5: md5.New()} }

// OpenPart opens a part of the file at an address, and takes up what an earlier process left of it, if that is no more than most bytes and less than
// size, where that is known and not 0. With an empty address nothing is taken up, and nothing is left. It has to be closed.
//
// This is why a part is not an atomicfile.File: its name must be known to the next process, and Sweep must not remove it.
func OpenPart(name, address string, most, size int64) (*Part, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, onDisk(err)
	}
	p := NewPart(file)
	p.address = address
	below := most + 1
	if size > 0 {
		below = min(below, size)
	}
	if err := p.takeUp(below); err != nil {
		return nil, errors.Join(onDisk(err), p.Discard(), file.Close())
	}
	return p, nil
}

func (p *Part) takeUp(below int64) error {
	text, err := readOf(p.file.Name() + ofSuffix)
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

// Begin writes down which file the bytes to come are of, before the first of them is. Only a strong validator is one.
func (p *Part) Begin(etag string) error {
	p.Validator = ""
	if strings.HasPrefix(etag, `"`) {
		p.Validator = etag
	}
	if p.address == "" {
		return nil
	}
	if err := p.mark(); err != nil {
		return onDisk(err)
	}
	return nil
}

func (p *Part) mark() error {
	boot, name := bootID(), p.file.Name()+ofSuffix
	text := p.Validator + "\n" + boot + "\n" + p.address
	if p.Validator == "" || boot == "" || len(text) >= maxOf {
		return removeIfThere(name)
	}
	if had, err := readOf(name); err == nil && had == text {
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

// Restart forgets what was written, so that the next byte is the first one.
func (p *Part) Restart() error {
	p.Written, p.Validator = 0, ""
	p.sha.Reset()
	p.md5.Reset()
	_, err := p.file.Seek(0, io.SeekStart)
	if err := errors.Join(err, p.file.Truncate(0)); err != nil {
		return onDisk(err)
	}
	return nil
}

// onDisk marks an error of this machine's file system.
func onDisk(err error) error {
	if errors.Is(err, ErrDisk) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDisk, err)
}

// SHA256 is the digest of what was written, in hexadecimal digits.
func (p *Part) SHA256() string { return hex.EncodeToString(p.sha.Sum(nil)) }

// MD5 is SHA256 with that digest.
func (p *Part) MD5() string { return hex.EncodeToString(p.md5.Sum(nil)) }

// Keep gives the whole file its name, once it is on the disk. On an error there is no such file, nor a part of it.
func (p *Part) Keep(path string) error {
	err := atomicfile.Rename(p.file, path)
	if _, statErr := os.Stat(p.file.Name()); err != nil && errors.Is(statErr, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(path)) // renamed, but the directory could not be synced
	}
	if err := errors.Join(err, p.Discard()); err != nil {
		return onDisk(err)
	}
	return nil
}

// Leave is for a body that is not whole, and why: it removes what nobody should go on with, and leaves the rest to another process.
func (p *Part) Leave(why error) error {
	if p.Validator != "" && p.Written > 0 && p.address != "" && !errors.Is(why, ErrDisk) {
		return nil
	}
	return p.Discard()
}

// Discard removes the part and what is known of it.
func (p *Part) Discard() error {
	return errors.Join(removeIfThere(p.file.Name()), removeIfThere(p.file.Name()+ofSuffix))
}

// Close closes the file.
func (p *Part) Close() error { return p.file.Close() }

func readOf(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOf))
	return string(data), err
}

// bootID names the machine's present run, as Linux tells it; elsewhere it is empty.
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
