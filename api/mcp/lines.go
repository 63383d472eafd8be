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
			for i := range all {
				switch {
				case len(bytes.TrimSpace(line)) == 0:
				case all[i].fault != nil:
					_, _ = fmt.Fprintf(out, "%s\n", all[i].refusal()) // two writes to a file do not mix
				default:
					w.waiting.Add(int64(min(len(all[i].id), 1)))
					_, _ = fmt.Fprintf(pipe, "%s\n", all[i].text)
				}
			}
		}
		for end := time.Now().Add(30 * time.Second); w.waiting.Load() > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}()
	return &mcp.IOTransport{Reader: good, Writer: w}
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
