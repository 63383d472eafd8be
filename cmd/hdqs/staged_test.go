package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/loader/sample"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// sampleCatalog is the sample with the records of displaced people changed: change returns false
// for those that are left out.
func sampleCatalog(t *testing.T, change func(cell func(string) *string) bool) string {
	t.Helper()
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, sample.FS))
	testkit.Must(t, os.Remove(filepath.Join(dir, "catalog.json"))) // it has the old sums
	testkit.ChangeCSV(t, filepath.Join(dir, "idps", "hdx_hapi_idps_global.csv"), change)
	return dir
}

func buildSample(t *testing.T, code int, catalog, store, at string, more ...string) cmdResult {
	t.Helper()
	args := []string{"build", "--catalog", catalog, "--store", store, "--snapshot-time", at, "--allow-shrink=idps"}
	return mustExit(t, code, append(args, more...)...)
}

// TestBadLoad: a load that has lost a country and figures that are ten times too high do not move
// the channel, neither by build nor by publish. The message names what is wrong and what accepts
// it.
func TestBadLoad(t *testing.T) {
	parallel(t)
	good := sampleCatalog(t, func(func(string) *string) bool { return true })
	bad := sampleCatalog(t, func(cell func(string) *string) bool {
		if *cell("location_code") == "ABW" {
			*cell("population") += "0"
		}
		return *cell("location_code") != "AFG"
	})
	dir := filepath.Join(t.TempDir(), "store")
	buildSample(t, 0, good, dir, "2026-11-21T00:00:00Z", "--max-change", "50%") // nothing to compare with
	channel := filepath.Join(dir, "channels", "stable.json")
	before := testkit.ReadFile(t, channel)
	shown, _ := inspect(t, dir)
	want := []string{
		"channel stable stays at " + shown.ID, "idps, AFG: rows: 14 before, 0 after, more than 50 % apart",
		"internally_displaced, ABW: 91267 before, 912670 after, more than 50 % apart",
		"raise --max-change 50%", "--exceptions", "idps AFG any until ",
	}
	stopped := func(what string, o cmdResult) {
		t.Helper()
		for _, text := range want {
			if !strings.Contains(o.stderr, text) {
				t.Errorf("%s: no %q in\n%s", what, text, o.stderr)
			}
		}
		if !bytes.Equal(testkit.ReadFile(t, channel), before) {
			t.Errorf("%s: the channel has moved", what)
		}
	}
	o := buildSample(t, 1, bad, dir, "2026-11-22T00:00:00Z", "--max-change", "50%")
	stopped("build", o)
	advice := "without another load: hdqs publish --store " + dir + " --channel stable 20261122T000000Z-"
	if !strings.Contains(o.stdout, "not published") || !strings.Contains(o.stdout, "idps") ||
		!strings.Contains(o.stderr, advice) {
		t.Errorf("the report of a load that was stopped:\n%s%s", o.stdout, o.stderr)
	}
	buildSample(t, 0, bad, dir, "2026-11-22T00:00:00Z", "--channel", "next")
	publish := []string{"publish", "--store", dir, "--from", "next", "--max-change", "50%"}
	stopped("publish", mustExit(t, 1, publish...))
	stopped("canary", mustExit(t, 1, append(publish, "--canary", "10%")...))
	exceptions := filepath.Join(t.TempDir(), "exceptions.txt")
	testkit.WriteFile(t, exceptions, []byte("* AFG any # no survey this year\ninternally_displaced ABW 900%\n"))
	mustExit(t, 0, append(publish, "--exceptions", exceptions)...)
	if now, _ := inspect(t, dir); now.ID == shown.ID {
		t.Error("an accepted snapshot was not published")
	}
	testkit.WriteFile(t, exceptions, []byte("internally_displaced ABW\n"))
	o = mustExit(t, 2, append(publish, "--exceptions", exceptions)...)
	if !strings.Contains(o.stderr, "exceptions.txt: line 1: ") {
		t.Error(o.stderr)
	}
}

// TestHistory: what publications changed is known after their snapshots have been removed, to
// history and, after a start, to the page of what changed.
func TestHistory(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "store")
	key, public := newKey(t, t.TempDir(), "key")
	for i, population := range []string{"1", "22", "333", "4444"} {
		catalog := sampleCatalog(t, func(cell func(string) *string) bool {
			if *cell("location_code") == "BFA" { // one row
				*cell("population") = population
			}
			return true
		})
		at := fmt.Sprintf("2026-11-2%dT00:00:00Z", i)
		buildSample(t, 0, catalog, dir, at, "--keep-changes", "2", "--sign-key", key)
	}
	mustExit(t, 0, "gc", "--store", dir, "--keep", "0", "--grace", "0s")
	find := []string{"history", "--store", dir, "--table", "idps", "--row", "location_code=BFA"}
	o := mustExit(t, 5, append(find, "--require-signature", "--public-key", public)...)
	var got []string
	for line := range strings.Lines(o.stdout) {
		v := decode[struct {
			Snapshot, Change string
			Population       int
		}](t, []byte(line))
		got = append(got, fmt.Sprint(v.Snapshot[:8], " ", v.Change, " ", v.Population))
	}
	want := []string{"20261123 none 4444", "20261123 changed 4444", "20261122 changed 333"}
	if !slices.Equal(got, want) || strings.Count(o.stderr, "is not known") != 1 {
		t.Errorf("%q, want %q\n%s", got, want, o.stderr)
	}
	o = mustExit(t, 2, "history", "--store", dir, "--table", "idps", "--row", "location_cod=BFA")
	if !strings.Contains(o.stderr, "location_code") {
		t.Error(o.stderr)
	}
	mustExit(t, 1, "history", "--store", dir, "--table", "idps", "--row", "location_code=XXX")

	s := serve(t, "--store", dir, "--require-signature", "--public-key", public)
	page := string(ask(t, "GET", s.base+"/changelog?since=2026-11-01&location_code=BFA").body)
	const numbers = `<td class="count">0</td><td class="count">0</td><td class="count">1</td></tr>`
	if strings.Count(page, numbers) < 2 || strings.Count(page, `<section aria-labelledby="change-`) != 2 {
		t.Errorf("the page of what changed:\n%s", page)
	}
}

type fleetView struct {
	Shown    struct{ ID string }
	Canary   *struct{ ID string }
	Replicas []struct {
		Replica, State, Why string
		Shown               struct{ ID string }
	}
}

// TestHold runs replicas and publishes with a watch: what they refuse goes back to all of them
// without a person and the channel has not moved; what they serve is promoted, and until then the
// others do not show it.
func TestHold(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "store")
	catalog := sampleCatalog(t, func(func(string) *string) bool { return true })
	buildSample(t, 0, catalog, dir, "2026-11-21T00:00:00Z")
	first, _ := inspect(t, dir)
	catalog = sampleCatalog(t, func(cell func(string) *string) bool { return *cell("location_code") != "AFG" })
	buildSample(t, 0, catalog, dir, "2026-11-22T00:00:00Z", "--channel", "next")
	o := mustExit(t, 0, "inspect", "--store", dir, "--channel", "next", "--json")
	second := decode[snapshotView](t, []byte(o.stdout))
	fleet := func(code int) fleetView {
		t.Helper()
		return decode[fleetView](t, []byte(mustExit(t, code, "status", "--fleet", "--store", dir, "--json").stdout))
	}
	publish := []string{"publish", "--store", dir, "--hold", "1ms"}
	if o := mustExit(t, 1, append(publish, second.ID)...); !strings.Contains(o.stderr, "--replica NAME") {
		t.Errorf("without replicas: %s", o.stderr)
	}
	if v := fleet(1); len(v.Replicas) != 0 || v.Canary != nil {
		t.Errorf("without replicas: %+v", v)
	}
	poll := []string{"--store", dir, "--snapshot-poll", "20ms", "--replica"}
	low := named(func(bucket int) bool { return bucket < 50 })
	high := named(func(bucket int) bool { return bucket >= 50 })
	a, b := serve(t, append(poll, low)...), serve(t, append(poll, high)...)
	both := func(v fleetView, id string) bool {
		return len(v.Replicas) == 2 && v.Replicas[0].Shown.ID == id && v.Replicas[1].Shown.ID == id
	}
	testkit.WaitFor(t, "reports", func() bool { return len(reporting(t, dir)) == 2 })
	if v := fleet(0); !both(v, first.ID) {
		t.Errorf("at first: %+v", v)
	}

	unfit := putUnfit(t, dir, first.ID)
	o = mustExit(t, 1, append(publish, unfit)...)
	if !strings.Contains(o.stderr, "snapshot "+unfit+" is refused, its canary went back to "+first.ID) ||
		!strings.Contains(o.stderr, "refuses it (open): ") {
		t.Error(o.stderr)
	}
	if now, _ := inspect(t, dir); now.ID != first.ID {
		t.Errorf("the channel shows %s", now.ID)
	}
	testkit.WaitFor(t, "the rollback", func() bool {
		v := decode[fleetView](t, []byte(run(t, "status", "--fleet", "--store", dir, "--json").stdout))
		return both(v, first.ID) && v.Canary == nil && v.Replicas[0].State == "good" && v.Replicas[1].State == "good"
	})
	if a.snapshotID(t) != first.ID || b.snapshotID(t) != first.ID {
		t.Errorf("served %s, %s", a.snapshotID(t), b.snapshotID(t))
	}

	o = mustExit(t, 2, "publish", "--store", dir, "--canary", "1%", second.ID)
	if !strings.Contains(o.stderr, "% has one") {
		t.Error(o.stderr)
	}
	o = mustExit(t, 0, "publish", "--store", dir, "--canary", "50%", second.ID)
	if !strings.Contains(o.stdout, "50 % of replicas, 1 of 2: "+low+"; the others stay at "+first.ID+"\n") {
		t.Error(o.stdout)
	}
	a.waitFor(t, "the canary", func() bool { return a.snapshotID(t) == second.ID })
	for range 2 { // the first may have begun before
		moved := time.Now()
		b.waitFor(t, "a later poll", func() bool {
			type polled struct {
				LastPoll struct{ At time.Time } `json:"last_poll"`
			}
			return decode[polled](t, ask(t, "GET", b.admin+"/readyz").body).LastPoll.At.After(moved)
		})
	}
	if id := b.snapshotID(t); id != first.ID {
		t.Errorf("the other replica serves %s", id)
	}
	mustExit(t, 0, "rollback", "--store", dir, "--canary")
	a.waitFor(t, "the end of the canary", func() bool { return a.snapshotID(t) == first.ID })
	mustExit(t, 1, "rollback", "--store", dir, "--canary") // there is none now
	o = mustExit(t, 0, append(publish, "--canary", "50%,100%", second.ID)...)
	if strings.Count(o.stdout, "the others") != 1 || !strings.Contains(o.stdout, ", 2 of 2: ") {
		t.Error(o.stdout)
	}
	if v := fleet(0); !both(v, second.ID) { // also before replicas have seen the promotion
		t.Errorf("right after the promotion: %+v", v)
	}
	if now, _ := inspect(t, dir); now.ID != second.ID || a.snapshotID(t) != second.ID || b.snapshotID(t) != second.ID {
		t.Errorf("promoted: the channel shows %s, replicas %s, %s", now.ID, a.snapshotID(t), b.snapshotID(t))
	}
}

// TestHoldMoved: a watch ends when another publisher moves the channel, and does not touch what
// that has published.
func TestHoldMoved(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "store")
	catalog := sampleCatalog(t, func(func(string) *string) bool { return true })
	var ids []string
	for _, at := range []string{"2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"} {
		buildSample(t, 0, catalog, dir, at, "--catalog-url", "https://"+at[:10]+".example.org")
		view, _ := inspect(t, dir)
		ids = append(ids, view.ID)
	}
	r := serve(t, "--store", dir, "--snapshot-poll", "20ms", "--replica", "r1")
	r.waitFor(t, "a report", func() bool { return len(reporting(t, dir)) == 1 })
	hold := start(t, nil, "publish", "--store", dir, "--hold", "1h", "--give-up", "2h", ids[1])
	hold.waitFor(t, "the canary", func() bool { return r.snapshotID(t) == ids[1] })
	mustExit(t, 0, "publish", "--store", dir, ids[0])
	if code := hold.wait(t); code != 1 || !hold.logged("moved by someone else") {
		t.Errorf("exit code %d: %s", code, hold.log)
	}
	r.waitFor(t, "the other publication", func() bool { return r.snapshotID(t) == ids[0] })
	if view, _ := inspect(t, dir); view.ID != ids[0] {
		t.Errorf("the channel shows %s, want %s", view.ID, ids[0])
	}
}

// named finds the name of a replica by its number.
func named(fits func(bucket int) bool) string {
	for i := 0; ; i++ {
		if name := fmt.Sprintf("r%d", i); fits(store.Bucket(name)) {
			return name
		}
	}
}

// reporting are the names of replicas that have reported.
func reporting(t *testing.T, dir string) []string {
	t.Helper()
	names, err := store.NamesIn(filepath.Join(dir, store.ReplicasDir, "stable"))
	testkit.Must(t, err)
	return names
}

// putUnfit adds a snapshot whose files are sound and which no server can serve: a table lacks its
// columns.
func putUnfit(t *testing.T, dir, like string) string {
	t.Helper()
	st, err := store.Open(dir)
	testkit.Must(t, err)
	m, err := st.Snapshots.Manifest(like)
	testkit.Must(t, err)
	unfit := *m
	unfit.ID, unfit.SnapshotTime, unfit.Tables = "unfit", time.Now(), slices.Clone(m.Tables)
	at := slices.IndexFunc(unfit.Tables, func(r store.SegmentRef) bool { return r.Table == "idps" })
	unfit.Tables[at], err = st.Segments.PutSegment(&snapshot.TableData{
		Name: "idps", Rows: 1, Columns: []snapshot.ColumnData{{Name: "n", Kind: snapshot.Int, Ints: []int64{1}}},
	})
	testkit.Must(t, err)
	testkit.Must(t, st.Snapshots.PutManifest(&unfit))
	return unfit.ID
}

// TestBucketHold is TestHold for a bucket: reports, canary and changes are objects.
func TestBucketHold(t *testing.T) {
	o := onVersity(t)
	data := t.TempDir()
	in := func(code int, args ...string) cmdResult {
		t.Helper()
		return o.run(t, code, append(args, "--store", storeAddress, "--data-dir", data)...)
	}
	build := func(population, at string, more ...string) string {
		t.Helper()
		catalog := sampleCatalog(t, func(cell func(string) *string) bool {
			if *cell("location_code") == "BFA" { // one row
				*cell("population") = population
			}
			return true
		})
		in(0, append([]string{"build", "--catalog", catalog, "--snapshot-time", at}, more...)...)
		channel := "stable"
		if len(more) > 0 {
			channel = "next"
		}
		return decode[snapshotView](t, []byte(in(0, "inspect", "--json", "--channel", channel).stdout)).ID
	}
	first := build("1", "2026-11-21T00:00:00Z")
	second := build("2", "2026-11-22T00:00:00Z", "--channel", "next")
	r := o.serve(t, "--store", storeAddress, "--data-dir", t.TempDir(), "--snapshot-poll", "50ms",
		"--replica", "r1", "--admin", "127.0.0.1:0")
	r.waitFor(t, "a report", func() bool { return len(o.list(t, "store/replicas/stable/")) == 1 })

	local := filepath.Join(data, "store")
	unfit := putUnfit(t, local, second)
	st, err := store.Open(local)
	testkit.Must(t, err)
	m, err := st.Snapshots.Manifest(unfit)
	testkit.Must(t, err)
	for _, ref := range m.Tables {
		name := store.SegmentName(ref.SHA256)
		o.put(t, "store/"+name, testkit.ReadFile(t, filepath.Join(local, name)))
	}
	name := store.ManifestName(unfit)
	o.put(t, "store/"+name, testkit.ReadFile(t, filepath.Join(local, name)))
	if out := in(1, "publish", "--hold", "1ms", unfit); !strings.Contains(out.stderr, "refuses it (open): ") {
		t.Error(out.stderr)
	}
	r.waitFor(t, "the rollback", func() bool {
		status := runWith(t, o.env, "", "status", "--fleet", "--json", "--store", storeAddress).stdout
		v := decode[fleetView](t, []byte(status))
		return v.Shown.ID == first && v.Canary == nil && v.Replicas[0].State == "good" && r.snapshotID(t) == first
	})
	in(0, "publish", "--from", "next", "--hold", "1ms", "--keep-changes", "3", "--max-change", "50%")
	if id := r.snapshotID(t); id != second {
		t.Errorf("promoted: serves %s, want %s", id, second)
	}
	out := in(0, "history", "--table", "idps", "--row", "location_code=BFA").stdout
	if strings.Count(out, "\n") != 2 || !strings.Contains(out, `"was":{"population":1}`) {
		t.Errorf("history:\n%s", out)
	}
}
