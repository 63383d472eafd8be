package api

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"hdqs/api/encode"
)

// Options are the choices of a server. The zero value is the public service's.
type Options struct {
	// Identifier says what becomes of requests without an application identifier. Zero refuses them.
	Identifier IdentifierMode

	// Logger takes what goes wrong. It never gets a byte of a request. nil is slog.Default.
	Logger *slog.Logger

	// ReadTimeout bounds the reading of one request, WriteTimeout the writing of one answer, IdleTimeout the wait for the next request
	// of a connection. Zero is 5, 60 and 75 seconds.
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// Connections is the most connections of the public listener at once, ConnectionsPerAddress the most of one IPv4 address or IPv6 /64, which behind a CDN or
	// a load balancer is theirs. Those beyond get 503 and are closed. Zero is 65,536, and no bound for an address.
	Connections, ConnectionsPerAddress int

	// Freshness is how long caches may keep answers.
	Freshness Freshness

	// KeepPrevious is how long a replaced snapshot answers requests that name it. Zero is 15 minutes; negative keeps none.
	KeepPrevious time.Duration

	// Strict refuses unknown parameters with 422, as requests with "Prefer: handling=strict" ask for themselves.
	Strict bool

	// SurrogateKey and CacheTag send the keys by which an edge can purge answers, in the field of that name; see purge.go.
	SurrogateKey, CacheTag bool

	// Queries is the most list queries at once, QueueWait how long others wait for their turn before they get 503. While there are always some who would
	// wait for more than half of it, those get 503 at once. Zero is 4 for each core, and DefaultQueueWait; negative lets nobody wait.
	Queries   int
	QueueWait time.Duration

	// InflightBytes is how many bytes of answers may be on their way to clients before requests get 503. Zero is a quarter of the memory
	// limit of the runtime, or 512 MiB without one.
	InflightBytes int64

	// Compression is how much the encoders of pages may use. Zero is everything; the others are for those who doubt it.
	Compression encode.Tier

	// CacheBytes is how many bytes of finished bodies are kept for callers who ask the same. Zero is 64 MiB; negative keeps none, and lets no request
	// wait for another's body either.
	CacheBytes int64

	// BaseURL is how callers reach the service, without a slash at the end, for the calls on the landing page. Empty is http and the host
	// that was asked, and then no cache may keep that page: not all have the host in their key.
	BaseURL string

	// KeepBuffers leaves idle connections their read buffers of 64 KiB. Without it they wait with 1.2 KiB, at no more system calls (listener.go).
	KeepBuffers bool
}

// Defaults and bounds of the listeners.
const (
	readTimeout  = 5 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 75 * time.Second

	// defaultConnections is also the bound of the second listener, and neverMet that of the library for the first: see connections.
	defaultConnections = 65536
	neverMet           = math.MaxInt32

	// readBuffer holds the longest URI and 16 KiB of header fields.
	readBuffer = maxURI + 16<<10
	maxBody    = 1 << 10

	// maxRequest is what is read of one request: the longest header, and a body of which each byte is a chunk of its own, with a size of as many
	// digits as the library reads and room for an extension.
	maxRequest = readBuffer + 32*maxBody
)

// Server answers requests from the snapshot it serves. All methods may be called at any time and from any goroutine.
type Server struct {
	options  Options
	log      *slog.Logger
	router   *router.Router
	paths    []string // of all routes
	public   *fasthttp.Server
	admin    *fasthttp.Server
	known    knownIdentifiers
	current  atomic.Pointer[served]
	held     held
	gate     *gate
	refusals pace
	flight   *flight
	callers  *connections
	shed     shedCounts // requests and connections that were turned away
	bodies   *bodyCache

	emptyLanding         landingData
	landing, landingBare head

	faults       faultLog
	draining     atomic.Bool
	unidentified atomic.Int64 // requests that had no good identifier
	panics       atomic.Int64
	responses    [len(countedStatuses) + 1]atomic.Int64 // of the public listener
}

// New makes a server without a snapshot: until the first Swap list requests get 503.
func New(o Options) *Server {
	s := &Server{
		options: o, log: o.Logger, router: router.New(), emptyLanding: newLanding(nil),
		gate: newGate(o.Queries, o.QueueWait), flight: newFlight(o.InflightBytes),
	}
	s.bodies = newBodyCache(o.CacheBytes, s.flight)
	if s.log == nil {
		s.log = slog.Default()
	}
	s.faults.log = s.log
	s.callers = newConnections(o.Connections, o.ConnectionsPerAddress, &s.shed, s.refuse, &s.faults)
	s.addRoutes()
	s.public = s.listener(neverMet, func(ctx *fasthttp.RequestCtx) {
		s.handle(ctx)
		if s.draining.Load() {
			ctx.SetConnectionClose()
		}
		s.count(ctx)
	}, func(ctx *fasthttp.RequestCtx, err error) {
		s.answerUnread(ctx, err)
		s.count(ctx)
	})
	s.admin = s.listener(defaultConnections, s.handleAdmin, s.answerUnread)
	return s
}

func (s *Server) listener(concurrency int, handler fasthttp.RequestHandler, unread func(*fasthttp.RequestCtx, error)) *fasthttp.Server {
	o := s.options
	return &fasthttp.Server{
		Handler:                      handler,
		ErrorHandler:                 unread,
		HeaderReceived:               expectLess,
		ConnState:                    noteState,
		Logger:                       &s.faults,
		SecureErrorLogMessage:        true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		LazyRequestTime:              true,
		ReduceMemoryUsage:            !o.KeepBuffers,
		ReadBufferSize:               readBuffer,
		WriteBufferSize:              writeBuffer,
		MaxRequestBodySize:           maxBody,
		Concurrency:                  concurrency,
		ReadTimeout:                  orTime(o.ReadTimeout, readTimeout),
		WriteTimeout:                 orTime(o.WriteTimeout, writeTimeout),
		IdleTimeout:                  orTime(o.IdleTimeout, idleTimeout),
	}
}

func orInt(n, zero int) int {
	if n == 0 {
		return zero
	}
	return n
}

func orTime(d, zero time.Duration) time.Duration {
	if d == 0 {
		return zero
	}
	return d
}

// addRoutes registers every path. Methods are told apart in handle, so that all paths refuse the same ones alike.
func (s *Server) addRoutes() {
	for i := range endpoints {
		p := newPlan(&endpoints[i])
		s.add(endpoints[i].Path, func(ctx *fasthttp.RequestCtx) { s.answerList(ctx, p) })
	}
	s.add(encodePath, s.answerEncode)
	s.addPages()
}

func (s *Server) add(path string, handler fasthttp.RequestHandler) {
	s.router.ANY(path, handler)
	s.paths = append(s.paths, path)
}

// Serve answers public requests of a listener until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	public := s.callers.listener(l, s.flight)
	defer public.Close() // Shutdown waits for it
	s.callers.add(public)
	return s.public.Serve(public)
}

// ServeAdmin answers /healthz, /readyz and /metrics on a second listener, which should not be public.
func (s *Server) ServeAdmin(l net.Listener) error { return s.admin.Serve(l) }

// Drain makes /readyz say that no new callers should come. Requests are answered as before, but each is the last of its connection, and its answer says so.
func (s *Server) Drain() { s.draining.Store(true) }

// Shutdown stops both listeners, waits for running requests until ctx ends, and lets go of the snapshot. Requests that have come, or come in the next tenth
// of a second on connections that are open, are answered.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	s.callers.end(ctx)
	err := errors.Join(s.public.ShutdownWithContext(ctx), s.admin.ShutdownWithContext(ctx))
	if old := s.current.Swap(nil); old != nil {
		old.release(s.log)
	}
	s.held.close(s.log)
	return err
}

// refuse answers a connection that there is no place for.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, rule string) {
	defer s.count(ctx)
	defer s.recovered(ctx)
	s.answerError(ctx, &Busy{rule})
}

// expectLess takes the expectation from a request whose body is longer than we read. Then its length is found fault with at once, and the client is not
// asked to send what will be refused.
func expectLess(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if h.ContentLength() > maxBody {
		h.Del(fasthttp.HeaderExpect)
	}
	return fasthttp.RequestConfig{}
}

// answerUnread answers a request that could not be read whole. The connection ends with it.
func (s *Server) answerUnread(ctx *fasthttp.RequestCtx, err error) {
	defer s.recovered(ctx)
	var small *fasthttp.ErrSmallBuffer
	var network net.Error
	status, body := fasthttp.StatusBadRequest, bodyBadRequest
	switch {
	case isEndless(ctx.Conn()):
		status, body = fasthttp.StatusRequestEntityTooLarge, bodyTooLarge
	case errors.As(err, &small) && inFirstLine(ctx.Conn()) && len(ctx.Request.Header.RawHeaders()) == 0: // with a header it is a trailer's line
		status, body = fasthttp.StatusRequestURITooLong, bodyURITooLong
	case errors.As(err, &small):
		status, body = fasthttp.StatusRequestHeaderFieldsTooLarge, bodyHeadersTooLarge
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		status, body = fasthttp.StatusRequestEntityTooLarge, bodyTooLarge
	case errors.As(err, &network) && network.Timeout():
		status, body = fasthttp.StatusRequestTimeout, bodyTimeout
	}
	s.answerFault(ctx, status, body)
	cutShort(ctx.Conn())
	// The library tells a HEAD only when it could read the header.
	ctx.Response.SkipBody = ctx.IsHead() || isHead(ctx.Conn())
}

// faultLog takes the HTTP library's messages. Their arguments may hold bytes of requests, so only the fixed part is written; and as anybody can bring
// messages about, only one a second is.
type faultLog struct {
	log   *slog.Logger
	count atomic.Int64 // all messages
	told  atomic.Int64 // those of which the log knows, by their text or by number
	next  atomic.Int64 // moment from which on one may be written
}

// faultPause is the least time between two messages.
const faultPause = time.Second

// Printf logs the format without its arguments, and how many messages were left out since the last one.
func (l *faultLog) Printf(format string, _ ...any) {
	count := l.count.Add(1)
	next, now := l.next.Load(), moment(time.Now())
	if now < next || !l.next.CompareAndSwap(next, now+int64(faultPause)) {
		return
	}
	fixed, _, _ := strings.Cut(format, "%")
	l.log.Warn("connection", "message", strings.TrimSpace(fixed), "suppressed", max(0, count-l.told.Swap(count)-1))
}

// logPanic logs where a panic happened. What it says is written only when the runtime words it: other texts may quote a request.
func (s *Server) logPanic(fault any, request string) {
	s.panics.Add(1)
	text := "(withheld)"
	if err, ok := fault.(runtime.Error); ok {
		text = err.Error()
	}
	s.log.Error("a request panicked", "request", request, "panic", text, "stack", string(debug.Stack()))
}

// logFault logs an internal error of an endpoint, which quotes columns but no request.
func (s *Server) logFault(path string, err error) {
	s.log.Error("a request failed", "endpoint", path, "error", err)
}
