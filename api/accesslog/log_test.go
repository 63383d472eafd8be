package accesslog

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

func openLog(t *testing.T, o Options) *Log {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	l := testkit.Value(Open(o))(t)
	t.Cleanup(l.Close)
	return l
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text := strings.TrimSuffix(string(testkit.ReadFile(t, path)), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// TestLine checks every field, and that no text can break or forge a line.
func TestLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, Options{Path: path, Share: 1})
	l.Write(&Line{
		ID: []byte("ab12"), Method: []byte("GET"), Endpoint: "sector", Query: []byte("name=a%20b&limit=5"),
		Status: 200, Bytes: 321, Coding: []byte("gzip"), Took: 1234567 * time.Nanosecond, Rows: 5, Total: 19,
		Cache: "hit", App: "0123456789abcdef",
	})
	l.Write(&Line{
		Method: []byte("BR\"EW\n"), Endpoint: "other", Query: []byte("a\"}\n{"), Status: 404, Rows: -1, Total: -1,
	})
	l.Close()
	got := lines(t, path)
	if len(got) != 2 {
		t.Fatalf("%d lines: %q", len(got), got)
	}
	for i, want := range []map[string]any{
		{
			"id": "ab12", "method": "GET", "endpoint": "sector", "query": "name=a%20b&limit=5", "status": 200.0,
			"bytes": 321.0, "coding": "gzip", "dur_us": 1234.0, "rows": 5.0, "total": 19.0, "cache": "hit",
			"app": "0123456789abcdef",
		},
		{"method": "other", "endpoint": "other", "status": 404.0, "bytes": 0.0, "dur_us": 0.0},
	} {
		var line map[string]any
		if err := json.Unmarshal([]byte(got[i]), &line); err != nil {
			t.Fatalf("%q: %v", got[i], err)
		}
		if at, err := time.Parse(time.RFC3339Nano, line["ts"].(string)); err != nil || time.Since(at) > time.Hour {
			t.Errorf("ts %v", line["ts"])
		}
		testkit.Equal(t, len(line), len(want)+1, "fields of line %q", got[i])
		for key, value := range want {
			testkit.Equal(t, line[key], value, "%s", key)
		}
	}
}

// TestShare checks that errors always have a line, and successful requests by their share.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		share       float64
		least, most int
	}{{0, 0, 0}, {0.5, 300, 700}, {1, 1000, 1000}} {
		path := filepath.Join(t.TempDir(), "log")
		l := openLog(t, Options{Path: path, Share: c.share})
		for range 1000 {
			l.Write(&Line{Status: 200})
		}
		l.Write(&Line{Status: 503})
		l.Close()
		got := lines(t, path)
		if n := len(got) - 1; n < c.least || n > c.most || !strings.Contains(got[n], `"status":503`) {
			t.Errorf("share %v: %d of 1000 lines, want %d to %d", c.share, n, c.least, c.most)
		}
	}
}

// TestReopen moves the file away, as log rotation does.
func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := openLog(t, Options{Path: path, Share: 1})
	l.Write(&Line{Status: 200})
	testkit.WaitFor(t, "the first line", func() bool { return len(lines(t, path)) == 1 })
	testkit.Must(t, os.Rename(path, path+".1"))
	l.Reopen()
	testkit.WaitFor(t, "the new file", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	l.Write(&Line{Status: 404})
	l.Close()
	if got := lines(t, path); len(got) != 1 || !strings.Contains(got[0], "404") || len(lines(t, path+".1")) != 1 {
		t.Errorf("the new file has %q", got)
	}
}

// TestDrops fills a pipe that nobody reads: requests are not delayed, and each line is either
// written or counted as dropped.
func TestDrops(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	testkit.Must(t, err)
	defer reader.Close()
	l := &Log{
		options: Options{Share: 1, Logger: slog.New(slog.DiscardHandler)}, threshold: 1 << 32,
		lines: make(chan *[]byte, 10), ended: make(chan struct{}), closed: make(chan struct{}),
	}
	go l.write(writer)
	const sent = 20_000
	for range sent {
		l.Write(&Line{Status: 200, Endpoint: "sector"})
	}
	if l.Dropped() == 0 || l.Dropped() >= sent {
		t.Fatalf("%d of %d lines dropped before anybody has read", l.Dropped(), sent)
	}
	received := make(chan int)
	go func() {
		n, buffer := 0, make([]byte, 1<<16)
		for {
			got, err := reader.Read(buffer)
			n += strings.Count(string(buffer[:got]), "\n")
			if err != nil {
				received <- n
				return
			}
		}
	}()
	testkit.WaitFor(t, "the waiting lines to be written", func() bool { return len(l.lines) == 0 })
	l.Close()
	writer.Close()
	if n := <-received; n+int(l.Dropped()) != sent {
		t.Errorf("%d lines were written and %d dropped, of %d", n, l.Dropped(), sent)
	}
}

// TestWriteErrors checks that lines which cannot be written count as dropped.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	full := testkit.Value(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	l := openLog(t, Options{Path: filepath.Join(t.TempDir(), "log"), Share: 1})
	if first := []byte("x\n"); true {
		l.writeBatch(full, first, &first)
	}
	testkit.Equal(t, l.Dropped(), 1, "lines dropped")
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, dir} {
		testkit.Fails(Open(Options{Path: path}))(t, errKind, "%s", path)
	}
	if _, err := Open(Options{Path: filepath.Join(dir, "log"), Key: []byte("short")}); err == nil {
		t.Error("a key of 5 bytes is accepted")
	}
}

// TestHash checks that equal applications have equal hashes under one key, and others under
// another.
func TestHash(t *testing.T) {
	t.Parallel()
	name := func(identifier string) string { return strings.Split(identifier, ":")[0] }
	hash := func(key, identifier string) string {
		l := openLog(t, Options{Path: filepath.Join(t.TempDir(), "log"), Key: []byte(key)})
		first := l.Hash([]byte(identifier), name)
		if again := l.Hash([]byte(identifier), name); again != first || len(first) != 2*hashBytes {
			t.Errorf("%s: %s, then %s", identifier, first, again)
		}
		return first
	}
	const key, other = "0123456789abcdef", "0123456789abcdeX"
	a := hash(key, "my-app:me@example.org")
	if a != hash(key, "my-app:you@example.org") || a == hash(key, "my-apq:me@example.org") ||
		a == hash(other, "my-app:me@example.org") {
		t.Error("the hash is not one of the application and the key")
	}
	long := strings.Repeat("a", maxKnown+1)
	testkit.Equal(t, hash(key, long), hash(key, long), "the hash of a long identifier changes")
}
