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

// noSize is the size of a frame without that field, which short frames may leave out.
const noSize = -1

// zstdBlocks checks that a body is exactly one zstd frame (RFC 8878, 3.1.1), and returns its
// content size field and its number of blocks. It does not decode them.
func zstdBlocks(body []byte) (size, blocks int, err error) {
	if len(body) < 6 || endian.LittleEndian.Uint32(body) != 0xFD2FB528 {
		return 0, 0, errors.New("no zstd frame")
	}
	descriptor := body[4]
	single, checksum, dictionary := descriptor>>5&1, descriptor>>2&1, descriptor&3
	at := 5 + 1 - int(single) + []int{0, 1, 2, 4}[dictionary]
	width := []int{int(single), 2, 4, 8}[descriptor>>6]
	if at+width > len(body) {
		return 0, 0, errors.New("the header is truncated")
	}
	var field [8]byte
	copy(field[:], body[at:at+width])
	size = int(endian.LittleEndian.Uint64(field[:]))
	switch width {
	case 0:
		size = noSize
	case 2:
		size += 256
	}
	for at += width; ; blocks++ {
		if at+3 > len(body) {
			return 0, 0, fmt.Errorf("block %d is truncated", blocks)
		}
		head := int(body[at]) | int(body[at+1])<<8 | int(body[at+2])<<16
		last, kind, length := head&1, head>>1&3, head>>3
		if kind == 1 { // one repeated byte
			length = 1
		}
		if at += 3 + length; last == 0 {
			continue
		}
		if at += 4 * int(checksum); at != len(body) {
			return 0, 0, fmt.Errorf("%d bytes after the %d of the frame", len(body)-at, at)
		}
		return size, blocks + 1, nil
	}
}
