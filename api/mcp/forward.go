package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// mostRead is the longest answer of a replica that is read.
const mostRead = 64 << 20

// Forward sends the messages on the lines of in to the replica at an address, and writes the
// answers to out.
func Forward(ctx context.Context, base, userAgent string, in io.Reader, out io.Writer) error {
	return answerLines(ctx, in, out, func(m *message) ([]byte, error) { return m.send(ctx, base+Path, userAgent) })
}

// send posts a message. It returns the answer, which a notification does not have.
func (m *message) send(ctx context.Context, to, userAgent string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(m.text))
	if err != nil {
		return nil, err
	}
	m.setHeader(request.Header.Set)
	request.Header.Set("User-Agent", userAgent)
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
		return body, nil
	case answer.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("there is no %s: the replica must be started with serve --mcp", to)
	}
	return nil, fmt.Errorf("%s answers %s: %.300s", to, answer.Status, body)
}
