package testkit

import (
	"io"
	"net"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
)

// TestCases: empty lines and comments are no cases, and the last part of one may have separators.
func TestCases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cases.txt")
	WriteFile(t, path, []byte("# a | comment\n\na | b\r\n | # | c"))
	if got := Cases(t, path, " | ", 2); !reflect.DeepEqual(got, [][]string{{"a", "b"}, {"", "# | c"}}) {
		t.Errorf("%q", got)
	}
}

// TestCountReads counts what clients send, not what they get.
func TestCountReads(t *testing.T) {
	t.Parallel()
	var read atomic.Int64
	plain := Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	l := CountReads(plain, &read)
	defer l.Close()
	client := Value(net.Dial("tcp", l.Addr().String()))(t)
	defer client.Close()
	server := Value(l.Accept())(t)
	defer server.Close()
	Value(io.WriteString(client, "12345"))(t)
	buffer := make([]byte, 5)
	Value(io.ReadFull(server, buffer))(t)
	Value(io.WriteString(server, "123456789"))(t)
	Must(t, server.(interface{ CloseWrite() error }).CloseWrite())
	if answer, err := io.ReadAll(client); err != nil || len(answer) != 9 || read.Load() != 5 {
		t.Errorf("%d bytes sent, %d counted, %v", len(answer), read.Load(), err)
	}
	l.Close()
	if _, err := l.Accept(); err == nil {
		t.Error("a closed listener accepts")
	}
}
