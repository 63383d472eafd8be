package testkit

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// File is a file of an archive.
type File struct{ Name, Text string }

// Unzip returns the files of a ZIP archive, such as a workbook, in their order.
func Unzip(tb testing.TB, body []byte) (files []File) {
	tb.Helper()
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		tb.Fatalf("%v: %.200s", err, body)
	}
	for _, f := range z.File {
		from, err := f.Open()
		Must(tb, err)
		text, err := io.ReadAll(from)
		Must(tb, err)
		files = append(files, File{f.Name, string(text)})
	}
	return files
}

// ReadWhole reads an answer and checks that the connection ends after it.
func ReadWhole(r *bufio.Reader) (status int, err error) {
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		return 0, fmt.Errorf("after the answer: %.40q, %w", rest, err)
	}
	return response.StatusCode, nil
}

// CountReads wraps a listener and adds the bytes that are read from its TCP connections to read.
func CountReads(l net.Listener, read *atomic.Int64) net.Listener { return countedListener{l, read} }

type countedListener struct {
	net.Listener
	read *atomic.Int64
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{c, l.read}, nil
}

// CloseWrite is that of the TCP connection, which lingering close needs.
func (c countedConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

// Read counts what it reads.
func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}
