package fetch

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// A download in parts leaves two files behind when its process ends early: what came of the body, and under the same name with .of which file
// on the server that is a part of. Without a strong validator there is no such thing, and the next process begins at the first byte; so it
// does after the machine has started anew, since bytes that were never written to the disk may be missing then.

const (
	ofSuffix = ".of"
	maxOf    = 8 << 10
)

// downloadInParts is Download with a part that outlives the process.
func (c *Client) downloadInParts(ctx context.Context, q Request, path string) (Result, error) {
	file, err := os.OpenFile(q.Part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return Result{}, fmt.Errorf("fetch %s: %w", q.URL, err)
	}
	defer file.Close()
	d := &download{client: c, q: q, file: file, sha: sha256.New(), md5: md5.New()}
	d.mark = d.markPart
	if err := d.takeUp(); err != nil {
		return Result{}, fmt.Errorf("fetch %s: %w", q.URL, err)
	}
	result, err := c.run(ctx, d)
	if err != nil {
		if d.validator == "" || d.written == 0 {
			err = errors.Join(err, DropPart(q.Part)) // nothing that could be gone on with
		}
		return result, err
	}
	if result.NotModified {
		return result, DropPart(q.Part)
	}
	if err := errors.Join(file.Sync(), os.Rename(q.Part, path), DropPart(q.Part)); err != nil {
		return Result{}, fmt.Errorf("fetch %s: %w", q.URL, err)
	}
	return result, nil
}

// takeUp reads what an earlier process left.
func (d *download) takeUp() error {
	text, err := readOf(d.q.Part + ofSuffix)
	if err != nil {
		return err
	}
	validator, rest, _ := strings.Cut(text, "\n")
	if boot := bootID(); boot != "" && rest == boot+"\n"+d.q.URL && strings.HasPrefix(validator, `"`) {
		if d.written, err = io.Copy(io.MultiWriter(d.sha, d.md5), d.file); err != nil {
			return err
		}
		d.validator = validator
	}
	if d.written > 0 && d.written <= d.client.options.MaxBytes && (d.q.Size == 0 || d.written < d.q.Size) {
		d.received(d.written)
		return nil
	}
	d.written = 0
	return d.restart(nil).err
}

// markPart writes down which file the bytes to come are of, before the first of them is.
func (d *download) markPart(validator string) error {
	boot, name := bootID(), d.q.Part+ofSuffix
	text := validator + "\n" + boot + "\n" + d.q.URL
	if validator == "" || boot == "" || len(text) >= maxOf {
		return removeIfThere(name)
	}
	if had, err := readOf(name); err == nil && had == text {
		return nil
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

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

// DropPart removes what a download in parts left behind.
func DropPart(part string) error {
	return errors.Join(removeIfThere(part), removeIfThere(part+ofSuffix))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
