package wire

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// connected returns both ends of a connection.
func connected(t *testing.T) (server, client net.Conn) {
	t.Helper()
	l := testkit.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	client = testkit.Value(net.Dial("tcp", l.Addr().String()))(t)
	server = testkit.Value(l.Accept())(t)
	t.Cleanup(func() {
		client.Close()
		server.Close()
	})
	return server, client
}

func openNumbers(t *testing.T, n int) (*os.File, []byte) {
	t.Helper()
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i * 7 / 3)
	}
	path := filepath.Join(t.TempDir(), "file")
	testkit.WriteFile(t, path, data)
	f := testkit.Value(os.Open(path))(t)
	t.Cleanup(func() { f.Close() })
	return f, data
}

// TestChangedFileIsCutOff: nothing more is sent of a file that is written to meanwhile.
func TestChangedFileIsCutOff(t *testing.T) {
	file, data := openNumbers(t, 3*filePart)
	asked := 0
	changed := func() bool { asked++; return asked == 3 }
	var sent bytes.Buffer
	n, err := (&FileBody{File: file, To: int64(len(data)), Changed: changed}).WriteTo(&sent)
	if n != 2*filePart || err == nil || !bytes.Equal(sent.Bytes(), data[:2*filePart]) {
		t.Errorf("sent %d bytes, %v, want %d and an error", n, err, 2*filePart)
	}
}

// TestFilePartsAreSent sends a part through a connection, whose ReadFrom must send all of it
// without a copy on Linux, and what was written before in front of it.
func TestFilePartsAreSent(t *testing.T) {
	server, client := connected(t)
	file, data := openNumbers(t, 5<<20)
	c := NewConnections(Options{Budget: NewBudget(0)}).wrap(server)
	const from, to = 12345, 4<<20 + 17
	header := bytes.Repeat([]byte{'h'}, WriteBuffer)
	go func() {
		defer c.Close()
		if _, err := c.Write(header); err != nil {
			t.Error(err)
		}
		body := &FileBody{File: file, From: from, To: to, Pace: Pace{Timeout: time.Minute, conn: c}}
		n, err := body.WriteTo(c)
		if n != to-from || err != nil {
			t.Errorf("sent %d bytes, %v", n, err)
		}
	}()
	got, err := io.ReadAll(client)
	if err != nil || !bytes.Equal(got, append(header, data[from:to]...)) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
	if runtime.GOOS == "linux" {
		server, client := connected(t)
		go io.Copy(io.Discard, client) //nolint:errcheck // ends with the connection
		if n, err := sendFile(server, &fileReader{file, from}, to-from); n != to-from || err != nil {
			t.Errorf("sendfile sent %d bytes, %v; want %d", n, err, to-from)
		}
	}
}

// TestFileTakesNoDescriptor: while a file is sent, the process has it open once, whoever reads it
// slowly.
func TestFileTakesNoDescriptor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	server, client := connected(t)
	go io.Copy(io.Discard, client) //nolint:errcheck // ends with the connection
	file, data := openNumbers(t, 3*filePart)
	asked := 0
	body := &FileBody{File: file, To: int64(len(data)), Changed: func() bool {
		asked++
		open := 0
		all := testkit.Value(os.ReadDir("/proc/self/fd"))(t)
		for _, e := range all {
			if name, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && name == file.Name() {
				open++
			}
		}
		testkit.Equal(t, open, 1, "open files before part %d", asked)
		return false
	}}
	n, err := body.WriteTo(NewConnections(Options{Budget: NewBudget(0)}).wrap(server))
	if n != int64(len(data)) || err != nil || asked != 3 {
		t.Errorf("sent %d bytes in %d parts, %v", n, asked, err)
	}
}

// TestCutFile checks that a file that is shorter than it was ends the answer with an error, with
// and without a descriptor.
func TestCutFile(t *testing.T) {
	server, client := connected(t)
	go io.Copy(io.Discard, client) //nolint:errcheck // ends with the connection
	file, _ := openNumbers(t, 1000)
	c := NewConnections(Options{Budget: NewBudget(0)}).wrap(server)
	for _, to := range []io.Writer{c, new(bytes.Buffer), struct{ io.Writer }{io.Discard}} {
		body := &FileBody{File: file, From: 100, To: 2000}
		if n, err := body.WriteTo(to); n != 900 || err != io.ErrUnexpectedEOF {
			t.Errorf("%T: sent %d bytes, %v; want 900 and an error", to, n, err)
		}
	}
}
