package replica

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"hdqs/internal/fetch"
	"hdqs/internal/objects/objectstest"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

func TestMain(m *testing.M) { objectstest.Main(m) }

// newFake makes a bucket and returns the remote store there.
func newFake(t *testing.T) (*objectstest.Bucket, *Remote) {
	t.Helper()
	return newFakeNamed(t, t.Name())
}

// newFakeNamed is newFake for a test with several buckets.
func newFakeNamed(t *testing.T, name string) (*objectstest.Bucket, *Remote) {
	t.Helper()
	b := objectstest.NewBucket(name)
	r, err := Open(b.Address(), fetch.Options{})
	testkit.Must(t, err)
	r.Timeout = testkit.Patience // which no load of the machine reaches
	return b, r
}

// publishRemote moves a channel of a remote store, whatever it shows.
func publishRemote(
	t *testing.T, r *Remote, channel, id string, at time.Time, trust *store.Store,
) (Version, error) {
	t.Helper()
	base, err := r.Channel(t.Context(), channel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return base, err
	}
	return r.Move(t.Context(), channel, base, id, store.PublishAt(at), trust)
}
