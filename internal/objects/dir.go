package objects

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"hdqs/internal/atomicfile"
)

// Dir is a directory as a Store. The ETag of a file is the MD5 of its bytes, as that of an object
// that was uploaded in one request. It recognises files that this program wrote; it protects from
// nothing. A condition holds only among callers that share a lock.
type Dir string

// Path is where the directory has an object.
func (d Dir) Path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

// Read implements Store.
func (d Dir) Read(_ context.Context, name, etag string, limit int64) ([]byte, string, error) {
	data, err := ReadFile(d.Path(name), limit)
	if err != nil {
		return nil, "", err
	}
	sum := md5.Sum(data)
	version := hex.EncodeToString(sum[:])
	if version == etag {
		return nil, etag, ErrNotModified
	}
	return data, version, nil
}

// Download implements Store. It copies the file.
func (d Dir) Download(ctx context.Context, q Request, path string) (Result, error) {
	return Receive(path, func(p *Part) (Result, error) {
		in, err := OpenRegular(d.Path(q.Name))
		if err != nil {
			return Result{}, err
		}
		defer in.Close()
		info, err := in.Stat()
		if err != nil {
			return Result{}, err
		}
		from := &copying{ctx, in, q.Received}
		if _, err := io.Copy(p, io.LimitReader(from, info.Size()+1)); err != nil {
			return Result{}, err
		}
		if p.Written != info.Size() {
			return Result{}, fmt.Errorf("%s: %w: it changed while it was read", in.Name(), ErrMismatch)
		}
		return Result{ETag: p.MD5(), NotModified: p.MD5() == q.ETag}, p.Check(q)
	})
}

// copying reads until its context ends, and reports how much.
type copying struct {
	ctx      context.Context
	from     io.Reader
	received func(n int64)
}

// Read implements io.Reader.
func (c *copying) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.from.Read(p)
	if c.received != nil && n > 0 {
		c.received(int64(n))
	}
	return n, err
}

// List implements Store. Files that are removed meanwhile are passed over.
func (d Dir) List(_ context.Context, folder string) (all []Object, err error) {
	absent := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	err = filepath.WalkDir(d.Path(folder), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return absent(err)
		}
		info, err := e.Info()
		if err != nil {
			return absent(err)
		}
		name, err := filepath.Rel(string(d), path)
		all = append(all, Object{Name: filepath.ToSlash(name), Bytes: info.Size(), Modified: info.ModTime()})
		return err
	})
	return all, err
}

// Stat implements Store.
func (d Dir) Stat(_ context.Context, name string) (Object, error) {
	in, err := OpenRegular(d.Path(name))
	if err != nil {
		return Object{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return Object{}, err
	}
	sum := md5.New()
	if _, err := io.Copy(sum, in); err != nil {
		return Object{}, fmt.Errorf("%s: %w", in.Name(), err)
	}
	etag := hex.EncodeToString(sum.Sum(nil))
	return Object{Name: name, Bytes: info.Size(), Modified: info.ModTime(), ETag: etag}, nil
}

// Put implements Store.
func (d Dir) Put(ctx context.Context, name string, body io.Reader, _ int64, only Condition) error {
	if only != (Condition{}) {
		o, err := d.Stat(ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if is := err == nil; is == only.Absent || only.ETag != "" && o.ETag != only.ETag {
			return ErrCondition
		}
	}
	return atomicfile.WriteFrom(d.Path(name), body)
}

// Remove implements Store.
func (d Dir) Remove(_ context.Context, o Object) (bool, error) {
	info, err := os.Stat(d.Path(o.Name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Equal(o.Modified) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, os.Remove(d.Path(o.Name))
}

// Traffic implements Store.
func (Dir) Traffic() Traffic { return Traffic{} }

// ErrIrregular marks a path that is no regular file.
var ErrIrregular = errors.New("is not a regular file")

// OpenRegular opens a regular file for reading and refuses anything else: opening a named pipe
// would wait until something writes to it. O_NONBLOCK is for a pipe that replaces the file between
// the check and the opening.
func OpenRegular(path string) (*os.File, error) {
	if err := CheckRegular(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// CheckRegular refuses what is not a regular file.
func CheckRegular(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w", path, ErrIrregular)
	}
	return nil
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path)
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
		return nil, fmt.Errorf("%s: %w: more than %d bytes", path, ErrTooLarge, limit)
	}
	return data.Bytes(), nil
}
