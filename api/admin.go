package api

import (
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/metrics"
)

// readiness is the body of /readyz.
type readiness struct {
	Ready        bool           `json:"ready"`
	Reason       string         `json:"reason,omitempty"` // why it is not ready
	Draining     bool           `json:"draining"`
	Snapshot     string         `json:"snapshot,omitempty"`
	SnapshotTime string         `json:"snapshot_time,omitempty"`
	AgeSeconds   int64          `json:"age_seconds"`
	Format       int            `json:"format,omitempty"`
	Schema       string         `json:"schema"`
	Interface    string         `json:"interface"`
	Rows         map[string]int `json:"rows,omitempty"`
	Missing      []string       `json:"missing"`
	Refused      []string       `json:"refused"` // tables whose segment may be damaged
	Unidentified int64          `json:"requests_without_identifier"`
	Panics       int64          `json:"panics"`
}

// Look is a look at the store for another snapshot.
type Look struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // of a failure
}

// Looked notes the last look at the store, for /readyz.
func (s *Server) Looked(l Look) { s.looked.Store(&l) }

// handleAdmin answers requests of the admin listener.
func (s *Server) handleAdmin(ctx *fasthttp.RequestCtx) {
	defer s.recovered(ctx)
	if s.refuseMalformed(ctx) {
		return
	}
	faultHead.begin(ctx)
	path := string(ctx.Path())
	switch {
	case path != "/healthz" && path != "/readyz" && path != "/metrics":
		s.answerFault(ctx, fasthttp.StatusNotFound, bodyNotFound)
	case !ctx.IsGet() && !ctx.IsHead():
		s.answerFault(ctx, fasthttp.StatusMethodNotAllowed, bodyMethodNotAllowed)
		ctx.Response.Header.Set("Allow", "GET, HEAD")
	case path == "/healthz":
		ctx.Response.Header.SetContentType("text/plain; charset=utf-8")
		ctx.SetBodyString("ok\n")
	case path == "/metrics":
		s.scrape(ctx)
	default:
		s.answerReadiness(ctx)
	}
}

// answerReadiness answers whether this replica should get traffic: it serves a snapshot and is not
// about to end. The age of the data is not a criterion, since all replicas would become unready at
// once.
func (s *Server) answerReadiness(ctx *fasthttp.RequestCtx) {
	r := readiness{
		Draining: s.draining.Load(), Schema: contract.SchemaVersion, Interface: contract.InterfaceVersion,
		Missing: []string{}, Refused: []string{}, Unidentified: s.unidentified(), Panics: s.panics.Load(),
	}
	if served := s.acquire(); served != nil {
		manifest := served.bound.snap.Manifest
		r.Snapshot, r.Format = manifest.ID, manifest.Format
		r.SnapshotTime = manifest.SnapshotTime.UTC().Format(time.RFC3339)
		r.AgeSeconds = max(0, int64(time.Since(manifest.SnapshotTime).Seconds()))
		r.Rows = served.bound.tableRows()
		r.Missing = append(r.Missing, served.bound.Missing()...)
		r.Refused = append(r.Refused, served.bound.refusedTables()...)
		served.release(s.log)
	}
	r.Reason = s.notReady(r.Snapshot)
	r.Ready = r.Reason == ""
	body, err := json.Marshal(r)
	if err != nil {
		s.answerError(ctx, err)
		return
	}
	if !r.Ready {
		ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
	}
	ctx.Response.Header.SetContentType(contract.JSONType)
	ctx.SetBody(append(body, '\n'))
}

// unidentified returns how many requests had no good identifier.
func (s *Server) unidentified() int64 {
	return s.requests.Identifiers(metrics.Missing) + s.requests.Identifiers(metrics.Invalid)
}

// notReady returns why this replica should not get traffic, empty if it should.
func (s *Server) notReady(snapshot string) string {
	starting := s.starting.Load()
	switch {
	case s.draining.Load():
		return "shutting down"
	case starting != nil && *starting != "":
		return *starting
	case snapshot == "":
		return "no snapshot is loaded yet"
	}
	return ""
}
