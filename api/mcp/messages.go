package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// mostMessages is how many messages a batch may have. They share one slot of pages, and hundreds
// would keep people from all pages.
const mostMessages = 8

// message is a message of a client. The library refuses a bad one without its id, and over stdin
// reads no further, so messages are checked before.
type message struct {
	text, id json.RawMessage // id is nil without one
	fault    *jsonrpc.Error
}

// readMessages reads a body or line, which may begin with a byte order mark: a message, or a batch
// of them. What cannot be read is a message with a fault. The revision of the protocol may be "".
func readMessages(text []byte, revision string) (all []message, isBatch bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var parts []json.RawMessage
	if isBatch = json.Unmarshal(text, &parts) == nil; !isBatch {
		parts = []json.RawMessage{text}
	}
	if !json.Valid(text) {
		const want = "want one JSON value: a message, or a batch of them"
		return []message{{fault: &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: want}}}, false
	}
	if n := len(parts); isBatch && (n == 0 || n > mostMessages || revision >= "2025-06-18") {
		const want = "the batch has %d messages; want 1 to %d, and no batch from revision 2025-06-18 on"
		return []message{{fault: invalidf(want, n, mostMessages)}}, false
	}
	for _, part := range parts {
		all = append(all, readMessage(part))
	}
	return all, isBatch
}

// readMessage checks a message.
func readMessage(text json.RawMessage) message {
	var sent struct{ ID json.RawMessage }
	_ = json.Unmarshal(text, &sent) // a fault is found below
	m := message{text: text, id: sent.ID}
	decoded, _ := jsonrpc.DecodeMessage(text)
	if _, isRequest := decoded.(*jsonrpc.Request); !isRequest { // nothing is asked that has a response
		m.fault = invalidf("this is no request or notification of JSON-RPC 2.0")
	}
	n, err := strconv.ParseFloat(string(m.id), 64)
	if isWhole := err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53; m.id != nil && m.id[0] != '"' && !isWhole {
		m.fault = invalidf("the id is %s; want a text, or a whole number below 2^53", m.id) // others are changed
	}
	if name := repeated(json.NewDecoder(bytes.NewReader(text)), 2); name != "" { // below that, the tool refuses it
		m.fault = invalidf("%q is there twice; want each name once", name)
	}
	return m
}

func invalidf(format string, arguments ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf(format, arguments...)}
}

// refusal is the answer to a message with a fault.
func (m *message) refusal() []byte {
	return visible(marshal(map[string]any{"jsonrpc": "2.0", "id": m.id, "error": m.fault}))
}

// repeated is a name that an object has twice, down to a depth; empty without one. Of its values
// the last would count, without a word.
func repeated(d *json.Decoder, depth int) string {
	if depth == 0 {
		_ = d.Decode(new(json.RawMessage))
		return ""
	}
	opening, _ := d.Token()
	if opening != json.Delim('{') && opening != json.Delim('[') {
		return ""
	}
	seen := map[any]bool{}
	for d.More() {
		if opening == json.Delim('{') {
			name, _ := d.Token()
			if seen[name] {
				return name.(string)
			}
			seen[name] = true
		}
		if name := repeated(d, depth-1); name != "" {
			return name
		}
	}
	_, _ = d.Token()
	return ""
}
