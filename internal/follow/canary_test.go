package follow

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/state"
	"hdqs/internal/fleet"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// member is a follower with a name, which is polled by hand.
type member struct {
	*Follower
	name string
	log  bytes.Buffer
}

func newMember(t *testing.T, st *store.Store, name string) *member {
	t.Helper()
	m := &member{name: name}
	log := slog.New(slog.NewTextHandler(&m.log, nil))
	m.Follower = New(Options{
		Server: api.New(state.Options{Logger: log, SkipWarmUp: true}), Source: &Source{Store: st, ChannelName: channel},
		Waiter: NewWaiter(nil, log), Replica: name,
	})
	t.Cleanup(func() { testkit.Must(t, m.server.Shutdown(t.Context())) })
	return m
}

func (m *member) mustServe(t *testing.T, when, want string) {
	t.Helper()
	_, err := m.Poll(t.Context())
	snap := m.server.State.Snapshots.Snapshot()
	defer closeSnapshot(snap)
	if err != nil || snap.Manifest.ID != want {
		t.Errorf("%s: replica %q serves %s, %v; want %s", when, m.name, snap.Manifest.ID, err, want)
	}
}

// named finds a name below or not below a number of per cent.
func named(percent int, below bool) string {
	for i := 0; ; i++ {
		if name := fmt.Sprintf("r%d", i); (store.Bucket(name) < percent) == below {
			return name
		}
	}
}

// putUnfit adds a snapshot whose files are sound and which no server can serve: a table lacks its
// columns.
func putUnfit(t *testing.T, st *store.Store, like string) string {
	t.Helper()
	m, err := st.Snapshots.Manifest(like)
	testkit.Must(t, err)
	unfit := *m
	unfit.ID = "unfit"
	unfit.Tables = append([]store.SegmentRef(nil), m.Tables...)
	for i := range unfit.Tables {
		if unfit.Tables[i].Table == "idps" {
			unfit.Tables[i], err = st.Segments.PutSegment(&snapshot.TableData{
				Name: "idps", Rows: 1,
				Columns: []snapshot.ColumnData{{Name: "n", Kind: snapshot.Int, Ints: []int64{1}}},
			})
			testkit.Must(t, err)
		}
	}
	testkit.Must(t, st.Snapshots.PutManifest(&unfit))
	return unfit.ID
}

// TestFollowCanary: the replicas of a canary's share get its snapshot, the others and one without a
// name do not until it is promoted, and they go back when it is ended, also where signatures are
// required, which let nobody go back by an old file.
func TestFollowCanary(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	plain, ids := newStore(t, day, day.AddDate(0, 0, 1), day.AddDate(0, 0, 2))
	key, keys := testkit.SigningKey(t)
	st := plain.Signing(key)
	for _, id := range ids {
		testkit.Must(t, st.Snapshots.Sign(id))
	}
	testkit.Must(t, st.Channels.Publish(channel, ids[0], day))
	const share = 40
	in, out := newMember(t, st.Trusting(keys), named(share, true)), newMember(t, st.Trusting(keys), named(share, false))
	nameless := newMember(t, st.Trusting(keys), "")
	check := func(when, first, others string) {
		t.Helper()
		in.mustServe(t, when, first)
		out.mustServe(t, when, others)
		nameless.mustServe(t, when, others)
	}
	main := func() store.Channel { return testkit.Value(st.Channels.History(channel))(t) }
	name := store.CanaryOf(channel)
	file := filepath.Join(st.Dir(), "channels", name+".json")
	check("before", ids[0], ids[0])
	testkit.Must(t, st.Channels.Move(name, ids[1], store.StartCanary(main(), share, day)))
	old := testkit.ReadFile(t, file)
	check("canary", ids[1], ids[0])
	testkit.WriteFile(t, file, []byte("{"))
	check("damaged canary", ids[1], ids[0])
	testkit.WriteFile(t, file, old)
	testkit.Must(t, st.Channels.Move(name, ids[0], store.EndCanary(day)))
	ended := testkit.ReadFile(t, file)
	check("ended", ids[0], ids[0])
	testkit.WriteFile(t, file, old)
	if _, err := in.Poll(t.Context()); !errors.Is(err, store.ErrSignature) || in.shown.ID != ids[0] {
		t.Errorf("an old file of the canary: serves %s, %v", in.shown.ID, err)
	}
	testkit.WriteFile(t, file, ended)
	testkit.Must(t, st.Channels.Move(name, ids[2], store.StartCanary(main(), share, day)))
	check("second canary", ids[2], ids[0])
	testkit.Must(t, st.Channels.Move(name, ids[2], store.StartCanary(main(), 100, day)))
	in.mustServe(t, "all", ids[2])
	out.mustServe(t, "all", ids[2])
	nameless.mustServe(t, "all", ids[0])
	testkit.Must(t, st.Channels.Publish(channel, ids[2], day))
	check("promoted", ids[2], ids[2])
	testkit.Must(t, st.Channels.Publish(channel, ids[1], day))
	check("a canary that nobody has ended", ids[1], ids[1])
	testkit.Must(t, os.Remove(file))
	check("no canary", ids[1], ids[1])
}

// TestReports: a replica reports what it serves, refuses or cannot reach, and a report that cannot
// be written is logged once and changes nothing.
func TestReports(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	st, ids := newStore(t, day)
	unfit := putUnfit(t, st, ids[0])
	m := newMember(t, st, "r1")
	report := func() fleet.Seen {
		t.Helper()
		all, err := fleet.Read(t.Context(), st.Files(), channel, time.Now())
		if err != nil || len(all) != 1 || all[0].Replica != "r1" || all[0].Err != nil {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0]
	}
	m.mustServe(t, "at first", ids[0])
	r := report()
	if !r.Shown.Same(m.shown) || r.Refused != nil || r.Failed != "" || r.Since.IsZero() || r.Unknown() != "" {
		t.Errorf("at first: %+v", r)
	}
	main := testkit.Value(st.Channels.History(channel))(t)
	name := store.CanaryOf(channel)
	testkit.Must(t, st.Channels.Move(name, unfit, store.StartCanary(main, 100, day)))
	canary := testkit.Value(st.Channels.History(name))(t)
	if _, err := m.Poll(t.Context()); err == nil {
		t.Error("a snapshot that does not fit was served")
	}
	r = report()
	if r.Refused == nil || !r.Refused.Same(canary.Pointer) || !strings.Contains(r.Refused.Reason, "idps") ||
		!r.Shown.Same(main.Pointer) {
		t.Errorf("refused: %+v", r)
	}
	judge := fleet.Judge{Pointer: canary.Pointer, Replicas: []string{"r1"}}
	if v, reasons := judge.Look([]fleet.Seen{r}); v != fleet.Refused {
		t.Errorf("judged %d, %q", v, reasons)
	}
	testkit.Must(t, st.Channels.Move(name, ids[0], store.EndCanary(day)))
	m.mustServe(t, "ended", ids[0])
	if r := report(); r.Refused != nil || r.Failed != "" {
		t.Errorf("ended: %+v", r)
	}
	path := filepath.Join(st.Dir(), "channels", channel+".json")
	good := testkit.ReadFile(t, path)
	testkit.WriteFile(t, path, []byte("{"))
	if _, err := m.Poll(t.Context()); err == nil {
		t.Error("a damaged channel was read")
	}
	if r := report(); r.Refused != nil || !strings.Contains(r.Failed, "channel") {
		t.Errorf("a damaged channel: %+v", r)
	}
	testkit.WriteFile(t, path, good)
	replicas := filepath.Join(st.Dir(), store.ReplicasDir)
	testkit.Must(t, os.RemoveAll(replicas))
	testkit.WriteFile(t, replicas, nil) // in place of the folder
	m.mustServe(t, "without reports", ids[0])
	m.mustServe(t, "without reports", ids[0])
	testkit.Equal(t, strings.Count(m.log.String(), "cannot be written"), 1, "logged times:\n%s", &m.log)
}
