package follow

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/state"
	"hdqs/internal/fetch"
	"hdqs/internal/replica"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// putBack is a signed store that someone without the key writes to, and a replica of it.
type putBack struct {
	store  *store.Store // of the publisher
	keys   []ed25519.PublicKey
	remote string // address of the store; empty: the replica reads the directory
	data   string // data directory of the replica
	name   string
	*Follower
	log bytes.Buffer
}

// start starts the replica, again if it runs.
func (p *putBack) start(t *testing.T) error {
	t.Helper()
	source := &Source{Store: p.store.Trusting(p.keys), ChannelName: channel}
	if p.remote != "" {
		copied := testkit.Value(store.Open(filepath.Join(p.data, "store")))(t)
		source.Store = copied.Trusting(p.keys)
		source.Remote = testkit.Value(replica.Open(p.remote, fetch.Options{AllowHTTP: true, AllowPrivate: true}))(t)
		source.Copy = replica.NewReplica(source.Remote, source.Store, channel)
		source.Canary = replica.NewReplica(source.Remote, source.Store, store.CanaryOf(channel))
	}
	log := slog.New(slog.NewTextHandler(&p.log, nil))
	p.Follower = New(Options{
		Server: api.New(state.Options{Logger: log, SkipWarmUp: true}), Source: source, Waiter: NewWaiter(nil, log),
		Replica: p.name, Seen: filepath.Join(p.data, "seen.json"), Timeout: 10 * time.Second,
	})
	server := p.server
	t.Cleanup(func() { testkit.Must(t, server.Shutdown(t.Context())) })
	err := p.First(t.Context())
	if err == nil && p.remote != "" {
		_, err = p.Poll(t.Context()) // First served the kept snapshot
	}
	return err
}

func (p *putBack) mustServe(t *testing.T, when, want string, refuses bool) {
	t.Helper()
	_, err := p.Poll(t.Context())
	if refuses != errors.Is(err, store.ErrSignature) || err != nil && !refuses || p.shown.ID != want {
		t.Errorf("%s: serves %s, want %s; %v\n%s", when, p.shown.ID, want, err, &p.log)
	}
}

// files returns the files of the channel and its canary; nil for one that is missing.
func (p *putBack) files(t *testing.T) (files [2][]byte) {
	t.Helper()
	for i, path := range p.paths() {
		data, err := os.ReadFile(path)
		if err != nil && !isAbsent(err) {
			t.Fatal(err)
		}
		files[i] = data
	}
	return files
}

func (p *putBack) paths() [2]string {
	dir := filepath.Join(p.store.Dir(), "channels")
	return [2]string{filepath.Join(dir, channel+".json"), filepath.Join(dir, store.CanaryOf(channel)+".json")}
}

func (p *putBack) put(t *testing.T, files [2][]byte) {
	t.Helper()
	for i, path := range p.paths() {
		if files[i] == nil {
			if err := os.Remove(path); err != nil && !isAbsent(err) {
				t.Fatal(err)
			}
			continue
		}
		testkit.ReplaceFile(t, path, files[i])
	}
}

// TestPutBack: files of a signed channel that someone without the key puts back move no replica,
// whether it runs or was started again, has a name or not, and reads a directory or a web server.
// Nor do files of a canary. What the publisher does is followed all the same.
func TestPutBack(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	plain, ids := newStore(t, day, day.AddDate(0, 0, 1), day.AddDate(0, 0, 2))
	a, b, c := ids[0], ids[1], ids[2]
	key, keys := testkit.SigningKey(t)
	for _, isWeb := range []bool{false, true} {
		for _, name := range []string{"", "r1"} {
			for _, again := range []bool{false, true} {
				t.Run(fmt.Sprintf("web %t, name %q, started again %t", isWeb, name, again), func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					testkit.Must(t, os.CopyFS(dir, os.DirFS(plain.Dir())))
					st := testkit.Value(store.Open(dir))(t)
					p := &putBack{store: st.Signing(key), keys: keys, name: name, data: t.TempDir()}
					if isWeb {
						web := httptest.NewServer(http.FileServer(http.Dir(dir)))
						t.Cleanup(web.Close)
						p.remote = web.URL
					}
					p.run(t, a, b, c, again)
				})
			}
		}
	}
}

func (p *putBack) run(t *testing.T, a, b, c string, again bool) {
	for _, id := range []string{a, b, c} {
		testkit.Must(t, p.store.Snapshots.Sign(id))
	}
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	canary := store.CanaryOf(channel)
	publish := func(id string) {
		t.Helper()
		testkit.Must(t, p.store.Channels.Publish(channel, id, at))
	}
	begin := func(id string) {
		t.Helper()
		main := testkit.Value(p.store.Channels.History(channel))(t)
		testkit.Must(t, p.store.Channels.Move(canary, id, store.StartCanary(main, 100, at)))
	}
	attack := func(when, serves string, refuses bool, files [2][]byte) {
		t.Helper()
		good := p.files(t)
		p.put(t, files)
		if again {
			if err := p.start(t); err != nil && !errors.Is(err, store.ErrSignature) {
				t.Errorf("%s: %v", when, err)
			}
		}
		p.mustServe(t, when, serves, refuses)
		p.put(t, good)
		p.mustServe(t, when+", and right again", serves, false)
	}
	followed := func(id, main string) string {
		if p.name == "" {
			return main
		}
		return id
	}
	publish(a)
	testkit.Must(t, p.start(t))
	p.mustServe(t, "at first", a, false)
	mainA := p.files(t)
	begin(b)
	p.mustServe(t, "canary", followed(b, a), false)
	canaryB := p.files(t)
	attack("a canary that is removed", followed(b, a), false, mainA)
	begin(c)
	p.mustServe(t, "second canary", followed(c, a), false)
	attack("an earlier canary", followed(c, a), p.name != "", canaryB)
	testkit.Must(t, p.store.Channels.Move(canary, a, store.EndCanary(at)))
	p.mustServe(t, "ended", a, false)
	ended := p.files(t)
	attack("an ended canary", a, p.name != "", canaryB)
	publish(b)
	p.mustServe(t, "promoted", b, false)
	attack("the channel, beside the ended canary", b, true, ended)
	attack("the channel with its canary", b, true, canaryB)
	attack("the channel alone", b, true, mainA)
	main := p.files(t)
	begin(c)
	p.mustServe(t, "third canary", followed(c, b), false)
	attack("the channel, beside a canary of the later one", followed(c, b), true, [2][]byte{mainA[0], p.files(t)[1]})
	attack("the channel and an ended canary", followed(c, b), true, ended)
	attack("no canary", followed(c, b), false, [2][]byte{main[0], nil})
	publish(a)
	p.mustServe(t, "rolled back", a, false)
}

// TestSeenOfOtherKeys: what a key signed that is not trusted any more does not bind a replica.
func TestSeenOfOtherKeys(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	plain, ids := newStore(t, day, day.AddDate(0, 0, 1))
	lost, lostKeys := testkit.SigningKey(t)
	key, keys := testkit.SigningKey(t)
	p := &putBack{store: plain.Signing(lost), keys: lostKeys, data: t.TempDir()}
	for _, id := range ids {
		testkit.Must(t, p.store.Snapshots.Sign(id))
	}
	testkit.Must(t, p.store.Channels.Publish(channel, ids[1], day.AddDate(1000, 0, 0)))
	testkit.Must(t, p.start(t))
	p.store = plain.Signing(key)
	testkit.Must(t, p.store.Snapshots.Sign(ids[0]))
	testkit.Must(t, os.Remove(p.paths()[0]))
	testkit.Must(t, p.store.Channels.Publish(channel, ids[0], day))
	testkit.Fails(p.Poll(t.Context()))(t, store.ErrSignature, "by the lost key")
	p.keys = keys
	p.source.Store.Keys.Trust(keys)
	p.mustServe(t, "running", ids[0], false)
	testkit.Must(t, p.start(t))
	p.mustServe(t, "started again", ids[0], false)
	testkit.WriteFile(t, p.options.Seen, []byte("{"))
	testkit.Must(t, p.start(t))
	p.mustServe(t, "with a damaged file", ids[0], false)
}
