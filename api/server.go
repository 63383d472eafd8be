package api

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"hdqs/api/admin"
	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/files"
	"hdqs/api/list"
	"hdqs/api/metrics"
	"hdqs/api/odata"
	"hdqs/api/ogc"
	"hdqs/api/reply"
	"hdqs/api/site"
	"hdqs/api/state"
	"hdqs/api/wire"
)

// Defaults and limits of the listeners.
const (
	readTimeout  = 5 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 75 * time.Second

	// noLimit disables fasthttp's limit on the connections of the public listener: package wire has
	// a limit of its own.
	noLimit = math.MaxInt32

	// readBuffer holds the longest URI and 16 KiB of header fields.
	readBuffer = maxURI + 16<<10
	maxBody    = 1 << 10
)

// Server answers requests from the snapshot it serves. All methods may be called at any time and
// from any goroutine.
type Server struct {
	State *state.State // what is served
	Lists *list.Lists
	Files *files.Files
	Site  *site.Site

	registry *prometheus.Registry
	admin    *fasthttp.Server
}

// recordSources are the kinds of requests besides those for rows and exports. Each has paths below
// those of the endpoints.
var recordSources = []*list.RecordSource{
	figures.AggregateSource, figures.FacetsSource,
	figures.ChangesSource,
}

// servedKinds returns the kinds of all recordSources, and exports.
func servedKinds() []contract.Kind {
	var kinds []contract.Kind
	for _, c := range recordSources {
		kinds = append(kinds, c.Kind)
	}
	return append(kinds, contract.Export)
}

// New returns a server without a snapshot: until the first Swap, list requests get 503.
func New(o state.Options) *Server {
	l := list.New(state.New(o), servedKinds())
	f := files.New(l)
	s := &Server{State: l.State, Lists: l, Files: f, Site: site.New(l, f.LatestBulk)}
	s.Lists.Routes.RecordSources = append(slices.Clone(recordSources), s.Files.ExportSource())
	s.Lists.Callers = wire.NewConnections(s.connectionLimits())
	s.addRoutes()
	s.registry = metrics.NewRegistry()
	s.State.Requests = metrics.NewRequests(s.registry, s.Lists.Routes.Endpoints, contract.ExportFormatNames())
	waits := metrics.NewWaits(s.registry)
	s.Lists.Admission.Gate.Waits, s.Lists.Admission.Slow.Waits = waits, waits
	s.registry.MustRegister(collector{s})
	s.Lists.Public = s.listener(noLimit, s.handlePublic, func(ctx *fasthttp.RequestCtx, err error) {
		s.answerUnread(ctx, err)
		s.Lists.Requests.CountUnread(ctx)
	})
	s.admin = s.listener(wire.DefaultConnections, adminOf(s), s.answerUnread)
	return s
}

func (s *Server) listener(
	concurrency int, handler fasthttp.RequestHandler, unread func(*fasthttp.RequestCtx, error),
) *fasthttp.Server {
	o := s.State.Options
	return &fasthttp.Server{
		Handler:                      handler,
		ErrorHandler:                 unread,
		HeaderReceived:               s.limitBody,
		ConnState:                    wire.NoteState,
		Logger:                       s.State.Faults,
		SecureErrorLogMessage:        true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		LazyRequestTime:              true,
		ReduceMemoryUsage:            true,
		ReadBufferSize:               readBuffer,
		WriteBufferSize:              wire.WriteBuffer,
		MaxRequestBodySize:           maxBody,
		Concurrency:                  concurrency,
		ReadTimeout:                  cmp.Or(o.ReadTimeout, readTimeout),
		WriteTimeout:                 cmp.Or(o.WriteTimeout, writeTimeout),
		IdleTimeout:                  cmp.Or(o.IdleTimeout, idleTimeout),
	}
}

func (s *Server) connectionLimits() wire.Options {
	return wire.Options{
		Connections: s.State.Options.Connections, PerClient: s.State.Options.ConnectionsPerAddress,
		ReadBuffer: readBuffer,
		MaxBody:    s.mostBody(), Budget: s.State.Budget, Requests: wire.NewBudget(s.State.Shares.Inflight / 2),
		Refuse: s.refuse, Count: s.State.Shed.Add, Logger: s.State.Faults,
	}
}

// handlePublic answers and counts a request of the public listener.
func (s *Server) handlePublic(ctx *fasthttp.RequestCtx) {
	rec := s.Lists.Requests.Begin(ctx)
	s.handle(ctx)
	if s.State.Draining.Load() {
		ctx.SetConnectionClose()
	}
	rec.Answered(ctx)
}

// adminOf answers requests of the admin listener of a server.
func adminOf(s *Server) fasthttp.RequestHandler {
	private := &admin.Admin{
		Ready: s.State.Readiness, Metrics: metrics.Handler(s.registry, s.State.Log), Profiles: s.State.Options.Pprof,
	}
	return func(ctx *fasthttp.RequestCtx) {
		defer s.Lists.Requests.Recovered(ctx)
		if s.Lists.Requests.RefuseMalformed(ctx) {
			return
		}
		if err := private.Answer(ctx); err != nil {
			s.State.AnswerError(ctx, err)
			if errors.Is(err, reply.ErrMethodNotAllowed) {
				ctx.Response.Header.Set("Allow", "GET, HEAD") // pages of others read nothing here
			}
		}
	}
}

// Metrics returns the registry of /metrics, to which the rest of the program adds metrics of its
// own. A collector must not block.
func (s *Server) Metrics() prometheus.Registerer { return s.registry }

// Serve answers public requests of a listener until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	public := s.Lists.Callers.Listen(l)
	defer public.Close() // Shutdown waits for it
	return s.Lists.Public.Serve(public)
}

// ServeInherited is Serve for a socket that another process has opened, such as systemd. Shutdown
// leaves connections that it has not accepted to the next process that gets the socket.
func (s *Server) ServeInherited(l net.Listener) error { return s.Serve(wire.Inherited{Listener: l}) }

// ServeAdmin answers /healthz, /readyz and /metrics on a second listener, which should not be
// public.
func (s *Server) ServeAdmin(l net.Listener) error {
	return s.admin.Serve(wire.Patient{Listener: l, Logger: s.State.Faults})
}

// Starting makes /readyz fail with a reason until it is called with an empty one. The caller does
// so once the public listener is open.
func (s *Server) Starting(reason string) { s.State.Step.Store(&reason) }

// Drain makes /readyz fail, so that no new traffic comes. Requests are still answered, but each
// connection is closed after its next answer, which announces that.
func (s *Server) Drain() { s.State.Draining.Store(true) }

// Shutdown stops both listeners, waits for running requests until ctx ends, and releases the
// snapshots. Requests that have arrived, or arrive within the next tenth of a second on open
// connections, are answered.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	s.Lists.Callers.End(ctx)
	err := errors.Join(s.Lists.Public.ShutdownWithContext(ctx), s.admin.ShutdownWithContext(ctx))
	if old := s.State.Snapshots.Current.Swap(nil); old != nil {
		old.Release(s.State.Log)
	}
	s.State.Snapshots.Retained.Close(s.State.Log)
	return err
}

// refuse answers a connection over a limit.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, rule string) {
	defer s.Lists.Requests.CountUnread(ctx)
	defer s.Lists.Requests.Recovered(ctx)
	s.State.AnswerError(ctx, &reply.Busy{Rule: rule})
}

// unread are the errors of requests that could not be read.
var unread = map[int]error{
	fasthttp.StatusBadRequest:                  reply.ErrBadRequest,
	fasthttp.StatusRequestTimeout:              reply.ErrTimeout,
	fasthttp.StatusRequestEntityTooLarge:       reply.ErrTooLarge,
	fasthttp.StatusRequestURITooLong:           reply.ErrURITooLong,
	fasthttp.StatusRequestHeaderFieldsTooLarge: reply.ErrHeadersTooLarge,
	fasthttp.StatusServiceUnavailable:          &reply.Busy{Rule: wire.RuleRequests},
}

// answerUnread answers a request that could not be read to its end, and closes its connection.
func (s *Server) answerUnread(ctx *fasthttp.RequestCtx, err error) {
	defer s.Lists.Requests.Recovered(ctx)
	s.State.AnswerError(ctx, unread[wire.UnreadStatus(ctx, err)])
	wire.CutShort(ctx.Conn())
	ctx.Response.SkipBody = wire.IsHead(ctx)
}

// surfaces are all that the public listener answers.
func (s *Server) surfaces() []list.Surface {
	all := []list.Surface{
		{Add: s.addLists},
		{Add: s.Site.AddPages},
		{Add: s.Files.AddBulk},
		odata.Surface(s.Lists),
		ogc.Surface(s.Lists),
	}
	if s.State.Options.Agents {
		all = append(all, list.Surface{Add: s.addAgents, AtRoot: true})
	}
	return all
}

// addRoutes registers every path. Methods are checked in package list, so that all paths refuse the
// same ones.
func (s *Server) addRoutes() {
	for _, surface := range s.surfaces() {
		for i, m := range s.Lists.Routes.Mounts {
			if i == 0 || !surface.AtRoot {
				surface.Add(m)
			}
		}
		if surface.Fault != nil {
			s.State.FaultForms = append(s.State.FaultForms, state.FaultForm{Root: surface.Root, Write: surface.Fault})
		}
	}
}

// addLists registers the lists, the figures, and what makes identifiers for them.
func (s *Server) addLists(m *list.Mount) {
	endpoints := contract.EndpointsIn(m.Names)
	for i := range endpoints {
		s.Lists.Routes.AddLists(m, &endpoints[i])
	}
	of := slices.Concat(contract.FigureEndpoints[m.Names], contract.FigureHistories[m.Names])
	s.Lists.Routes.AddComputed(m, figures.HeadlineSource, contract.FiguresPath, of...)
	s.Lists.Routes.AddComputed(m, figures.HeadlineSource, contract.GroupsPath, contract.GroupsEndpoints[m.Names]...)
	for _, path := range contract.EncodePaths[m.Names] {
		s.Lists.Routes.Add(m, path, list.Route{Answer: s.Site.AnswerEncode, Name: contract.EncodePath})
	}
}
