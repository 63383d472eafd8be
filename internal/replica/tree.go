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
	// Has tells whether a file is there with the size and, as far as that is known, the content of the one at path.
	Has(ctx context.Context, name, path string) (bool, error)
	// Put writes a file, replacing an older one.
	Put(ctx context.Context, name, path string) error
}

// Copied is what CopyTree did.
type Copied struct {
	Files int   `json:"files"` // of the tree
	Sent  int   `json:"sent"`  // of those, written
	Bytes int64 `json:"bytes"` // of those
}

// CopyTree copies the files of a directory that a target lacks, and last the file that names the others. What the target has beyond them stays: a
// reader may be busy with it.
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

// Has compares digests.
func (d DirTarget) Has(_ context.Context, name, file string) (bool, error) {
	have, err := digest(d.path(name))
	if err != nil {
		return false, nil // absent or unreadable: it is written
	}
	want, err := digest(file)
	return have == want, err
}

func (d DirTarget) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// Put copies the file under a temporary name first.
func (d DirTarget) Put(_ context.Context, name, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.WriteFrom(d.path(name), in)
}

// Tree is the remote store's address as a Target, whatever is below it.
func (r *Remote) Tree() Target { return &remoteTree{remote: r} }

// remoteTree compares files with a listing, which it asks for once.
type remoteTree struct {
	remote *Remote
	there  map[string]entry
}

// Has compares sizes and MD5 digests, which are the ETags of objects that were put whole. Where a service has other ETags, files are sent again.
func (t *remoteTree) Has(ctx context.Context, name, file string) (bool, error) {
	if t.there == nil {
		entries, err := t.remote.objects.list(ctx, "")
		if err != nil {
			return false, t.remote.in("", err)
		}
		t.there = map[string]entry{}
		for _, e := range entries {
			t.there[e.Name] = e
		}
	}
	e, ok := t.there[path.Clean(name)]
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

// Put sends the file.
func (t *remoteTree) Put(ctx context.Context, name, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := t.remote.objects.put(ctx, name, in, info.Size(), condition{}); err != nil {
		return t.remote.in(name, err)
	}
	return nil
}

// digest is an MD5: it tells copies of what we have written ourselves, and guards nothing.
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
