package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/loader/upstream"
	"hdqs/snapshot/store"
)

type serveFlags struct {
	storeFlags
	refresh, poll time.Duration
	listen, admin string
	identifier    string
	logFormat     string
	shutdownDelay time.Duration
	drainTimeout  time.Duration
	connections   int
	perAddress    int
	load          loadFlags
	answers       answerFlags
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answers the query service; without flags from the embedded sample catalog",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), cmd.ErrOrStderr(), &f) },
	}
	fl := cmd.Flags()
	f.register(fl)
	fl.StringVar(&f.load.catalog, "catalog", "", "catalog to build from before serving (see 'hdqs build')")
	fl.DurationVar(&f.refresh, "refresh", 0, "how often to build from --catalog again; 0: never")
	fl.DurationVar(&f.poll, "snapshot-poll", time.Minute, "how often to look for another snapshot in the channel; 0: never; SIGHUP looks at once")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address of the public listener")
	fl.StringVar(&f.admin, "admin", "", "address of a second listener with /healthz, /readyz and /metrics; keep it private")
	fl.StringVar(&f.identifier, "identifier", "require", "app identifiers: require, observe (ask, but refuse nobody) or off")
	fl.StringVar(&f.logFormat, "log-format", "text", "messages on stderr: text, json or off")
	fl.DurationVar(&f.shutdownDelay, "shutdown-delay", 0, "how long to go on answering after SIGTERM, not ready and with 'Connection: close', before the listener closes")
	fl.DurationVar(&f.drainTimeout, "drain-timeout", 20*time.Second, "how long running requests may take after that")
	fl.IntVar(&f.connections, "max-connections", 0, "connections at once, others get 503; 0: 65536")
	fl.IntVar(&f.perAddress, "max-connections-per-address", 0, "connections at once of one IPv4 address or IPv6 /64, others get 503; 0: no bound, as is needed behind a CDN or load balancer")
	boundOrZero(fl, "refresh", &f.refresh, shortestLook, longestPause)
	boundOrZero(fl, "snapshot-poll", &f.poll, shortestLook, longestPause)
	bound(fl, "shutdown-delay", &f.shutdownDelay, 0, longestWait)
	bound(fl, "drain-timeout", &f.drainTimeout, 0, longestWait)
	bound(fl, "max-connections", &f.connections, 0, mostAtOnce)
	bound(fl, "max-connections-per-address", &f.perAddress, 0, mostAtOnce)
	f.load.register(fl)
	f.answers.register(fl)
	return cmd
}

func serve(ctx context.Context, messages io.Writer, f *serveFlags) error {
	log, err := newLogger(messages, f.logFormat)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	mode, err := identifierMode(f.identifier)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	if f.store != "" && f.load.catalog != "" {
		return exitWith(exitUsage, errors.New("serve takes --store or --catalog, not both"))
	}
	source, closeSource, err := openServed(ctx, messages, f)
	if err != nil {
		return err
	}
	defer closeSource()

	boundGarbage()
	options := api.Options{Identifier: mode, Logger: log, Connections: f.connections, ConnectionsPerAddress: f.perAddress}
	if err := f.answers.fill(&options); err != nil {
		return exitWith(exitUsage, err)
	}
	server := api.New(options)
	follower := newFollower(server, source, log)
	started := time.Now()
	if err := follower.first(ctx); err != nil {
		return err
	}
	opened := time.Since(started)

	public, err := listenPublic(ctx, f.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", f.listen, err)
	}
	failed := make(chan error, 2)
	if f.admin != "" {
		admin, err := net.Listen("tcp", f.admin)
		if err != nil {
			return fmt.Errorf("--admin %s: %w", f.admin, err)
		}
		go func() { failed <- server.ServeAdmin(admin) }()
		fmt.Fprintf(messages, "admin on http://%s/readyz\n", admin.Addr())
	}
	go func() { failed <- server.Serve(public) }()
	fmt.Fprintf(messages, "serving snapshot %s, opened in %s\n", follower.shown.ID, opened.Round(time.Millisecond/10))
	printAddresses(messages, public.Addr().String(), mode)

	background, stop := context.WithCancel(ctx)
	defer stop()
	var busy sync.WaitGroup
	busy.Go(func() { follower.follow(background, f.poll) })
	if f.load.catalog != "" && f.refresh > 0 {
		go refresh(background, f, source, follower, log)
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	server.Drain()
	busy.Wait() // a snapshot that is being opened shares segments with the one that shutting down lets go of
	return shutDown(server, log, f)
}

// listenPublic listens for plain TCP. With multipath TCP, which the library would offer, the kernel has no filters, and a listener cannot be closed without
// resetting connections that have just begun (api.Server.Shutdown).
func listenPublic(ctx context.Context, address string) (net.Listener, error) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	return plain.Listen(ctx, "tcp", address)
}

// garbagePercent is how much garbage the collector lets there be by what is in use. Requests allocate little beside what is kept (stored blocks,
// fragments, bodies), so the default would mostly allow for garbage of its own size that nobody needs.
const garbagePercent = 50

// boundGarbage sets the collector, unless whoever started the program did.
func boundGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// shutDown lets callers go in the order that a load balancer expects: not ready, then no new connections, then the end.
func shutDown(server *api.Server, log *slog.Logger, f *serveFlags) error {
	server.Drain()
	time.Sleep(f.shutdownDelay)
	ctx, cancel := context.WithTimeout(context.Background(), f.drainTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		log.Warn("some requests did not end in time", "timeout", f.drainTimeout, "error", err)
	}
	return nil
}

// openServed opens the store that is served: the given one, one built from a catalog, or one built from the sample in a
// directory of its own that goes with the process.
func openServed(ctx context.Context, messages io.Writer, f *serveFlags) (*openStore, func(), error) {
	switch {
	case f.store != "":
		st, err := f.openExisting()
		return st, func() {}, err
	case f.load.catalog != "":
		st, err := buildServed(ctx, messages, f)
		return st, func() {}, err
	}
	fmt.Fprintln(messages, "no --store and no --catalog: serving the embedded sample, whose figures are all made up")
	dir, err := os.MkdirTemp("", "hdqs-sample-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { os.RemoveAll(dir) }
	st, err := store.Open(dir)
	if err == nil {
		_, err = loader.Build(ctx, loader.Options{Catalog: sample.FS, CatalogName: "sample", Store: st, Channel: f.channel})
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return &openStore{Store: st, channel: f.channel}, remove, nil
}

// buildServed loads the catalog into the data directory's store. When the load fails and the store has a snapshot, that one is served.
func buildServed(ctx context.Context, messages io.Writer, f *serveFlags) (*openStore, error) {
	st, err := f.openLocal(filepath.Join(f.dataDir, "store"))
	if err != nil {
		return nil, err
	}
	l, err := f.buildOnce(ctx, st, messages)
	if err == nil {
		return st, l.WriteText(messages)
	}
	if p, channelErr := st.Channel(f.channel); channelErr == nil && ctx.Err() == nil {
		fmt.Fprintf(messages, "hdqs: load of %s failed, serving the last snapshot %s: %v\n", f.load.catalog, p.ID, err)
		return st, nil
	}
	return nil, err
}

func (f *serveFlags) buildOnce(ctx context.Context, st *openStore, messages io.Writer) (*loaded, error) {
	o, err := f.load.options(st.Store, f.channel)
	if err != nil {
		return nil, err
	}
	release, err := st.lock("serve: load of " + f.load.catalog)
	if err != nil {
		return nil, err
	}
	defer release()
	return f.load.run(ctx, o, f.dataDir, f.net.options(), messages)
}

// refresh builds from the catalog again and again. A build that fails leaves what is served as it is.
func refresh(ctx context.Context, f *serveFlags, st *openStore, follower *follower, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-nextLook(f.refresh):
		}
		l, err := f.buildOnce(ctx, st, io.Discard)
		if err != nil {
			log.Error("refresh failed; the served snapshot stays", "catalog", f.load.catalog, "error", err)
			continue
		}
		stale := 0
		if l.summary != nil {
			stale = l.summary.Count(upstream.Stale) + l.summary.Count(upstream.Refused)
		}
		log.Info("refreshed", "outcome", l.Outcome, "snapshot", l.Snapshot, "partial", l.partial() != nil, "stale", stale, "seconds", l.Seconds)
		select {
		case follower.wake <- struct{}{}:
		default:
		}
	}
}

func newLogger(w io.Writer, format string) (*slog.Logger, error) {
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, nil)), nil
	case "off":
		return slog.New(slog.DiscardHandler), nil
	}
	return nil, fmt.Errorf("--log-format %q: want text, json or off", format)
}

func identifierMode(text string) (api.IdentifierMode, error) {
	switch text {
	case "require":
		return api.RequireIdentifier, nil
	case "observe":
		return api.ObserveIdentifier, nil
	case "off":
		return api.IgnoreIdentifier, nil
	}
	return 0, fmt.Errorf("--identifier %q: want require, observe or off", text)
}

// printAddresses gives a newcomer something to click on.
func printAddresses(w io.Writer, address string, mode api.IdentifierMode) {
	base := "http://" + address
	identifier := ""
	if mode == api.RequireIdentifier {
		text, _ := contract.EncodeIdentifier("hdqs-tryout", "tryout@example.org")
		identifier = "app_identifier=" + text + "&"
	}
	fmt.Fprintf(w, `listening on %[1]s
try:
  %[1]s/                 what is here
  %[1]s/docs             every endpoint and parameter
  %[1]s/api/v2/metadata/location?%[2]slimit=5
  %[1]s/api/v2/coordination-context/conflict-events?%[2]slocation_code=AFG&limit=5
  %[1]s/api/v2/food-security-nutrition-poverty/food-prices-market-monitor?%[2]soutput_format=csv&limit=5
`, base, identifier)
}
