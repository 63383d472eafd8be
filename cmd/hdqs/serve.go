package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/state"
	"hdqs/internal/background"
	"hdqs/internal/follow"
	"hdqs/internal/objects"
	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/snapshot/store"
)

type serveFlags struct {
	storeFlags
	hangups       <-chan os.Signal
	loads         *loadMetrics // of a server; nil for an export
	partial       error        // what a load of --catalog lacks
	refresh, poll time.Duration
	ownData       bool // --data-dir was set
	listen, admin string
	replica       string
	listenSet     bool // listen is not the default
	logFormat     string
	shutdownDelay time.Duration
	drainTimeout  time.Duration
	accessLog     accessLogFlags
	boundaries    string
	whose         string // the boundaries are
	groups        string
	memory        size
	check         bool
	load          loadFlags
	answers       answerFlags
}

func newServe(hangups <-chan os.Signal) *cobra.Command {
	f := serveFlags{hangups: hangups}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answers requests over HTTP; without flags from the embedded sample catalog",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.listenSet = cmd.Flags().Changed("listen")
			f.ownData = cmd.Flags().Changed("data-dir")
			if err := checkLimits(); err != nil {
				return err
			}
			if f.check {
				return f.checkAll(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return serve(cmd.Context(), cmd.ErrOrStderr(), &f)
		},
	}
	fl := cmd.Flags()
	f.register(fl)
	configFlag(fl)
	numberVar(fl, &f.refresh, "refresh", 0, shortestPoll, longestPause,
		"interval between two builds from --catalog; 0: build once").orZero = true
	numberVar(fl, &f.poll, "snapshot-poll", time.Minute, shortestPoll, longestPause,
		"interval between two polls of the channel; 0: never; SIGHUP polls at once").orZero = true
	fl.StringVar(&f.replica, "replica", "", "unique name of this replica, for reports in the store and "+
		"'hdqs publish --canary'; empty: neither")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address of the public listener")
	fl.StringVar(&f.admin, "admin", "",
		"address of a second listener with /healthz, /readyz and /metrics; keep it private")
	fl.BoolVar(&f.answers.Pprof, "admin-pprof", false, "add Go's profiles to the admin listener, below /debug/pprof/")
	choiceVar(fl, &f.answers.Identifier, "identifier", identifierModes,
		"app identifiers: require, observe (count requests without one) or off")
	fl.StringVar(&f.logFormat, "log-format", "text", "messages on stderr: text, json or off")
	numberVar(fl, &f.shutdownDelay, "shutdown-delay", 0, 0, longestWait,
		"how long to answer requests after SIGTERM, not ready, before the listener closes")
	numberVar(fl, &f.drainTimeout, "drain-timeout", 20*time.Second, 0, longestWait,
		"how long running requests may take after the listener has closed")
	numberVar(fl, &f.answers.Connections, "max-connections", 0, 0, mostAtOnce,
		"open connections above which new ones get 503; 0: 65536")
	numberVar(fl, &f.answers.ConnectionsPerAddress, "max-connections-per-address", 0, 0, mostAtOnce,
		"the same for one IPv4 address or IPv6 /64; 0: no limit, as behind a CDN")
	fl.BoolVar(&f.check, "check", false, "check flags, store, snapshot and memory, print what would be "+
		"served, and end; no file is changed")
	fl.StringVar(&f.boundaries, "boundaries", "", "GeoJSON file of countries and their units for maps; "+
		"default: built-in countries")
	fl.StringVar(&f.whose, "boundaries-source", "",
		"whose boundaries these are, below each map; empty: \"attribution\" of the file")
	fl.StringVar(&f.groups, "groups", "", "CSV file (group,name,location_code) of own groups of countries")
	f.memory.auto = true
	fl.Var(&f.memory, "memory-limit", "memory that this process may use, such as 2GiB; "+
		"auto: the limit of its control group, or of GOMEMLIMIT; 0: no limit")
	f.load.register(fl, "catalog to build from before serving")
	f.answers.register(fl)
	f.accessLog.register(fl)
	groupFlags(cmd, serveGroups)
	return cmd
}

func serve(ctx context.Context, messages io.Writer, f *serveFlags) error {
	sockets, options, err := f.configure(messages)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	log := options.Logger
	if options.AccessLog, err = f.accessLog.open(log); err != nil {
		return err
	}
	defer options.AccessLog.Close()
	collect := f.collectLess()
	defer collect()
	if err := errors.Join(f.memory.apply(&options, log), limitConnections(&options, log)); err != nil {
		return err
	}
	shares := state.NewShares(&options)
	preopened := f.preopen(shares.Hold)
	defer preopened.Close()
	server := api.New(options)
	server.Metrics().MustRegister(newBuildInfo())
	polls := follow.NewMetrics(server.Metrics())
	f.loads = newLoadMetrics(server.Metrics())
	server.Starting("starting")
	failed := make(chan error, 1)
	// First of all, so that a start that takes long can be watched.
	admin, err := sockets.serveAdmin(server, f.admin, failed)
	if err != nil {
		return err
	}
	for _, l := range admin {
		fmt.Fprintf(messages, "admin on %s/readyz\n", addressOf(l))
	}
	notify := &notifier{log}
	if err := notify.watch(server); err != nil {
		return err
	}
	starting, started := context.WithCancel(ctx)
	defer started()
	go notify.startingUp(starting)
	w := follow.NewWaiter(f.hangups, log)
	w.Report = func(step string) {
		server.Starting(step)
		notify.starting(step)
	}
	polls.Begin() // opening the store can hang as well
	source, closeSource, err := openServed(ctx, messages, f, w)
	if err != nil {
		return err
	}
	defer closeSource()
	polls.Ended()
	public := &publicListeners{sockets: sockets, server: server, address: f.listen, failed: failed}
	o := f.following(server, source, w)
	o.Metrics, o.Bulk, o.Preopened, o.Patient = polls, f.answers.Bulk, preopened, os.Getenv("NOTIFY_SOCKET") != ""
	o.Answering, o.Reloading, o.Polled = func() { public.open(ctx) }, notify.reloading, notify.ready
	o.Replica, o.Version = f.replica, release
	follower := follow.New(o)
	began := time.Now()
	defer context.AfterFunc(ctx, server.State.EndWarmUp)()
	if err := f.first(ctx, server, follower, public); err != nil {
		return err
	}
	w.Report = nil
	opened := time.Since(began)
	started()
	settled := background.CollectLess(background.GarbageInSwap)
	defer settled()
	collect()
	if public.open(ctx); public.err != nil {
		return public.err
	}
	f.announce(messages, server, follower, public, opened)
	notify.ready(follower.Shown(), nil)
	background.Start(func() { settle(server, settled) })
	return f.run(ctx, server, source, follower, notify, public.failed)
}

// collectLess lets garbage accumulate during a start, unless it builds: that makes more.
func (f *serveFlags) collectLess() (collect func()) {
	if f.load.catalog == "" {
		return background.CollectLess(background.GarbageInStart)
	}
	background.SetGarbagePercent()
	return func() {}
}

// settle does what can wait until a start has ended: it makes the index of names, and gives memory
// back to the system. A start makes more garbage than it keeps. It is collected once, at the end,
// where there is memory for that: to collect it meanwhile took a tenth of the CPU of a start.
func settle(server *api.Server, settled func()) {
	server.Site.Finder.Prepare()
	settled()
	debug.FreeOSMemory()
}

func (f *serveFlags) following(server *api.Server, st *openStore, w *follow.Waiter) follow.Options {
	o := follow.Options{
		Server: server, Source: &st.Source, Waiter: w, Timeout: f.timeout, Explain: st.channelError, Keys: f.trust.read,
	}
	if st.Remote != nil || f.ownData {
		o.Seen = f.seenFile()
	}
	return o
}

// configure checks the flags and makes the options of the server. Its errors are wrong usage.
func (f *serveFlags) configure(messages io.Writer) (p passedSockets, o state.Options, err error) {
	if err = f.answers.finish(); err != nil {
		return p, o, err
	}
	o = f.answers.Options
	o.MadeUp, o.Version = f.sample(), release
	if o.Logger, err = newLogger(messages, f.logFormat); err != nil {
		return p, o, err
	}
	if err = f.checkSource(); err != nil {
		return p, o, err
	}
	if f.refresh > 0 && f.load.catalog == "" {
		return p, o, errors.New("--refresh needs --catalog; --snapshot-poll is how often --store is polled")
	}
	if o.Boundaries, err = f.readBoundaries(messages); err != nil {
		return p, o, err
	}
	if o.Groups, err = f.readGroups(); err != nil {
		return p, o, err
	}
	if p, err = takePassed(); err != nil {
		return p, o, err
	}
	err = errors.Join(p.check(f), checkAddress("listen", &f.listen), checkAddress("admin", &f.admin))
	if err == nil && f.admin == f.listen && !strings.HasSuffix(f.admin, ":0") {
		err = fmt.Errorf("--listen and --admin are both %s: want two addresses, the second one private", f.admin)
	}
	return p, o, err
}

func (f *serveFlags) checkSource() error {
	switch {
	case f.store != "" && f.load.catalog != "":
		return fmt.Errorf("--store %s and --catalog %s: want one of them", f.store, f.load.catalog)
	case f.replica != "" && f.store == "":
		return errors.New("--replica needs --store, to which it reports")
	case f.replica != "" && store.CheckID(f.replica) != nil:
		return fmt.Errorf("--replica %w", store.CheckID(f.replica))
	case f.store == "" && (f.trust.require || f.trust.publicKey != ""):
		return errors.New("--require-signature and --public-key need --store: " +
			"a snapshot of --catalog or of the sample is not signed")
	}
	return nil
}

// first serves the first snapshot. After an error it ends the listeners that are open.
func (f *serveFlags) first(
	ctx context.Context, server *api.Server, follower *follow.Follower, public *publicListeners,
) error {
	err := storeError(follower.First(ctx))
	if !public.opened {
		return errors.Join(ctx.Err(), err)
	}
	if err == nil {
		return nil
	}
	ending, cancel := context.WithTimeout(context.Background(), f.drainTimeout)
	defer cancel()
	return errors.Join(err, server.Shutdown(ending))
}

// announce ends the start, and prints what is served and where.
func (f *serveFlags) announce(
	messages io.Writer, server *api.Server, follower *follow.Follower, public *publicListeners, opened time.Duration,
) {
	server.Starting("")
	fmt.Fprintf(messages, "serving snapshot %s, opened in %s, of which %s to warm up\n", follower.Shown().ID,
		opened.Round(time.Millisecond/10), server.State.WarmUp().Took.Round(time.Millisecond/10))
	for _, l := range public.listeners {
		printAddresses(messages, addressOf(l), f.answers.Identifier)
	}
}

// run answers requests until ctx ends or a listener fails.
func (f *serveFlags) run(
	ctx context.Context, server *api.Server, source *openStore, follower *follow.Follower, notify *notifier,
	failed <-chan error,
) error {
	background, stop := context.WithCancel(ctx)
	defer stop()
	followed := make(chan struct{})
	go func() {
		follower.Follow(background, f.poll)
		close(followed)
	}()
	if f.load.catalog != "" {
		go follower.Refresh(background, f.refresh, func() error {
			return f.rebuild(background, source, notify.log)
		})
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	notify.stopping(f)
	shutDown(server, notify.log, f, followed)
	return nil
}

// shutDown ends in the order that a load balancer expects: not ready, no new connections, exit. It
// takes no longer than the delay and the drain timeout, whatever requests and polls of the store
// do.
func shutDown(server *api.Server, log *slog.Logger, f *serveFlags, followed <-chan struct{}) {
	server.Drain()
	time.Sleep(f.shutdownDelay)
	ctx, cancel := context.WithTimeout(context.Background(), f.drainTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		log.Warn("some requests did not end in time", "timeout", f.drainTimeout, "error", err)
	}
	select {
	case <-followed:
	case <-ctx.Done():
	}
}

func (f *serveFlags) sample() bool { return f.store == "" && f.load.catalog == "" }

// openServed opens the store to serve: the one of --store, one built from --catalog, or one built
// from the sample in a temporary directory.
func openServed(
	ctx context.Context, messages io.Writer, f *serveFlags, w *follow.Waiter,
) (*openStore, func(), error) {
	if err := f.checkSource(); err != nil {
		return nil, nil, exitWith(exitUsage, err)
	}
	switch {
	case f.store != "":
		st, err := follow.AwaitAgain(ctx, w, follow.Step[*openStore]{
			Name: "opening store " + f.store, Timeout: f.timeout,
			Run: func(context.Context) (*openStore, error) { return f.openExisting() },
		})
		return st, func() {}, storeError(err)
	case f.load.catalog != "":
		w.ReportStep("loading catalog " + f.load.catalog)
		st, err := buildServed(ctx, messages, f)
		return st, func() {}, err
	}
	fmt.Fprintln(messages, "no store is named: answering from the embedded sample, whose figures are all made up")
	dir, remove, err := temporaryDir("sample")
	if err != nil {
		return nil, nil, err
	}
	st, err := store.Open(dir)
	if err == nil {
		o := loader.Options{Catalog: sample.FS, CatalogName: "sample", Store: st, Channel: f.channel}
		_, err = loader.Build(ctx, o)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return &openStore{follow.Source{Store: st, ChannelName: f.channel}}, remove, nil
}

// preopen begins to open the snapshot of --store, if that is set and the snapshot fits.
func (f *serveFlags) preopen(fits func(*store.Manifest) bool) *follow.Preopened {
	if f.store == "" {
		return nil
	}
	return follow.Preopen(func() (*follow.Source, error) {
		st, err := f.openExisting()
		if err != nil {
			return nil, err
		}
		return &st.Source, nil
	}, fits)
}

// seenFile is the file for what was seen of a store's channels. Replicas of one channel of one
// store may share it.
func (f *serveFlags) seenFile() string {
	path, err := filepath.Abs(f.store)
	if err != nil || objects.IsRemote(f.store) {
		path = f.store
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(f.dataDir, "seen", hex.EncodeToString(sum[:6])+"-"+f.channel+".json")
}

// buildServed loads the catalog into the store in the data directory. If the load fails, a server
// serves the last snapshot of that store; an export, which is of this catalog, fails too.
func buildServed(ctx context.Context, messages io.Writer, f *serveFlags) (*openStore, error) {
	st, err := f.openLocal(filepath.Join(f.dataDir, "store"))
	if err != nil {
		return nil, err
	}
	l, err := f.buildOnce(ctx, st, messages)
	if err == nil {
		f.partial = l.partial()
		return st, l.WriteText(messages)
	}
	p, lastErr := f.last(st)
	if f.loads != nil && lastErr == nil && ctx.Err() == nil {
		fmt.Fprintf(messages, "hdqs: load of %s failed, serving the last snapshot %s: %v\n", f.load.catalog, p.ID, err)
		return st, nil
	}
	if _, isOther := errors.AsType[absentError](lastErr); isOther && f.loads != nil {
		fmt.Fprintf(messages, "hdqs: %v\n", lastErr)
	}
	return nil, err
}

func (f *serveFlags) buildOnce(ctx context.Context, st *openStore, messages io.Writer) (l *loaded, err error) {
	if f.loads != nil {
		began := time.Now()
		defer func() { f.loads.end(ctx, began, l, err) }()
	}
	o, release, err := f.load.prepare(st, "serve: load of "+f.load.catalog)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := st.Store.Keys.CheckMove(f.channel, st.Store.Channels.IsSigned(f.channel)); err != nil {
		return nil, storeError(err)
	}
	shown, _ := st.Store.Channels.History(f.channel) // a damaged one is replaced
	publish := func(bound *figures.Offline) (p loader.Publication, err error) {
		kept, err := (&figuresFlag{keptPeriod}).keepBound(ctx, st, shown, bound, messages)
		if err != nil {
			return p, err
		}
		p.Figures = kept.hash
		p.Changed, err = kept.changed(ctx, nil, f.load.source.AllowShrink)
		return p, err
	}
	return f.load.run(ctx, o, f.dataDir, f.net.options(), messages, publish)
}

// rebuild builds from the catalog again. If that fails, the served snapshot stays.
func (f *serveFlags) rebuild(ctx context.Context, st *openStore, log *slog.Logger) error {
	l, err := f.buildOnce(ctx, st, io.Discard)
	if err != nil {
		log.Error("refresh failed; the served snapshot stays", "catalog", f.load.catalog, "error", err)
		return err
	}
	why := l.Losses()
	if l.Fetched != nil {
		why = append(why, l.Fetched.Trouble())
	}
	log.Info("refreshed", "outcome", l.Outcome, "snapshot", l.Snapshot, "partial", l.Partial,
		"stale", len(l.Stale), "seconds", l.Seconds)
	if l.Partial {
		log.Warn("the load is partial: see 'hdqs inspect --report'", "tables", l.Incomplete(), "why", why)
	}
	return nil
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

func printAddresses(w io.Writer, base string, mode state.IdentifierMode) {
	if !strings.HasPrefix(base, "http://") {
		fmt.Fprintf(w, "listening on %s\n", base)
		return
	}
	identifier := ""
	if mode == state.RequireIdentifier {
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
