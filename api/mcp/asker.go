package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"hdqs/api/contract"
)

// Asker answers GET requests of the interface in the contract's names. target is path and query as
// they stand on a request line.
type Asker interface {
	Ask(ctx context.Context, target string, header http.Header) (*Reply, error)
}

// Reply is an answer of the interface.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Remote asks a replica over HTTP.
type Remote struct {
	Base      string // its address without a slash at the end
	UserAgent string
}

// mostRead is the longest answer of a replica elsewhere that is read.
const mostRead = 64 << 20

// Ask implements Asker.
func (r *Remote) Ask(ctx context.Context, target string, header http.Header) (*Reply, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Base+target, nil)
	if err != nil {
		return nil, err
	}
	request.Header = header
	request.Header.Set("User-Agent", r.UserAgent)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostRead))
	return &Reply{answer.StatusCode, answer.Header, body}, err
}

// identifier names this package to the interface.
var identifier, _ = contract.EncodeIdentifier("hdqs-mcp", "mcp@example.org")

// call is one call of a tool. All its questions are about one snapshot.
type call struct {
	*Server
	context.Context
	tool     string
	sent     map[string]any // the arguments
	args     arguments      // the same
	snapshot string
}

// ask asks for a path below the mount and reads the body. Unknown parameters are refused: a filter
// that is ignored gives rows that nobody has asked for. An error is *refusal where the caller can
// do something about it.
func (c *call) ask(path string, params url.Values, into any) (*Reply, error) {
	pinned := maps.Clone(params)
	if c.snapshot != "" && pinned != nil {
		pinned.Set(contract.SnapshotParam, c.snapshot)
	}
	header := http.Header{}
	header.Set(contract.ContractNames.IdentifierHeader(), identifier)
	header.Set("Prefer", "handling=strict")
	r, err := c.of.Asker.Ask(c.Context, c.of.Prefix+path+"?"+pinned.Encode(), header)
	if err != nil {
		return nil, err
	}
	if r.Status != http.StatusOK {
		return nil, c.refused(r)
	}
	if unknown := r.Header.Get(contract.HeaderUnknown); unknown != "" { // of a cache, which ignores Prefer
		text := "there is no such parameter. " + r.Header.Get(contract.HeaderHint)
		return nil, c.invalid([]issue{{Where: []any{unknown}, Text: text}})
	}
	c.snapshot = cmp.Or(c.snapshot, r.Header.Get(contract.HeaderSnapshot))
	if json.Unmarshal(r.Body, into) != nil {
		return nil, errors.New("the answer of " + path + " is no JSON")
	}
	return r, nil
}

type baseKey struct{}

// address is the request that gives an answer, whole where the address of the service is known.
func (c *call) address(path string, params url.Values) string {
	base, _ := c.Value(baseKey{}).(string)
	return base + strings.TrimSuffix(c.of.Prefix+path+"?"+params.Encode(), "?")
}

// WithBase is a context of calls whose answers name the service by an address.
func WithBase(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}
