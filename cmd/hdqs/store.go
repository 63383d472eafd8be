package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hdqs/api/state"
	"hdqs/internal/atomicfile"
	"hdqs/internal/fetch"
	"hdqs/internal/follow"
	"hdqs/internal/objects"
	"hdqs/internal/replica"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

const dataDir = "hdqs-data"

// netFlags restrict web addresses. Buckets are configured by environment variables: see
// 'hdqs build --help'.
type netFlags struct{ fetch.Options }

func (f *netFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.AllowHTTP, "allow-http", false, "allow http:// addresses, not only https://")
	fl.BoolVar(&f.AllowPrivate, "allow-private-hosts", false,
		"allow web addresses in private networks and on this machine")
	fl.StringSliceVar(&f.Hosts, "allow-host", nil, "allowed hosts, exact or as .suffix; default: any public host")
	fl.StringVar(&f.UserAgent, "user-agent", "", "User-Agent of requests, such as a name and an address to write to; "+
		"default: hdqs with its version")
	numberVar(fl, &f.BackoffMax, "longest-wait", time.Minute, time.Second, longestPause,
		"longest Retry-After of a site that a request waits for")
	numberVar(fl, &f.Pause, "request-pause", 0, 0, time.Minute,
		"least time between the beginnings of two requests to a host")
}

func (f *netFlags) options() fetch.Options {
	o := f.Options
	o.UserAgent = cmp.Or(o.UserAgent, userAgent())
	return o
}

// trustFlags say whose signatures are required.
type trustFlags struct {
	require   bool
	publicKey string
}

func (f *trustFlags) register(fl *pflag.FlagSet) {
	fl.BoolVar(&f.require, "require-signature", false,
		"refuse what no key of --public-key has signed, and older versions of a channel")
	fl.StringVar(&f.publicKey, "public-key", "", "PEM file with one or more ed25519 public keys")
}

func (f *trustFlags) apply(st *store.Store) (*store.Store, error) {
	switch {
	case !f.require && f.publicKey != "":
		return nil, usagef("--public-key checks nothing without --require-signature")
	case !f.require:
		return st, nil
	case f.publicKey == "":
		return nil, usagef("--require-signature needs --public-key")
	}
	keys, err := f.read()
	if err != nil {
		return nil, exitWith(exitUsage, err)
	}
	return st.Trusting(keys), nil
}

func (f *trustFlags) read() ([]ed25519.PublicKey, error) {
	text, err := readSetting(f.publicKey)
	if err != nil {
		return nil, fmt.Errorf("--public-key: %w", err)
	}
	keys, err := store.ParsePublicKeys(text)
	if err != nil {
		return nil, fmt.Errorf("--public-key %s: %w", f.publicKey, err)
	}
	return keys, nil
}

type signFlags struct{ key string }

func (f *signFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.key, "sign-key", "",
		"PEM file with the private key that signs manifest and channel: see 'hdqs keygen'")
}

func (f *signFlags) apply(into *openStore) error {
	if f.key == "" {
		return nil
	}
	text, err := os.ReadFile(f.key)
	if err != nil {
		return usagef("--sign-key: %w", err)
	}
	key, err := store.ParsePrivateKey(text)
	if err != nil {
		return usagef("--sign-key %s: %w", f.key, err)
	}
	into.Store = into.Store.Signing(key)
	return nil
}

type storeFlags struct {
	store, channel, dataDir string
	timeout                 time.Duration
	trust                   trustFlags
	net                     netFlags
}

func (f *storeFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.store, "store", "",
		"snapshot store: a directory, s3://bucket/prefix, or the https:// address of its root")
	fl.StringVar(&f.channel, "channel", stableChannel, "channel of the store")
	fl.StringVar(&f.dataDir, "data-dir", dataDir, "directory for downloads and snapshots")
	numberVar(fl, &f.timeout, "store-timeout", replica.DefaultTimeout, shortestTimeout, longestTimeout,
		"longest time for reading or moving a channel, or reading a manifest")
	f.trust.register(fl)
	f.net.register(fl)
}

// openStore is the store of a command: a local one, or the local copy of a remote one.
type openStore struct{ follow.Source }

// open opens a store. The copy of a remote store is in the data directory. No request is sent yet.
func (f *storeFlags) open() (*openStore, error) {
	if f.store == "" {
		return nil, usagef("--store is missing: want a directory or an address")
	}
	if err := checkChannel("channel", f.channel); err != nil {
		return nil, err
	}
	if !objects.IsRemote(f.store) {
		return f.openLocal(f.store)
	}
	s, err := f.openLocal(filepath.Join(f.dataDir, "store"))
	if err != nil {
		return nil, err
	}
	if s.Remote, err = replica.Open(f.store, f.net.options()); err != nil {
		return nil, exitWith(exitUsage, err)
	}
	s.Remote.Timeout = f.timeout
	s.Copy = replica.NewReplica(s.Remote, s.Store, f.channel)
	s.Canary = replica.NewReplica(s.Remote, s.Store, store.CanaryOf(f.channel))
	return s, nil
}

// checkChannel refuses names that no channel can have, and channels that only --canary moves.
func checkChannel(flag, name string) error {
	if err := store.CheckID(name); err != nil {
		return usagef("--%s %w", flag, err)
	}
	if main, ok := strings.CutSuffix(name, store.CanaryOf("")); ok {
		return usagef("channel %s is that of a canary: name %s, which it is of", name, main)
	}
	return nil
}

func (f *storeFlags) openLocal(dir string) (*openStore, error) {
	st, err := store.Open(dir)
	if err == nil {
		st, err = f.trust.apply(st)
	}
	return &openStore{follow.Source{Store: st, ChannelName: f.channel}}, err
}

// openExisting is open for commands that only read: a missing directory is a mistake, not an empty
// store.
func (f *storeFlags) openExisting() (*openStore, error) {
	if f.store != "" && !objects.IsRemote(f.store) {
		if err := checkStore(f.store); err != nil {
			return nil, err
		}
	}
	return f.open()
}

// current returns what the channel shows, and downloads it from a remote store. If the remote store
// is unavailable, it returns the last kept snapshot and says so in messages.
func (s *openStore) current(ctx context.Context, messages io.Writer) (store.Pointer, error) {
	if s.Remote == nil {
		p, err := s.Store.Channels.Channel(s.ChannelName)
		if err != nil {
			return p, storeError(s.channelError(ctx, err))
		}
		_, err = s.Store.Snapshots.Published(p)
		return p, storeError(err)
	}
	f, err := s.Copy.Fetch(ctx)
	if err == nil {
		return f.Pointer, s.Copy.Keep(f.Version)
	}
	last, lastErr := s.Copy.Last()
	if lastErr != nil || !errors.Is(err, replica.ErrUnavailable) || ctx.Err() != nil {
		return last, storeError(s.channelError(ctx, err))
	}
	fmt.Fprintf(messages, "hdqs: %v\nhdqs: using snapshot %s of %s, kept in %s\n",
		err, last.ID, s.Remote.Address(), s.Store.Dir())
	return last, nil
}

// find returns the snapshot with the id in args, or what the channel shows. With an id, the pointer
// is zero.
func (s *openStore) find(
	ctx context.Context, args []string, messages io.Writer,
) (id string, p store.Pointer, err error) {
	if len(args) == 0 {
		p, err = s.current(ctx, messages)
		return p.ID, p, err
	}
	if s.Remote != nil {
		_, err = s.Copy.FetchID(ctx, args[0])
	} else {
		_, _, err = s.Store.Snapshots.ManifestFile(args[0])
	}
	return args[0], p, s.snapshotError(ctx, args[0], err)
}

// manifest returns the manifest of the snapshot with the id in args, or of what the channel shows.
// It downloads nothing else from a remote store.
func (s *openStore) manifest(ctx context.Context, args []string, messages io.Writer) (*store.Manifest, error) {
	id := ""
	if len(args) > 0 {
		id = args[0]
	}
	if s.Remote != nil {
		m, err := s.Copy.Manifest(ctx, id)
		if id != "" {
			return m, s.snapshotError(ctx, id, err)
		}
		if !errors.Is(err, replica.ErrUnavailable) {
			return m, storeError(s.channelError(ctx, err))
		}
		// find returns the last kept snapshot.
	}
	id, _, err := s.find(ctx, args, messages)
	if err != nil {
		return nil, err
	}
	m, err := s.Store.Snapshots.Manifest(id)
	return m, storeError(err)
}

func (s *openStore) lock(holder string) (release func(), err error) {
	l, err := s.Store.Lock(holder)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: run this as the user that owns the store, as with 'runuser -u USER -- hdqs ...'", err)
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = l.Release() }, nil // the lock ends with the process at the latest
}

// storeError sets the exit code of an error of a store. A damaged or unsigned snapshot is a failed
// verification.
func storeError(err error) error {
	switch {
	case errors.Is(err, store.ErrUnsigned) || errors.Is(err, state.ErrOwnGroups):
		return exitWith(exitUsage, err)
	case errors.Is(err, snapshot.ErrCorrupt) || errors.Is(err, store.ErrSignature):
		return exitWith(exitVerification, err)
	case errors.Is(err, replica.ErrUnavailable), errors.Is(err, fetch.ErrRefused),
		errors.Is(err, follow.ErrNoAnswer):
		return exitWith(exitUpstream, err)
	}
	if _, ok := errors.AsType[*follow.RefusedError](err); ok {
		return exitWith(exitVerification, err)
	}
	return err
}

func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// temporaryDir makes a temporary directory that is locked until remove is called or the process
// ends. Directories of the same kind whose processes were killed are removed first.
func temporaryDir(kind string) (dir string, remove func(), err error) {
	earlier, _ := filepath.Glob(filepath.Join(os.TempDir(), "hdqs-"+kind+"-*")) // the pattern is right
	for _, dir := range earlier {
		removeDead(dir)
	}
	if dir, err = os.MkdirTemp("", "hdqs-"+kind+"-"); err != nil {
		return "", nil, fmt.Errorf("the folder of TMPDIR: %w", err)
	}
	lock, err := store.LockDir(dir, kind)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, func() { os.RemoveAll(dir); _ = lock.Release() }, nil
}

// removeDead removes a directory of temporaryDir if it is this user's and nobody has its lock. A
// new one may not be locked yet.
func removeDead(dir string) {
	info, err := os.Lstat(dir)
	lockFile, lockErr := os.Lstat(filepath.Join(dir, "lock"))
	if err != nil || lockErr != nil || !info.IsDir() || time.Since(lockFile.ModTime()) < time.Minute ||
		!atomicfile.IsOwn(info) {
		return
	}
	if lock, err := store.LockDir(dir, "removal"); err == nil {
		os.RemoveAll(dir)
		_ = lock.Release()
	}
}

// stableChannel is the default channel.
const stableChannel = "stable"
