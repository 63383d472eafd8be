package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// client sends requests over one connection and discards the bodies. It uses little CPU, because it
// shares the machine with the server.
type client struct {
	address string
	conn    net.Conn
	in      *bufio.Reader
}

// reply is the status and length of an answer.
type reply struct {
	status int
	bytes  int64 // of the body, as sent
}

const answerTimeout = 60 * time.Second

// request returns the bytes of a request.
func request(host string, a ask, encoding string, headers ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: hdqs-bench\r\n", a.method, a.target, host)
	if a.accept != "" {
		fmt.Fprintf(&b, "Accept: %s\r\n", a.accept)
	}
	if a.body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(a.body))
	}
	if encoding != Identity {
		fmt.Fprintf(&b, "Accept-Encoding: %s\r\n", encoding)
	}
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n")
	b.WriteString(a.body)
	return b.Bytes()
}

// do sends a request and reads the whole answer, over the existing connection if it is still open.
func (c *client) do(request []byte) (reply, error) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.address, 5*time.Second)
		if err != nil {
			return reply{}, err
		}
		c.conn = conn
		if c.in == nil {
			c.in = bufio.NewReaderSize(conn, 1<<17)
		}
		c.in.Reset(conn)
	}
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return reply{}, c.drop(err)
	}
	if _, err := c.conn.Write(request); err != nil {
		return reply{}, c.drop(err)
	}
	r, last, err := c.read()
	if err != nil {
		return r, c.drop(err)
	}
	if last {
		return r, c.drop(nil)
	}
	return r, nil
}

// drop closes the connection. The next request opens another.
func (c *client) drop(err error) error {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	return err
}

// read reads an answer. last reports that the server will close the connection.
func (c *client) read() (r reply, last bool, err error) {
	head, err := c.in.ReadSlice('\n')
	if err != nil {
		return r, true, err
	}
	if len(head) < len("HTTP/1.1 200") || !bytes.HasPrefix(head, []byte("HTTP/1.")) {
		return r, true, fmt.Errorf("load: not an HTTP response: %q", head)
	}
	if r.status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return r, true, fmt.Errorf("load: status line %q", head)
	}
	length, chunked := int64(-1), false
	for {
		h, err := c.in.ReadSlice('\n')
		if err != nil {
			return r, true, err
		}
		if len(h) <= 2 {
			break
		}
		name, value, _ := bytes.Cut(bytes.TrimRight(h, "\r\n"), []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case is(name, "content-length"):
			if length, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return r, true, fmt.Errorf("load: content-length %q", value)
			}
		case is(name, "transfer-encoding"):
			chunked = is(value, "chunked")
		case is(name, "connection"):
			last = is(value, "close")
		}
	}
	switch {
	case r.status == 304 || r.status == 204:
	case chunked:
		if r.bytes, err = io.Copy(io.Discard, httputil.NewChunkedReader(c.in)); err == nil {
			_, err = c.in.ReadSlice('\n') // the line that ends the last chunk
		}
	case length >= 0:
		for r.bytes < length && err == nil {
			var n int
			n, err = c.in.Discard(int(min(length-r.bytes, 1<<20)))
			r.bytes += int64(n)
		}
	default:
		last = true
		r.bytes, err = io.Copy(io.Discard, c.in)
	}
	return r, last, err
}

func is(text []byte, lower string) bool {
	return len(text) == len(lower) && bytes.EqualFold(text, []byte(lower))
}
