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

// wire is a way to a server that keeps a copy of what goes over it and changes nothing.
type wire struct {
	base     string // http://127.0.0.1:port
	listener net.Listener
	copies   sync.WaitGroup
	mu       sync.Mutex
	lines    []*line
}

// line is one connection: what the client said and what the server said.
type line struct {
	client, server  net.Conn
	asked, answered bytes.Buffer
}

// exchange is a request of a client, and the answer as it went over the wire.
type exchange struct {
	target, accept string
	header         http.Header
	body           []byte
}

// tap opens a way to a server.
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

// carry copies what from says until either end is closed.
func (l *line) carry(to io.Writer, from io.Reader, kept *bytes.Buffer) {
	_, _ = io.Copy(to, io.TeeReader(from, kept)) // a client may hang up when it likes
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

// exchanges ends the connections and gives what went over them.
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
			all = append(all, exchange{request.RequestURI, request.Header.Get("Accept-Encoding"), response.Header, body})
		}
	}
	return all
}

// syncMarker ends a stored block: a DEFLATE block that is empty and not compressed, behind its three bits. By chance one in four
// billion places looks so.
const syncMarker = "\x00\x00\xff\xff"

// gzipBlocks checks that a body is one gzip member with nothing behind it, and tells its text and how many stored blocks it has.
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
		return nil, 0, fmt.Errorf("%d bytes behind the DEFLATE stream, want %d", in.Len(), trailer)
	}
	end := body[len(body)-trailer:]
	if sum, size := endian.LittleEndian.Uint32(end), endian.LittleEndian.Uint32(end[4:]); sum != crc32.ChecksumIEEE(text) || size != uint32(len(text)) {
		return nil, 0, fmt.Errorf("trailer says CRC %08x and %d bytes, the text has %08x and %d", sum, size, crc32.ChecksumIEEE(text), len(text))
	}
	return text, bytes.Count(body, []byte(syncMarker)), nil
}

// unsaid is the size of a frame that does not say it, as frames of a few bytes need not.
const unsaid = -1

// zstdBlocks checks that a body is one zstd frame with nothing behind it (RFC 8878, 3.1.1), and tells the size that it says and how
// many blocks it has. It does not decode them.
func zstdBlocks(body []byte) (size, blocks int, err error) {
	if len(body) < 6 || endian.LittleEndian.Uint32(body) != 0xFD2FB528 {
		return 0, 0, errors.New("no zstd frame")
	}
	descriptor := body[4]
	single, checksum, dictionary := descriptor>>5&1, descriptor>>2&1, descriptor&3
	at := 5 + 1 - int(single) + []int{0, 1, 2, 4}[dictionary]
	width := []int{int(single), 2, 4, 8}[descriptor>>6]
	if at+width > len(body) {
		return 0, 0, errors.New("the header is cut off")
	}
	var field [8]byte
	copy(field[:], body[at:at+width])
	size = int(endian.LittleEndian.Uint64(field[:]))
	switch width {
	case 0:
		size = unsaid
	case 2:
		size += 256
	}
	for at += width; ; blocks++ {
		if at+3 > len(body) {
			return 0, 0, fmt.Errorf("block %d is cut off", blocks)
		}
		head := int(body[at]) | int(body[at+1])<<8 | int(body[at+2])<<16
		last, kind, length := head&1, head>>1&3, head>>3
		if kind == 1 { // one byte, many times
			length = 1
		}
		if at += 3 + length; last == 0 {
			continue
		}
		if at += 4 * int(checksum); at != len(body) {
			return 0, 0, fmt.Errorf("%d bytes behind the frame's %d", len(body)-at, at)
		}
		return size, blocks + 1, nil
	}
}
