package testkit

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
)

// TestChangeCSV: cells are changed and records left out by the names in the header, and texts that
// need quotes keep their bytes.
func TestChangeCSV(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "below", "a.csv")
	WriteFile(t, path, []byte("name,n\n\"a, \"\"b\"\"\",1\nc,2\nd,3\n"))
	ChangeCSV(t, path, func(cell func(name string) *string) bool {
		*cell("n") += "0"
		return *cell("name") != "c"
	})
	if got := string(ReadFile(t, path)); got != "name,n\n\"a, \"\"b\"\"\",10\nd,30\n" {
		t.Errorf("%q", got)
	}
}

// TestCases: empty lines and comments are no cases, and the last part of one may have separators.
func TestCases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cases.txt")
	WriteFile(t, path, []byte("# a | comment\n\na | b\r\n | # | c"))
	if got := Cases(t, path, " | ", 2); !reflect.DeepEqual(got, [][]string{{"a", "b"}, {"", "# | c"}}) {
		t.Errorf("%q", got)
	}
}

// TestReplaceFile: who has the old file open goes on to read that.
func TestReplaceFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	WriteFile(t, path, []byte("old"))
	old, err := os.Open(path)
	Must(t, err)
	defer old.Close()
	ReplaceFile(t, path, []byte("new"))
	if text, err := io.ReadAll(old); err != nil || string(text) != "old" {
		t.Errorf("the open file has %q, %v", text, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if Must(t, err); string(ReadFile(t, path)) != "new" || len(files) != 1 {
		t.Errorf("%q, %d files", ReadFile(t, path), len(files))
	}
}

// TestCountReads counts what clients send, not what they get.
func TestCountReads(t *testing.T) {
	t.Parallel()
	var read atomic.Int64
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	l := CountReads(plain, &read)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	Must(t, err)
	defer client.Close()
	server, err := l.Accept()
	Must(t, err)
	defer server.Close()
	_, err = io.WriteString(client, "12345")
	Must(t, err)
	buffer := make([]byte, 5)
	_, err = io.ReadFull(server, buffer)
	Must(t, err)
	_, err = io.WriteString(server, "123456789")
	Must(t, err)
	Must(t, server.(interface{ CloseWrite() error }).CloseWrite())
	if answer, err := io.ReadAll(client); err != nil || len(answer) != 9 || read.Load() != 5 {
		t.Errorf("%d bytes sent, %d counted, %v", len(answer), read.Load(), err)
	}
	l.Close()
	if _, err := l.Accept(); err == nil {
		t.Error("a closed listener accepts")
	}
}

// TestReadArrowRefuses: a stream that is cut off, or has a length that leads out of it, is an
// error.
func TestReadArrowRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "ARROW1", "\xff\xff\xff\xff", "\xff\xff\xff\xff\x08\x00\x00\x00abc"} {
		if table, err := ReadArrow([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, table)
		}
	}
}
