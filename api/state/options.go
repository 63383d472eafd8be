package state

import (
	"log/slog"
	"time"

	"hdqs/api/accesslog"
	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/reply"
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

	// MadeUp is set if the figures of all snapshots are made up. Every page says so.
	MadeUp bool

	// Boundaries are those of the maps on pages. nil is the built-in countries.
	Boundaries *boundary.Set

	// Groups are groups of countries beside those that the list of countries makes. CheckGroups
	// finds their mistakes.
	Groups []contract.CountryGroup

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
	Freshness reply.Freshness

	// KeepPrevious is how long a replaced snapshot answers requests that name it. Zero is 15
	// minutes; negative keeps none.
	KeepPrevious time.Duration

	// SkipWarmUp serves a snapshot without answering requests from it first (api/list/warm.go): for
	// commands that answer one request and end.
	SkipWarmUp bool

	// Strict refuses unknown parameters with 422, as "Prefer: handling=strict" does for one
	// request.
	Strict bool

	// SurrogateKey and CacheTag send the keys by which an edge can purge answers
	// (api/reply/purge.go), in the header field of that name.
	SurrogateKey, CacheTag bool

	// Queries is the number of slots for list queries. Queries that take long have as many slots of
	// their own, so that short ones find a slot. QueueWait is how long others wait for a slot
	// before they get 503. Under sustained overload, queries that would wait for more than half of
	// QueueWait get 503 at once. Zero is 4 queries for each core, and DefaultQueueWait; with a
	// negative QueueWait no query waits.
	Queries   int
	QueueWait time.Duration

	// MemoryLimit is how much memory the process may use. Zero is the limit of the Go runtime
	// (GOMEMLIMIT). With a limit, Swap refuses snapshots that do not fit, and the other limits of
	// memory follow from it (memory.go).
	MemoryLimit int64

	// HeapLimit is called with the Go runtime's part of MemoryLimit whenever the segments that are
	// open leave it another one. nil: it stays as it is.
	HeapLimit func(bytes int64)

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

	// Bulk serves bulk files (api/files/bulk.go), those that LookForBulk finds. BulkIdentifier
	// refuses requests for them that have no valid application identifier, if Identifier refuses
	// other requests.
	Bulk, BulkIdentifier bool

	// Agents answers agents at /mcp, to whom the program is of a Version.
	Agents  bool
	Version string

	// ODataIdentifier refuses OData requests that have no valid application identifier, if
	// Identifier refuses other requests.
	ODataIdentifier bool

	// OGCIdentifier refuses requests for features that have no valid application identifier, if
	// Identifier refuses other requests.
	OGCIdentifier bool
}

// DefaultQueueWait is the default of Options.QueueWait.
const DefaultQueueWait = wire.DefaultWait

// DefaultConnections is the default of Options.Connections.
const DefaultConnections = wire.DefaultConnections

// IdentifierMode selects how requests without a valid application identifier are treated.
type IdentifierMode uint8

// RequireIdentifier refuses them with 403. ObserveIdentifier checks and counts them, and lets them
// pass. IgnoreIdentifier does not check.
const (
	RequireIdentifier IdentifierMode = iota
	ObserveIdentifier
	IgnoreIdentifier
)
