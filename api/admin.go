package api

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/pprofhandler"

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
	PublishedAt  *time.Time     `json:"published_at,omitempty"`
	AgeSeconds   int64          `json:"age_seconds"`
	Format       int            `json:"format,omitempty"`
	Schema       string         `json:"schema"`
	Interface    string         `json:"interface"`
	Rows         map[string]int `json:"rows,omitempty"`
	Missing      []string       `json:"missing"`
	Refused      []string       `json:"refused"`       // tables whose segment may be damaged
	Stale        []staleSource  `json:"stale_sources"` // tables for which loads keep an older form
	LastLook     *Look          `json:"last_look"`     // at the store; null before the first has ended
	Unidentified int64          `json:"requests_without_identifier"`
	Panics       int64          `json:"panics"`
}

type staleSource struct {
	Table string    `json:"table"`
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
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
	answer := adminPaths[path]
	if s.options.Pprof && strings.HasPrefix(path, pprofPath) {
		answer = answerProfile
	}
	switch {
	case answer == nil:
		s.answerFault(ctx, fasthttp.StatusNotFound, bodyNotFound)
	case !ctx.IsGet() && !ctx.IsHead():
		s.answerFault(ctx, fasthttp.StatusMethodNotAllowed, bodyMethodNotAllowed)
		ctx.Response.Header.Set("Allow", "GET, HEAD")
	default:
		answer(s, ctx)
	}
}

// adminPaths are the paths of the admin listener, besides those of profiles.
var adminPaths = map[string]func(*Server, *fasthttp.RequestCtx){
	"/": (*Server).answerIndex, "/healthz": answerAlive, "/readyz": (*Server).answerReadiness,
	"/metrics": (*Server).scrape,
}

func answerAlive(_ *Server, ctx *fasthttp.RequestCtx) {
	ctx.Response.Header.SetContentType("text/plain; charset=utf-8")
	ctx.SetBodyString("ok\n")
}

// pprofPath begins the paths of Go's profiles.
const pprofPath = "/debug/pprof/"

func answerProfile(_ *Server, ctx *fasthttp.RequestCtx) {
	if string(ctx.Path()) == pprofPath {
		ctx.URI().SetPath(strings.TrimRight(pprofPath, "/")) // where the library has its index
	}
	pprofhandler.PprofHandler(ctx)
}

// answerIndex lists what the admin listener has.
func (s *Server) answerIndex(ctx *fasthttp.RequestCtx) {
	profiles := "off; --admin-pprof turns them on"
	if s.options.Pprof {
		profiles = "CPU, memory and goroutines of the process"
	}
	ctx.Response.Header.SetContentType(htmlType)
	ctx.SetBodyString(`<!doctype html><html lang="en"><meta charset="utf-8"><title>hdqs admin</title>
<h1>hdqs admin</h1>
<p>Keep this listener private.</p>
<dl>
<dt><a href="/healthz">/healthz</a><dd>200 while the process runs
<dt><a href="/readyz">/readyz</a><dd>200 when this replica should get traffic, else 503;
JSON with the snapshot, its age, its tables, stale sources and the last look at the store
<dt><a href="/metrics">/metrics</a><dd>metrics for Prometheus
<dt><a href="/debug/pprof/">/debug/pprof/</a><dd>profiles: ` + profiles + `
</dl>
`)
}

// answerReadiness answers whether this replica should get traffic: it serves a snapshot and is not
// about to end. The age of the data is not a criterion, since all replicas would become unready at
// once.
func (s *Server) answerReadiness(ctx *fasthttp.RequestCtx) {
	v := s.acquire()
	r := s.readinessOf(v)
	if v != nil {
		v.release(s.log)
	}
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

// readinessOf is the state of the server with a snapshot, nil for none.
func (s *Server) readinessOf(v *served) readiness {
	r := readiness{
		Draining: s.draining.Load(), Schema: contract.SchemaVersion, Interface: contract.InterfaceVersion,
		Missing: []string{}, Refused: []string{}, Stale: []staleSource{}, LastLook: s.looked.Load(),
		Unidentified: s.unidentified(), Panics: s.panics.Load(),
	}
	if v != nil {
		manifest := v.bound.snap.Manifest
		r.Snapshot, r.Format = manifest.ID, manifest.Format
		r.SnapshotTime = manifest.SnapshotTime.UTC().Format(time.RFC3339)
		r.AgeSeconds = max(0, int64(time.Since(manifest.SnapshotTime).Seconds()))
		r.Rows = v.bound.tableRows()
		r.Missing = append(r.Missing, v.bound.Missing()...)
		r.Refused = append(r.Refused, v.bound.refusedTables()...)
		r.addPublication(v)
	}
	r.Reason = s.notReady(r.Snapshot)
	r.Ready = r.Reason == ""
	return r
}

// addPublication adds what the snapshot does not know itself.
func (r *readiness) addPublication(v *served) {
	if at := v.published(); !at.IsZero() {
		r.PublishedAt = &at
	}
	for _, source := range tableSources(v.bound.snap.Manifest) {
		if !source.StaleSince.IsZero() {
			r.Stale = append(r.Stale, staleSource{source.Table, source.StaleSince, source.StaleWhy})
		}
	}
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
