package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// mostRead is the longest answer of a replica that is read.
const mostRead = 64 << 20

// Forward sends the messages on the lines of in to the replica at an address, one after the other,
// and writes the answers to out, each on a line.
func Forward(ctx context.Context, base, userAgent string, in io.Reader, out io.Writer) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		eachMessage(in, func(m message) {
			body, err := m.text, error(nil)
			if m.fault == nil {
				body, err = m.send(ctx, base+Path, userAgent)
			}
			if err != nil {
				m.fault = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
			}
			if m.fault != nil && (err == nil || m.id != nil) { // a notification has no answer
				body = m.refusal()
			}
			if len(body) > 0 {
				_, _ = fmt.Fprintf(out, "%s\n", body)
			}
		})
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send posts a message with the header fields that its revision of the protocol asks for. It
// returns the answer, which a notification does not have.
func (m *message) send(ctx context.Context, to, userAgent string) ([]byte, error) {
	var sent struct {
		Method string
		Params struct {
			Name, URI string
			Meta      struct {
				Revision string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		}
	}
	_ = json.Unmarshal(m.text, &sent) // the replica refuses what is wrong
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(m.text))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"User-Agent": {userAgent},
	}
	if revision := sent.Params.Meta.Revision; revision != "" { // earlier ones do without
		request.Header.Set("Mcp-Protocol-Version", revision)
		request.Header.Set("Mcp-Method", sent.Method)
		request.Header.Set("Mcp-Name", cmp.Or(sent.Params.Name, sent.Params.URI))
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the replica does not answer: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostRead))
	var read struct{ JSONRPC string }
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer of the replica broke off: %w", err)
	case answer.StatusCode == http.StatusAccepted, json.Unmarshal(body, &read) == nil && read.JSONRPC != "":
		return bytes.ReplaceAll(body, []byte("\n"), nil), nil
	case answer.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("there is no %s: the replica must be started with serve --mcp", to)
	}
	return nil, fmt.Errorf("%s answers %s: %.300s", to, answer.Status, body)
}
