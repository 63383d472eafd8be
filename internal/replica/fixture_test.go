package replica

import (
	"crypto/ed25519"
	"errors"
	"io/fs"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

func TestMain(m *testing.M) { objectstest.Main(m) }

// pair is a writer's store and a replica's, with a bucket between them.
type pair struct {
	*objectstest.Bucket
	t              *testing.T
	remote         *Remote
	writer, reader *store.Store
	replica        *Replica
	shown          Version // what the writer has pushed last
}

// newPair is that of a parallel test.
func newPair(t *testing.T) *pair {
	t.Helper()
	return newPairNamed(t, t.Name())
}

// newPairNamed is newPair for a subtest, whose name is no name of a bucket.
func newPairNamed(t *testing.T, name string) *pair {
	t.Helper()
	t.Parallel()
	p := &pair{t: t, writer: newStore(t), reader: newStore(t)}
	p.Bucket = objectstest.NewBucket(name)
	r := testkit.Value(Open(p.Address(), fetch.Options{}))(t)
	r.Timeout = testkit.Patience // which no load of the machine reaches
	p.remote = r
	p.replica = NewReplica(p.remote, p.reader, "stable")
	return p
}

// sign makes the writer sign, and the replica require that.
func (p *pair) sign() (keys []ed25519.PublicKey) {
	p.t.Helper()
	key, keys := testkit.SigningKey(p.t)
	p.writer = p.writer.Signing(key)
	p.require(keys)
	return keys
}

// require makes the replica require signatures.
func (p *pair) require(keys []ed25519.PublicKey) {
	p.reader = p.reader.Trusting(keys)
	p.replica = NewReplica(p.remote, p.reader, "stable")
}

// fresh fetches and keeps what the bucket shows, in a new store.
func (p *pair) fresh() *FetchResult {
	p.t.Helper()
	reader := newStore(p.t)
	return mustFetch(p.t, NewReplica(p.remote, reader, "stable"), reader)
}

// move moves a channel of the bucket, whatever it shows.
func (p *pair) move(channel, id string, at time.Time, trust *store.Store) (Version, error) {
	p.t.Helper()
	base, err := p.remote.Channel(p.t.Context(), channel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return base, err
	}
	return p.remote.Move(p.t.Context(), channel, base, id, store.PublishAt(at), trust)
}

// put publishes a snapshot and pushes it.
func (p *pair) put(id string, tables ...*snapshot.TableData) *store.Manifest {
	p.t.Helper()
	m := publish(p.t, p.writer, id, tables...)
	p.push()
	return m
}

// push pushes what the writer's channel shows.
func (p *pair) push() Version {
	p.t.Helper()
	p.shown = mustPush(p.t, p.remote, p.writer, p.shown)
	return p.shown
}

// fetch fetches and keeps the snapshot, and verifies the replica's store.
func (p *pair) fetch() *FetchResult {
	p.t.Helper()
	return mustFetch(p.t, p.replica, p.reader)
}
