package replica

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"hdqs/internal/atomicfile"
)

// Target is where a tree of files is copied to.
type Target interface {
	// Has reports whether the target has the file at path under name. The content is compared as
	// far as the target knows it.
	Has(ctx context.Context, name, path string) (bool, error)
	// Put writes the file at path under name and replaces an older one.
	Put(ctx context.Context, name, path string) error
}

// Copied is what CopyTree did.
type Copied struct {
	Files int   `json:"files"` // of the tree
	Sent  int   `json:"sent"`  // files that were written
	Bytes int64 `json:"bytes"` // of the files that were written
}

// CopyTree copies the files of a directory that a target lacks. The file last, which lists the
// others, is written last. Other files of the target stay, since a reader may be using them.
func CopyTree(ctx context.Context, dir, last string, to Target) (c Copied, err error) {
	var names []string
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if rel = filepath.ToSlash(rel); rel != last {
			names = append(names, rel)
		}
		return err
	})
	if err != nil {
		return c, err
	}
	for _, name := range append(names, last) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		info, err := os.Stat(file)
		if err != nil {
			return c, err
		}
		c.Files++
		there, err := to.Has(ctx, name, file)
		if err != nil {
			return c, err
		}
		if there {
			continue
		}
		if err := to.Put(ctx, name, file); err != nil {
			return c, err
		}
		c.Sent++
		c.Bytes += info.Size()
	}
	return c, nil
}

// DirTarget is a directory as a Target.
type DirTarget string

// Has compares MD5 digests.
func (d DirTarget) Has(_ context.Context, name, file string) (bool, error) {
	have, err := digest(d.path(name))
	if err != nil {
		return false, nil // absent or unreadable, so it is written
	}
	want, err := digest(file)
	return have == want, err
}

func (d DirTarget) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// Put copies the file. An existing one is replaced in one step.
func (d DirTarget) Put(_ context.Context, name, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.WriteFrom(d.path(name), in)
}

// Tree returns the address of the remote store as a Target. What is there need not be a store.
func (r *Remote) Tree() Target { return &remoteTree{remote: r} }

// remoteTree compares files with a listing that it requests once.
type remoteTree struct {
	remote *Remote
	listed map[string]entry // by name; nil before the first request
}

// Has compares sizes and MD5 digests. An object that was uploaded in one request has its MD5 as
// ETag. If a service has other ETags, files are uploaded again.
func (t *remoteTree) Has(ctx context.Context, name, file string) (bool, error) {
	if t.listed == nil {
		entries, err := t.remote.objects.list(ctx, "")
		if err != nil {
			return false, t.remote.wrap("", err)
		}
		t.listed = map[string]entry{}
		for _, e := range entries {
			t.listed[e.Name] = e
		}
	}
	e, ok := t.listed[path.Clean(name)]
	if !ok {
		return false, nil
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() != e.Bytes {
		return false, err
	}
	sum, err := digest(file)
	return sum == e.etag, err
}

// Put uploads the file.
func (t *remoteTree) Put(ctx context.Context, name, file string) error {
	return t.remote.putFile(ctx, name, file)
}

// digest returns the MD5 of a file. It only recognises files that this program wrote; it protects
// from nothing.
func digest(file string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := md5.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
