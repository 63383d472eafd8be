package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/valyala/fasthttp"
)

// longestLine is the longest line that is read.
const longestLine = 1 << 20

// Lines answers the messages on the lines of in as Handler does, and writes the answers to out. The
// library's own reader of lines ends at the first one that is no message, which may be a stray line
// of a log.
func (s *Server) Lines(ctx context.Context, in io.Reader, out io.Writer) error {
	library := s.library(longestLine)
	return answerLines(ctx, in, out, func(m *message) ([]byte, error) {
		var asked fasthttp.RequestCtx
		asked.Request.Header.SetMethod(fasthttp.MethodPost)
		m.setHeader(asked.Request.Header.Set)
		_, body := m.answer(&asked, library, "")
		return body, nil
	})
}

// answerLines reads messages on lines, one after the other, and writes the answers, each on a line:
// also those to the messages of a batch. It returns at the end of in, or of ctx.
func answerLines(ctx context.Context, in io.Reader, out io.Writer, ask func(*message) ([]byte, error)) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
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
				if body := all[i].answerBy(ask); len(body) > 0 && len(bytes.TrimSpace(line)) > 0 {
					_, _ = fmt.Fprintf(out, "%s\n", body)
				}
			}
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answerBy is the answer to a message, empty to a notification.
func (m *message) answerBy(ask func(*message) ([]byte, error)) []byte {
	if m.fault != nil {
		return m.refusal()
	}
	body, err := ask(m)
	switch {
	case m.id == nil:
		return nil
	case err != nil:
		m.fault = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
		return m.refusal()
	}
	return bytes.ReplaceAll(body, []byte("\n"), nil)
}

// setHeader sets the header fields that the message's revision of the protocol asks for.
func (m *message) setHeader(set func(name, value string)) {
	var sent struct {
		Method string
		Params struct {
			Name, URI string
			Meta      struct {
				Revision string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		}
	}
	_ = json.Unmarshal(m.text, &sent) // the library refuses what is wrong
	set("Content-Type", "application/json")
	set("Accept", accepted)
	if revision := sent.Params.Meta.Revision; revision != "" { // earlier ones do without
		set("Mcp-Protocol-Version", revision)
		set("Mcp-Method", sent.Method)
		set("Mcp-Name", cmp.Or(sent.Params.Name, sent.Params.URI))
	}
}
