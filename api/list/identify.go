package list

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Identifiers checks the identifiers of requests. It caches valid ones: most callers soon send
// another request, and decoding an identifier costs more than a lookup.
type Identifiers struct {
	state *state.State
	known [256]atomic.Pointer[string] // the last identifier with the hash of the slot
}

// maxKnownIdentifier is the longest identifier that is cached, in bytes.
const maxKnownIdentifier = 256

var identifierSeed = maphash.MakeSeed()

// decode is contract.CheckIdentifier behind the cache.
func (k *Identifiers) decode(value []byte, help string) *contract.Forbidden {
	slot := &k.known[maphash.Bytes(identifierSeed, value)%uint64(len(k.known))]
	if known := slot.Load(); known != nil && *known == string(value) {
		return nil
	}
	fault := contract.CheckIdentifier(value, help)
	if fault == nil && len(value) <= maxKnownIdentifier {
		text := string(value)
		slot.Store(&text)
	}
	return fault
}

// Identify checks the identifier of a request if its path needs one.
func (r *Routes) Identify(ctx *fasthttp.RequestCtx, path string) error {
	m := r.MountOf(path)
	if !contract.NeedsIdentifier(path[len(m.Prefix):], m.Names) {
		return nil
	}
	return r.identifiers.Check(ctx, m, contract.QueryIdentifier(ctx.URI().QueryString()))
}

// Check checks the application identifier in the query, or the one in a header if the
// query has none.
func (k *Identifiers) Check(ctx *fasthttp.RequestCtx, m *Mount, inQuery []byte) error {
	if k.state.Options.Identifier == state.IgnoreIdentifier {
		return nil
	}
	identifier := reply.IdentifierOf(ctx, inQuery)
	fault := k.decode(identifier, m.help)
	switch rec := LogOf(ctx); {
	case fault == nil:
		rec.noteIdentifier(metrics.Valid, identifier)
		return nil
	case len(identifier) == 0:
		rec.noteIdentifier(metrics.Missing, nil)
	default:
		rec.noteIdentifier(metrics.Invalid, nil)
	}
	if k.state.Options.Identifier == state.ObserveIdentifier {
		return nil
	}
	return fault
}
