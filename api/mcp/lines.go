package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// longestLine is the longest line that is read.
const longestLine = 1 << 20

// Lines is a transport of messages on lines. The library's own ends at the first line that is no
// message, which may be a stray line of a log, and answers no more at the end of the input; this
// one answers all. Of a batch each message is answered on a line of its own.
func Lines(in io.Reader, out *os.File) mcp.Transport {
	good, pipe := io.Pipe()
	w := &lineWriter{File: out}
	go func() {
		defer pipe.Close()
		eachMessage(in, func(m message) {
			if m.fault != nil {
				_, _ = fmt.Fprintf(out, "%s\n", m.refusal()) // two writes to a file do not mix
				return
			}
			w.waiting.Add(int64(min(len(m.id), 1)))
			_, _ = fmt.Fprintf(pipe, "%s\n", m.text)
		})
		for end := time.Now().Add(30 * time.Second); w.waiting.Load() > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}()
	return &mcp.IOTransport{Reader: good, Writer: w}
}

// eachMessage reads messages on lines. Their texts are valid until do returns.
func eachMessage(in io.Reader, do func(message)) {
	r := bufio.NewReaderSize(in, longestLine)
	var err error
	for err == nil {
		var line []byte
		line, err = r.ReadSlice('\n')
		all, _ := readMessages(line, "")
		for errors.Is(err, bufio.ErrBufferFull) {
			all = []message{{fault: invalidf("a line has at most %d bytes", longestLine)}}
			_, err = r.ReadSlice('\n')
		}
		if len(bytes.TrimSpace(line)) > 0 {
			for i := range all {
				do(all[i])
			}
		}
	}
}

// lineWriter counts the calls that wait for an answer, each of which is one Write.
type lineWriter struct {
	*os.File
	waiting atomic.Int64
}

// Write implements io.Writer.
func (w *lineWriter) Write(line []byte) (int, error) {
	defer w.waiting.Add(-1)
	return w.File.Write(line)
}
