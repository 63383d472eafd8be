package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"hdqs/api/contract"
)

// Asker answers GET requests of the interface in the contract's names.
type Asker interface {
	// Ask answers path and query as they stand on a request line.
	Ask(ctx context.Context, target string, header http.Header) (*Reply, error)
}

// Reply is an answer of the interface.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// identifier names this package to the interface.
var identifier, _ = contract.EncodeIdentifier("hdqs-mcp", "mcp@example.org")

// call is one call of a tool. All its questions are about one snapshot.
type call struct {
	*Server
	context.Context
	args     arguments
	snapshot string
}

// ask asks for a path below the mount and reads the body. Unknown parameters are refused: a filter
// that is ignored gives rows that nobody has asked for. An error is *refusal where the caller can
// do something about it.
func (c *call) ask(path string, params url.Values, into any) (*Reply, error) {
	pinned := url.Values{}
	for name, values := range params {
		pinned[name] = values
	}
	if c.snapshot != "" {
		pinned.Set(contract.SnapshotParam, c.snapshot)
	}
	header := http.Header{}
	header.Set(contract.ContractNames.IdentifierHeader(), identifier)
	header.Set("Prefer", "handling=strict")
	r, err := c.asker.Ask(c.Context, targetOf(c.prefix+path, pinned), header)
	if err != nil {
		return nil, err
	}
	if r.Status != http.StatusOK {
		return nil, c.refused(r)
	}
	c.snapshot = cmp.Or(c.snapshot, r.Header.Get(contract.HeaderSnapshot))
	if err := json.Unmarshal(r.Body, into); err != nil {
		return nil, errors.New("the answer of " + path + " is no JSON")
	}
	return r, nil
}

// targetOf is a path with a query.
func targetOf(path string, params url.Values) string {
	if len(params) == 0 {
		return path
	}
	return path + "?" + params.Encode()
}

// address is the request that gives an answer, whole where the address of the service is known.
func (c *call) address(path string, params url.Values) string {
	return BaseOf(c.Context) + targetOf(c.prefix+path, params)
}

type baseKey struct{}

// WithBase is a context of calls whose answers name the service by an address.
func WithBase(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}

// BaseOf is the address of the service, empty if it is not known.
func BaseOf(ctx context.Context) string {
	base, _ := ctx.Value(baseKey{}).(string)
	return base
}

// records are the bodies of lists, and of what is computed of them.
type records struct {
	Data []json.RawMessage `json:"data"`
}

// Remote asks a replica over HTTP.
type Remote struct {
	Base      string // its address without a slash at the end
	Client    *http.Client
	UserAgent string
}

// Ask implements Asker.
func (r *Remote) Ask(ctx context.Context, target string, header http.Header) (*Reply, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Base+target, nil)
	if err != nil {
		return nil, err
	}
	request.Header = header
	request.Header.Set("User-Agent", r.UserAgent)
	answer, err := r.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := readAll(answer.Body)
	return &Reply{answer.StatusCode, answer.Header, body}, err
}

// Prefix finds where a replica has the contract's names: at the root, or below a prefix if the root
// has others.
func (r *Remote) Prefix(ctx context.Context) (string, error) {
	for _, prefix := range []string{contract.ContractPrefix, ""} {
		a, err := r.Ask(ctx, prefix+sourcesPath+"?list=location", http.Header{})
		if err != nil {
			return "", err
		}
		if a.Status == http.StatusOK && strings.HasPrefix(a.Header.Get("Content-Type"), contract.JSONType) {
			return prefix, nil
		}
	}
	return "", errors.New(r.Base + " has no " + sourcesPath + ": is it a replica of this version?")
}
