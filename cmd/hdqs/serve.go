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
		Short: "Answers requests over HTTP; without flags from the embedded sample catalog",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), cmd.ErrOrStderr(), &f) },
	}
	fl := cmd.Flags()
	f.register(fl)
	fl.DurationVar(&f.refresh, "refresh", 0, "interval between two builds from --catalog; 0: build once")
	fl.DurationVar(&f.poll, "snapshot-poll", time.Minute,
		"interval between two checks of the channel for a new snapshot; 0: never; SIGHUP checks at once")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address of the public listener")
	fl.StringVar(&f.admin, "admin", "",
		"address of a second listener with /healthz, /readyz and /metrics; keep it private")
	fl.StringVar(&f.identifier, "identifier", "require",
		"app identifiers: require, observe (count requests without one, but answer them) or off")
	fl.StringVar(&f.logFormat, "log-format", "text", "messages on stderr: text, json or off")
	fl.DurationVar(&f.shutdownDelay, "shutdown-delay", 0,
		"how long to answer requests after SIGTERM, not ready and with 'Connection: close', before the listener closes")
	fl.DurationVar(&f.drainTimeout, "drain-timeout", 20*time.Second,
		"how long running requests may take after the listener has closed")
	fl.IntVar(&f.connections, "max-connections", 0, "open connections above which new ones get 503; 0: 65536")
	fl.IntVar(&f.perAddress, "max-connections-per-address", 0,
		"the same for one IPv4 address or IPv6 /64; 0: no limit, which a CDN or load balancer in front needs")
	boundOrZero(fl, "refresh", &f.refresh, shortestPoll, longestPause)
	boundOrZero(fl, "snapshot-poll", &f.poll, shortestPoll, longestPause)
	bound(fl, "shutdown-delay", &f.shutdownDelay, 0, longestWait)
	bound(fl, "drain-timeout", &f.drainTimeout, 0, longestWait)
	bound(fl, "max-connections", &f.connections, 0, mostAtOnce)
	bound(fl, "max-connections-per-address", &f.perAddress, 0, mostAtOnce)
	f.load.register(fl, "catalog to build from before serving (see 'hdqs build')")
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

	setGarbagePercent()
	options := api.Options{
		Identifier: mode, Logger: log, Connections: f.connections, ConnectionsPerAddress: f.perAddress,
	}
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
	busy.Wait() // a snapshot that is being opened may share segments with the one that Shutdown closes
	return shutDown(server, log, f)
}

// listenPublic listens for plain TCP. With multipath TCP, the default of package net, the kernel
// has no socket filters, and closing the listener would reset connections that have just begun
// (api.Server.Shutdown).
func listenPublic(ctx context.Context, address string) (net.Listener, error) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false)
	return plain.Listen(ctx, "tcp", address)
}

// garbagePercent is GOGC. Requests allocate little compared with what is kept (stored blocks,
// fragments, bodies), so the default of 100 would mostly double the memory without need.
const garbagePercent = 50

// setGarbagePercent sets GOGC unless the environment does.
func setGarbagePercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}

// shutDown ends in the order that a load balancer expects: not ready, no new connections, exit.
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

// openServed opens the store to serve: the one of --store, one built from --catalog, or one built
// from the sample in a temporary directory.
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
		o := loader.Options{Catalog: sample.FS, CatalogName: "sample", Store: st, Channel: f.channel}
		_, err = loader.Build(ctx, o)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return &openStore{Store: st, channel: f.channel}, remove, nil
}

// buildServed loads the catalog into the store in the data directory. If the load fails, the last
// snapshot of that store is served.
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
	o, release, err := f.load.prepare(st, "serve: load of "+f.load.catalog)
	if err != nil {
		return nil, err
	}
	defer release()
	return f.load.run(ctx, o, f.dataDir, f.net.options(), messages)
}

// refresh builds from the catalog at intervals. If a build fails, the served snapshot stays.
func refresh(ctx context.Context, f *serveFlags, st *openStore, follower *follower, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-nextPoll(f.refresh):
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
		log.Info("refreshed", "outcome", l.Outcome, "snapshot", l.Snapshot, "partial", l.partial() != nil,
			"stale", stale, "seconds", l.Seconds)
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

// printAddresses prints the address and some requests to try.
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
