package list

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/metrics"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Identified checks the identifier of a request if its path needs one. If the check fails, it
// answers the request and returns false.
func (s *Lists) Identified(ctx *fasthttp.RequestCtx, path string) bool {
	m := s.Routes.MountOf(path)
	if !contract.NeedsIdentifier(path[len(m.Prefix):], m.Names) {
		return true
	}
	err := s.CheckIdentifier(ctx, m, contract.QueryIdentifier(ctx.URI().QueryString()))
	if err != nil {
		s.State.AnswerError(ctx, err)
	}
	return err == nil
}

// CheckIdentifier checks the application identifier in the query, or the one in a header if the
// query has none.
func (s *Lists) CheckIdentifier(ctx *fasthttp.RequestCtx, m *Mount, inQuery []byte) error {
	if s.State.Options.Identifier == state.IgnoreIdentifier {
		return nil
	}
	identifier := reply.IdentifierOf(ctx, inQuery)
	fault := s.known.check(identifier, m.help)
	switch rec := LogOf(ctx); {
	case fault == nil:
		rec.noteIdentifier(metrics.Valid, identifier)
		return nil
	case len(identifier) == 0:
		rec.noteIdentifier(metrics.Missing, nil)
	default:
		rec.noteIdentifier(metrics.Invalid, nil)
	}
	if s.State.Options.Identifier == state.ObserveIdentifier {
		return nil
	}
	return fault
}
