package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"hdqs/api/accesslog"
	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/metrics"
	"hdqs/api/wire"
)

// Options configure a server. The zero value is the configuration of the public service.
type Options struct {
	// Identifier selects how requests without a valid application identifier are treated. Zero
	// refuses them.
	Identifier IdentifierMode

	// Names are the names at the root. Zero is the contract's; HAPI names are below /hapi then.
	// With HAPI names at the root the contract's are below /contract.
	Names contract.NameSet

	// Boundaries are those of the maps on pages. nil is the built-in countries.
	Boundaries *boundary.Set

	// Logger gets errors. They never contain bytes of a request. nil is slog.Default.
	Logger *slog.Logger

	// AccessLog gets lines for requests of the public listener. The caller closes it after
	// Shutdown. nil is none.
	AccessLog *accesslog.Log

	// Pprof adds Go's profiles to the admin listener, below /debug/pprof/.
	Pprof bool

	// ReadTimeout bounds the reading of one request, WriteTimeout the writing of one answer,
	// IdleTimeout the wait for the next request of a connection. Zero is 5, 60 and 75 seconds.
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// Connections limits the open connections of the public listener, ConnectionsPerAddress those
	// of one IPv4 address or IPv6 /64, which is the proxy's behind a CDN or a load balancer.
	// Connections over a limit get 503 and are closed. Zero is 65,536, and no limit for an address.
	Connections, ConnectionsPerAddress int

	// Freshness is how long caches may keep answers.
	Freshness Freshness

	// KeepPrevious is how long a replaced snapshot answers requests that name it. Zero is 15
	// minutes; negative keeps none.
	KeepPrevious time.Duration

	// SkipWarmUp serves a snapshot without answering requests from it first (warm.go): for commands
	// that answer one request and end.
	SkipWarmUp bool

	// Strict refuses unknown parameters with 422, as "Prefer: handling=strict" does for one
	// request.
	Strict bool

	// SurrogateKey and CacheTag send the keys by which an edge can purge answers (purge.go), in the
	// header field of that name.
	SurrogateKey, CacheTag bool

	// Queries is the number of slots for list queries. Queries that take long have as many slots of
	// their own, so that short ones find a slot. QueueWait is how long others wait for a slot
	// before they get 503. Under sustained overload, queries that would wait for more than half of
	// QueueWait get 503 at once. Zero is 4 queries for each core, and DefaultQueueWait; with a
	// negative QueueWait no query waits.
	Queries   int
	QueueWait time.Duration

	// MemoryLimit is how much memory the process may use, the pages of mapped files not counted.
	// Zero is the limit of the Go runtime (GOMEMLIMIT). With a limit, Swap refuses snapshots that
	// do not fit, and the other limits of memory follow from it (memory.go).
	MemoryLimit int64

	// InflightBytes is how many bytes of answers may be in flight to clients before requests get
	// 503. Zero is 512 MiB, or with a memory limit an eighth of the Go runtime's part of it.
	InflightBytes int64

	// Exports limits the exports that are sent at once, ExportRows the rows of one, and
	// ExportTimeout its time. WriteTimeout bounds each of its parts. Zero is 8, 20 million and 30
	// minutes.
	Exports, ExportRows int
	ExportTimeout       time.Duration

	// Compression selects the encoders of pages. encode.Stored, the default, enables all; the
	// others are for debugging and tests.
	Compression encode.Tier

	// CacheBytes is how many bytes of bodies are cached. Zero is 64 MiB, or with a memory limit at
	// most a sixteenth of the Go runtime's part of it. A negative value disables the cache; then no
	// request waits for a body that another one renders.
	CacheBytes int64

	// BaseURL is the address of the service, without a slash at the end, for the example calls of
	// the landing page. Empty is http and the requested host. Then no cache may store that page,
	// since not all caches have the host in their key.
	BaseURL string

	// Dictionaries lets clients keep pages as dictionaries for later ones (dictionary.go). The
	// service must be reached over HTTPS.
	Dictionaries bool

	// Bulk serves bulk files (bulk.go), those that LookForBulk finds. BulkIdentifier refuses
	// requests for them that have no valid application identifier, if Identifier refuses other
	// requests.
	Bulk, BulkIdentifier bool

	// KeepBuffers lets idle connections keep their read buffers of 64 KiB. Otherwise an idle
	// connection has 1.2 KiB, and needs no more system calls (package wire).
	KeepBuffers bool
}

// DefaultQueueWait is the default of Options.QueueWait.
const DefaultQueueWait = wire.DefaultWait

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
	options Options
	log     *slog.Logger
	router  *router.Router
	mounts  []*mount

	computations []*computation // see records.go

	endpoints []string // names of endpoints in metrics
	requests  *metrics.Requests
	registry  *prometheus.Registry

	public   *fasthttp.Server
	admin    *fasthttp.Server
	known    knownIdentifiers
	current  atomic.Pointer[served]
	retained retained
	history  atomic.Pointer[[]*Change] // of the snapshots that the channel has shown
	open     openSnapshots
	memory   shares
	gate     *wire.Gate
	long     *wire.Gate // for answers that take long to make (long.go)
	pages    *wire.Gate // of records
	refusals wire.RefusalLimiter
	exports  *exportGate
	budget   *wire.Budget
	callers  *wire.Connections
	shed     shedCounts // requests and connections that were refused
	bodies   *bodyCache
	digests  pageDigests
	bulk     atomic.Pointer[bulkInventory]

	suspects suspects

	comparing sync.Mutex // held while two versions of a table are compared

	warmLimit time.Duration // changed by tests
	noWarmUp  atomic.Bool   // set by EndWarmUp
	cutWarmUp atomic.Bool   // set by InterruptWarmUp, until the next Swap

	faults   *wire.Log
	draining atomic.Bool
	starting atomic.Pointer[string]
	looked   atomic.Pointer[Look]
	panics   atomic.Int64
	refused  atomic.Int64 // snapshots that did not fit in memory
}

// New returns a server without a snapshot: until the first Swap, list requests get 503.
func New(o Options) *Server { return newServer(o, computations) }

func newServer(o Options, computations []*computation) *Server {
	memory := newShares(&o)
	o.Exports, o.ExportRows = cmp.Or(o.Exports, DefaultExports), cmp.Or(o.ExportRows, DefaultExportRows)
	o.ExportTimeout = cmp.Or(o.ExportTimeout, DefaultExportTimeout)
	s := &Server{
		options: o, log: cmp.Or(o.Logger, slog.Default()), router: router.New(), mounts: newMounts(o.Names),
		computations: computations, endpoints: []string{"other"},
		warmLimit: warmLimit,
		gate:      wire.NewGate(o.Queries, o.QueueWait), pages: newPageGate(runtime.GOMAXPROCS(0)),
		long:   wire.NewGate(o.Queries, o.QueueWait),
		budget: wire.NewBudget(memory.inflight),
		memory: memory, exports: newExportGate(o.Exports, runtime.GOMAXPROCS(0)),
	}
	s.faults = wire.NewLog(s.log)
	s.suspects.wake = make(chan struct{}, 1)
	s.bodies = newBodyCache(memory.bodies, s.budget)
	s.callers = wire.NewConnections(s.connectionLimits())
	s.addRoutes()
	s.requests = metrics.NewRequests(s.endpoints)
	s.registry = metrics.NewRegistry()
	s.registry.MustRegister(s.requests, collector{s})
	s.public = s.listener(noLimit, s.handlePublic, func(ctx *fasthttp.RequestCtx, err error) {
		s.answerUnread(ctx, err)
		s.countUnread(ctx)
	})
	s.admin = s.listener(wire.DefaultConnections, s.handleAdmin, s.answerUnread)
	return s
}

func (s *Server) listener(
	concurrency int, handler fasthttp.RequestHandler, unread func(*fasthttp.RequestCtx, error),
) *fasthttp.Server {
	o := s.options
	return &fasthttp.Server{
		Handler:                      handler,
		ErrorHandler:                 unread,
		HeaderReceived:               wire.LimitExpectation(maxBody),
		ConnState:                    wire.NoteState,
		Logger:                       s.faults,
		SecureErrorLogMessage:        true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		LazyRequestTime:              true,
		ReduceMemoryUsage:            !o.KeepBuffers,
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
		Connections: s.options.Connections, PerClient: s.options.ConnectionsPerAddress, ReadBuffer: readBuffer,
		MaxBody: maxBody, Budget: s.budget, Refuse: s.refuse, Count: s.shed.add, Logger: s.faults,
	}
}

// otherEndpoint is the position in Server.endpoints for requests for unknown paths, and for those
// that could not be read.
const otherEndpoint = 0

// endpointOf returns the position of a name in Server.endpoints. Once the metrics exist, none is
// added.
func (s *Server) endpointOf(name string) int {
	at := slices.Index(s.endpoints, name)
	switch {
	case at >= 0:
		return at
	case s.requests != nil:
		return otherEndpoint
	}
	s.endpoints = append(s.endpoints, name)
	return len(s.endpoints) - 1
}

// add registers a path below a mount. A list checks the identifier and the method itself.
func (s *Server) add(m *mount, path string, r route) {
	r.mount, r.endpoint = m, s.endpointOf(r.name)
	path = m.prefix + path
	handler := func(ctx *fasthttp.RequestCtx) {
		recordOf(ctx).noteRoute(&r)
		s.answerList(ctx, &r)
	}
	if r.list == nil {
		handler = func(ctx *fasthttp.RequestCtx) {
			recordOf(ctx).noteRoute(&r)
			switch {
			case !s.identified(ctx, path):
			case !ctx.IsGet() && !ctx.IsHead():
				s.answerError(ctx, errMethodNotAllowed)
			default:
				r.handler(ctx)
			}
		}
	}
	s.router.ANY(path, handler)
	if r.computation == nil && !strings.HasSuffix(path, wildcard) { // see nearestPath
		m.paths = append(m.paths, path)
	}
}

// handlerOf returns the handler of a path, nil for an unknown one.
func (s *Server) handlerOf(path string) fasthttp.RequestHandler {
	handler, _ := s.router.Lookup(fasthttp.MethodGet, path, nil)
	return handler
}

// handlePublic answers and counts a request of the public listener.
func (s *Server) handlePublic(ctx *fasthttp.RequestCtx) {
	rec := s.begin(ctx)
	s.handle(ctx)
	if s.draining.Load() {
		ctx.SetConnectionClose()
	}
	rec.answered(ctx)
}

// Metrics returns the registry of /metrics, to which the rest of the program adds metrics of its
// own. A collector must not block.
func (s *Server) Metrics() prometheus.Registerer { return s.registry }

// Serve answers public requests of a listener until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	public := s.callers.Listen(l)
	defer public.Close() // Shutdown waits for it
	return s.public.Serve(public)
}

// ServeInherited is Serve for a socket that another process has opened, such as systemd. Shutdown
// leaves connections that it has not accepted to the next process that gets the socket.
func (s *Server) ServeInherited(l net.Listener) error { return s.Serve(wire.Inherited{Listener: l}) }

// ServeAdmin answers /healthz, /readyz and /metrics on a second listener, which should not be
// public.
func (s *Server) ServeAdmin(l net.Listener) error { return s.admin.Serve(l) }

// Starting makes /readyz fail with a reason until it is called with an empty one. The caller does
// so once the public listener is open.
func (s *Server) Starting(reason string) { s.starting.Store(&reason) }

// Drain makes /readyz fail, so that no new traffic comes. Requests are still answered, but each
// connection is closed after its next answer, which announces that.
func (s *Server) Drain() { s.draining.Store(true) }

// Shutdown stops both listeners, waits for running requests until ctx ends, and releases the
// snapshots. Requests that have arrived, or arrive within the next tenth of a second on open
// connections, are answered.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	s.callers.End(ctx)
	err := errors.Join(s.public.ShutdownWithContext(ctx), s.admin.ShutdownWithContext(ctx))
	if old := s.current.Swap(nil); old != nil {
		old.release(s.log)
	}
	s.retained.close(s.log)
	return err
}

// refuse answers a connection over a limit.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, rule string) {
	defer s.countUnread(ctx)
	defer s.recovered(ctx)
	s.answerError(ctx, &Busy{rule})
}

// unreadBodies are the bodies of answers to requests that could not be read.
var unreadBodies = map[int]string{
	fasthttp.StatusBadRequest:                  bodyBadRequest,
	fasthttp.StatusRequestTimeout:              bodyTimeout,
	fasthttp.StatusRequestEntityTooLarge:       bodyTooLarge,
	fasthttp.StatusRequestURITooLong:           bodyURITooLong,
	fasthttp.StatusRequestHeaderFieldsTooLarge: bodyHeadersTooLarge,
}

// answerUnread answers a request that could not be read to its end, and closes its connection.
func (s *Server) answerUnread(ctx *fasthttp.RequestCtx, err error) {
	defer s.recovered(ctx)
	status := wire.UnreadStatus(ctx, err)
	s.answerFault(ctx, status, unreadBodies[status])
	wire.CutShort(ctx.Conn())
	ctx.Response.SkipBody = wire.IsHead(ctx)
}

// logPanic logs where a panic happened. Only messages of the Go runtime are logged: others may
// quote a request.
func (s *Server) logPanic(fault any, request string) {
	s.panics.Add(1)
	text := "(withheld)"
	if err, ok := fault.(runtime.Error); ok {
		text = err.Error()
	}
	s.log.Error("a request panicked", "request", request, "panic", text, "stack", string(debug.Stack()))
}

// logFault logs an internal error of an endpoint. It quotes columns but no request.
func (s *Server) logFault(path string, err error) {
	s.log.Error("a request failed", "endpoint", path, "error", err)
}
