package main_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	endian "encoding/binary" // the program under test is called binary
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// wire is a proxy that keeps a copy of what passes and changes nothing.
type wire struct {
	base     string // http://127.0.0.1:port
	listener net.Listener
	copies   sync.WaitGroup
	mu       sync.Mutex
	lines    []*line
}

// line is one connection, with what the client and the server sent.
type line struct {
	client, server  net.Conn
	asked, answered bytes.Buffer
}

// exchange is a request, and its answer as it was transferred.
type exchange struct {
	target, accept string
	header         http.Header
	body           []byte
}

// tap opens a proxy for a server.
func tap(t *testing.T, server string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{base: "http://" + listener.Addr().String(), listener: listener}
	w.copies.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			conn, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				t.Error(err)
				continue
			}
			l := &line{client: client, server: conn}
			w.mu.Lock()
			w.lines = append(w.lines, l)
			w.mu.Unlock()
			w.copies.Go(func() { l.carry(conn, client, &l.asked) })
			w.copies.Go(func() { l.carry(client, conn, &l.answered) })
		}
	})
	t.Cleanup(w.close)
	return w
}

// carry copies from one end to the other until either is closed.
func (l *line) carry(to io.Writer, from io.Reader, kept *bytes.Buffer) {
	_, _ = io.Copy(to, io.TeeReader(from, kept)) // a client may close the connection at any time
	l.client.Close()
	l.server.Close()
}

func (w *wire) close() {
	w.listener.Close()
	w.mu.Lock()
	for _, l := range w.lines {
		l.client.Close()
		l.server.Close()
	}
	w.mu.Unlock()
	w.copies.Wait()
}

// exchanges ends the connections and returns what was transferred.
func (w *wire) exchanges(t *testing.T) []exchange {
	t.Helper()
	w.close()
	var all []exchange
	for _, l := range w.lines {
		asked, answered := bufio.NewReader(&l.asked), bufio.NewReader(&l.answered)
		for {
			request, err := http.ReadRequest(asked)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(answered, request)
			if err != nil {
				t.Fatalf("answer to %s: %v", request.RequestURI, err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != 200 {
				t.Errorf("answer to %s: %d, %v", request.RequestURI, response.StatusCode, err)
			}
			accept := request.Header.Get("Accept-Encoding")
			all = append(all, exchange{request.RequestURI, accept, response.Header, body})
		}
	}
	return all
}

// syncMarker ends a stored block: the length fields of an empty uncompressed DEFLATE block. One in
// four billion positions looks the same by chance.
const syncMarker = "\x00\x00\xff\xff"

// gzipBlocks checks that a body is exactly one gzip member, and returns its text and its number of
// stored blocks.
func gzipBlocks(body []byte) (text []byte, blocks int, err error) {
	const header, trailer = 10, 8
	if len(body) < header+trailer || !bytes.HasPrefix(body, []byte("\x1f\x8b\x08\x00")) {
		return nil, 0, fmt.Errorf("no plain gzip header in %d bytes", len(body))
	}
	in := bytes.NewReader(body[header:])
	if text, err = io.ReadAll(flate.NewReader(in)); err != nil {
		return nil, 0, err
	}
	if in.Len() != trailer {
		return nil, 0, fmt.Errorf("%d bytes after the DEFLATE stream, want %d", in.Len(), trailer)
	}
	end := body[len(body)-trailer:]
	sum, size := endian.LittleEndian.Uint32(end), endian.LittleEndian.Uint32(end[4:])
	if sum != crc32.ChecksumIEEE(text) || size != uint32(len(text)) {
		return nil, 0, fmt.Errorf("trailer: CRC %08x and %d bytes; text: %08x and %d",
			sum, size, crc32.ChecksumIEEE(text), len(text))
	}
	return text, bytes.Count(body, []byte(syncMarker)), nil
}
