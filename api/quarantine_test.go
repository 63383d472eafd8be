package api

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// damagedServer serves a store of its own, whose files a test may change.
type damagedServer struct {
	*Server
	store *store.Store
	log   *testkit.Log
	file  string // of the table of locations
	sound []byte // its content
}

const (
	damagedPath   = "/api/v2/metadata/location"
	damagedTarget = damagedPath + "?app_identifier=" + goodIdentifier
	damagedTable  = "location"
)

// newDamagedServer serves a table of 10,000 locations, whose whole list is streamed, and a small
// one.
func newDamagedServer(t *testing.T) *damagedServer {
	t.Helper()
	dir, own := t.TempDir(), t.TempDir()
	writeSnapshot(t, dir, sampleID, sampleTime, []*testTable{
		numberedLocations(10_000, nil),
		sampleTable(planOf("/api/v2/metadata/sector").Endpoint, 20, rand.New(rand.NewPCG(1, 2))),
	})
	testkit.Must(t, os.CopyFS(filepath.Join(own, "manifests"), os.DirFS(filepath.Join(dir, "manifests"))))
	from, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &damagedServer{log: new(testkit.Log)}
	if d.store, err = store.Open(own); err != nil {
		t.Fatal(err)
	}
	m, err := from.Snapshots.Manifest(sampleID)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, os.Mkdir(filepath.Join(own, "segments"), 0o755))
	for _, ref := range m.Tables {
		source, _ := from.Segments.SegmentPath(ref.SHA256)
		target, _ := d.store.Segments.SegmentPath(ref.SHA256)
		data, err := os.ReadFile(source)
		if err == nil {
			err = os.WriteFile(target, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if ref.Table == damagedTable {
			d.file, d.sound = target, data
		}
	}
	d.Server = serverOf(t, state.Options{Logger: slog.New(slog.NewTextHandler(d.log, nil))}, openSnapshot(t, own,
		sampleID))
	return d
}

// overwrite replaces the content of the file in place, as cp does: it is empty for a moment.
func (d *damagedServer) overwrite(t *testing.T, data []byte) {
	t.Helper()
	testkit.Must(t, os.WriteFile(d.file, data, 0o644))
}

// mustHeal opens the table again and checks that it is served.
func (d *damagedServer) mustHeal(t *testing.T) {
	t.Helper()
	select {
	case <-d.State.Inspector.Quarantined():
	default:
		t.Error("Quarantined has no element")
	}
	healed, refused, err := d.State.Heal(d.store.Snapshots.Reopen)
	if err != nil || !slices.Equal(healed, []string{damagedTable}) || len(refused) > 0 {
		t.Fatalf("healed %q, still refused %q, %v", healed, refused, err)
	}
}

// expect checks the status of an answer, and the header of a refusal.
func (d *damagedServer) expect(t *testing.T, status int, method, target string, header ...reply.HeaderField) Answer {
	t.Helper()
	got := d.Answer(method, target, header)
	control, _ := got.field("Cache-Control")
	after, _ := got.field("Retry-After")
	if got.Status != status || status == 503 && (control != "no-store" || after != "5") {
		t.Errorf("%s %s %v: %d %.200s, Cache-Control %q, Retry-After %q, want %d",
			method, target, header, got.Status, got.Body, control, after, status)
	}
	return got
}

// expectRefused checks that every way to an answer from the table is refused, and no other table.
func (d *damagedServer) expectRefused(t *testing.T, tag string) {
	t.Helper()
	d.expect(t, 503, "GET", damagedTarget)
	// was cached
	d.expect(t, 503, "GET", damagedTarget+"&limit=100", reply.HeaderField{Name: "Accept-Encoding", Value: "gzip"})
	d.expect(t, 503, "GET", damagedTarget+"&limit=7&output_format=csv", reply.HeaderField{
		Name:  "Accept-Encoding",
		Value: "zstd",
	})
	d.expect(t, 503, "HEAD", damagedTarget)
	d.expect(t, 503, "GET", damagedTarget+"&limit=100", reply.HeaderField{Name: "If-None-Match", Value: tag})
	d.expect(t, 503, "GET", damagedTarget+"&snapshot="+sampleID)
	d.expect(t, 200, "GET", listTarget)
	if got := d.expect(t, 503, "GET", damagedTarget); !bytes.Contains(got.Body, []byte(`"table":"location"`)) {
		t.Errorf("the refusal is %s", got.Body)
	}
}

// warm sends requests until one body is cached, and returns the tag of that and the whole list.
func (d *damagedServer) warm(t *testing.T) (tag string, whole []byte) {
	t.Helper()
	gzip := reply.HeaderField{Name: "Accept-Encoding", Value: "gzip"}
	for range 3 {
		got := d.expect(t, 200, "GET", damagedTarget+"&limit=100", gzip)
		tag, _ = got.field("ETag")
	}
	if c := d.Lists.Bodies.Counts(); c.Hits != 1 || c.Bytes == 0 {
		t.Fatalf("%+v: no body is cached", c)
	}
	d.expect(t, 304, "GET", damagedTarget+"&limit=100", reply.HeaderField{Name: "If-None-Match", Value: tag})
	return tag, d.expect(t, 200, "GET", damagedTarget).Body
}

// expectServed checks that the table is served again, and that no snapshot was leaked.
func (d *damagedServer) expectServed(t *testing.T, tag string, whole []byte) {
	t.Helper()
	if got := d.expect(t, 200, "GET", damagedTarget); !bytes.Equal(got.Body, whole) {
		t.Error("the list differs from the one before the damage")
	}
	d.expect(t, 304, "GET", damagedTarget+"&limit=100", reply.HeaderField{Name: "If-None-Match", Value: tag})
	d.expect(t, 200, "GET", damagedTarget+"&snapshot="+sampleID)
	snapshots := d.State.Snapshots
	if refs, held := snapshots.Current.Load().Refs.Load(), snapshots.Retained.Count(); refs != 1 || held != 0 {
		t.Errorf("%d references to the snapshot, %d snapshots retained", refs, held)
	}
	if at := d.State.Snapshots.Current.Load().Published(); !at.Equal(publishedTime) {
		t.Errorf("published %s, want %s", at, publishedTime)
	}
}

// TestTruncatedSegment truncates a served file. The request that meets the fault gets 503, and so
// does every request for the table until its file is whole again. The process lives.
func TestTruncatedSegment(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	tag, whole := d.warm(t)
	testkit.Must(t, os.Truncate(d.file, 0))
	d.expect(t, 503, "GET", damagedTarget+"&code=C7")
	d.expectRefused(t, tag)
	if n := d.State.Inspector.Found[state.ByFault].Load(); n != 1 || d.State.Panics.Load() != 0 {
		t.Errorf("%d faults and %d panics were counted", n, d.State.Panics.Load())
	}
	if c := d.Lists.Bodies.Counts(); c.Bytes != 0 {
		t.Errorf("%d bytes of bodies are still cached", c.Bytes)
	}
	healed, refused, err := d.State.Heal(d.store.Snapshots.Reopen)
	if err == nil || len(healed) > 0 || !slices.Equal(refused, []string{damagedTable}) {
		t.Errorf("with the file truncated: healed %q, refused %q, %v", healed, refused, err)
	}
	d.expectRefused(t, tag)
	d.overwrite(t, d.sound)
	d.mustHeal(t)
	d.expectServed(t, tag, whole)
	log := d.log.String()
	for _, text := range []string{"table=location", "memory fault", "edge_key=tv-"} {
		if !strings.Contains(log, text) {
			t.Errorf("%q is not in the log", text)
		}
	}
	if strings.Count(log, "a table is refused") != 1 || strings.Contains(log, goodIdentifier) {
		t.Errorf("the log is\n%s", log)
	}
}

// TestRemovedAndDamagedSegment: a file is removed after it was served damaged, and its bytes become
// right again only in the mapping.
func TestRemovedAndDamagedSegment(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	tag, whole := d.warm(t)
	link := d.file + ".link"
	testkit.Must(t, errors.Join(os.Link(d.file, link), os.Truncate(d.file, 0), os.Remove(d.file)))
	d.expect(t, 503, "GET", damagedTarget+"&code=C7")
	if _, refused, err := d.State.Heal(d.store.Snapshots.Reopen); err == nil || len(refused) != 1 {
		t.Errorf("without a file: refused %q, %v", refused, err)
	}
	testkit.Must(t, os.WriteFile(link, d.sound, 0o644))
	d.mustHeal(t)
	d.expectServed(t, tag, whole)
}

// TestFaultInStream truncates the file after the header of a long page was made. The client gets an
// answer that is cut short, and nothing of it is kept.
func TestFaultInStream(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	tag, whole := d.warm(t)
	for path, begun := range map[string]bool{"/api/cut": false, "/api/cut-later": true} {
		d.Lists.Routes.Add(d.Lists.Routes.Mounts[0], path, list.Route{Answer: func(ctx *fasthttp.RequestCtx) error {
			if err := d.Lists.AnswerList(ctx, &list.Route{
				Mount: d.Lists.Routes.Mounts[0], List: planOf(damagedPath),
			}); err != nil {
				return err
			}
			st, ok := ctx.Response.BodyStream().(*list.Stream)
			if !ok {
				t.Errorf("%d: the body is not streamed", ctx.Response.StatusCode())
				return nil
			}
			if begun {
				if err := st.Body.(*list.PartBody).Next(); err != nil {
					t.Error(err)
				}
			}
			if err := os.Truncate(d.file, 0); err != nil {
				t.Error(err)
			}
			return nil
		}})
	}
	address := listen(t, d.Server)
	for _, path := range []string{"/api/cut", "/api/cut-later"} {
		served := d.State.Snapshots.Current.Load()
		conn := dial(t, address)
		if _, err := io.WriteString(conn,
			"GET "+path+"?app_identifier="+goodIdentifier+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(conn.reader, nil)
		if err == nil {
			var body []byte
			if body, err = io.ReadAll(response.Body); int64(len(body)) >= response.ContentLength {
				t.Errorf("%s: %d of %d bytes", path, len(body), response.ContentLength)
			}
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want a connection that was aborted", path, err)
		}
		waitFor(t, "the connection to be closed", func() bool { return d.Lists.Callers.Count() == 0 })
		refs, bytes, slots := served.Refs.Load(), d.State.Budget.Bytes(), d.Lists.Admission.Gate.Running()
		if refs != 1 || bytes != 0 ||
			slots != 0 {
			t.Errorf("%s: %d references to the snapshot, %d bytes in flight, %d slots", path, refs, bytes, slots)
		}
		d.expectRefused(t, tag)
		d.overwrite(t, d.sound)
		d.mustHeal(t)
		d.expectServed(t, tag, whole)
	}
	if faults := d.State.Inspector.Found[state.ByFault].Load(); faults != 2 || d.State.Panics.Load() != 0 {
		t.Errorf("%d faults and %d panics were counted", faults, d.State.Panics.Load())
	}
}

// TestStreamOfQuarantined: a part of a long page that was rendered when the segment was quarantined
// is not sent, though no fault occurred in it.
func TestStreamOfQuarantined(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	d.Lists.Routes.Add(d.Lists.Routes.Mounts[0], "/api/cut", list.Route{Answer: func(ctx *fasthttp.RequestCtx) error {
		err := d.Lists.AnswerList(ctx, &list.Route{Mount: d.Lists.Routes.Mounts[0], List: planOf(damagedPath)})
		list := d.State.Snapshots.Current.Load().Bound.Lists[damagedPath]
		d.State.Inspector.Quarantine(list.Version, list.Segment, state.ByChecksum, errors.New("bits flipped"))
		return err
	}})
	if got := d.Answer("GET", "/api/cut?app_identifier="+goodIdentifier, nil); got.Status != 503 {
		t.Errorf("%d with %d bytes", got.Status, len(got.Body))
	}
	if refs := d.State.Snapshots.Current.Load().Refs.Load(); refs != 1 {
		t.Errorf("%d references to the snapshot", refs)
	}
}

// TestScrub flips bits of a served file. The next pass refuses the table, with everything that was
// made of its rows before.
func TestScrub(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	tag, whole := d.warm(t)
	d.State.Inspector.Scrub(context.Background(), 0)
	d.expectServed(t, tag, whole)
	if c := &d.State.Inspector.Scrubs; c.Passes.Load() != 1 || c.Last.Load() == 0 ||
		c.Bytes.Load() < int64(len(d.sound))*9/10 {
		t.Errorf("%d passes over %d bytes, at %d", c.Passes.Load(), c.Bytes.Load(), c.Last.Load())
	}
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 6
	for round := range rounds {
		data := bytes.Clone(d.sound)
		bit := random.IntN(8 * len(data))
		data[bit/8] ^= 1 << (bit % 8)
		d.overwrite(t, data)
		if round == 0 {
			d.expect(t, 200, "GET", damagedTarget+"&limit=100", reply.HeaderField{
				Name:  "Accept-Encoding",
				Value: "gzip",
			})
		}
		d.State.Inspector.Scrub(context.Background(), 0)
		d.expectRefused(t, tag)
		if healed, _, err := d.State.Heal(d.store.Snapshots.Reopen); err == nil || len(healed) > 0 {
			t.Errorf("with bit %d flipped: healed %q, %v", bit, healed, err)
		}
		d.overwrite(t, d.sound)
		d.mustHeal(t)
		d.expectServed(t, tag, whole)
	}
	if n := d.State.Inspector.Found[state.ByChecksum].Load(); n != rounds {
		t.Errorf("%d wrong checksums were counted, want %d", n, rounds)
	}
}

// TestWrittenFile: a file that was written to while it is served refuses its table, also if it has
// the same bytes again. Bodies that were made of the other bytes are not served again.
func TestWrittenFile(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	tag, whole := d.warm(t)
	d.State.Inspector.CheckFiles()
	d.expectServed(t, tag, whole)
	later := time.Now()
	for _, data := range [][]byte{d.sound, append(bytes.Clone(d.sound), 0), d.sound} {
		later = later.Add(time.Second) // than the time at which the file was opened, whatever the clock's steps
		d.overwrite(t, data)
		testkit.Must(t, os.Chtimes(d.file, later, later))
		d.State.Inspector.CheckFiles()
		d.State.Inspector.CheckFiles() // a refused table is not looked at
		d.expectRefused(t, tag)
		d.mustHeal(t) // a longer file is not opened again, but what is mapped of it is right
		d.State.Inspector.CheckFiles()
		d.expectServed(t, tag, whole)
	}
	if n := d.State.Inspector.Found[state.ByWrite].Load(); n != 3 {
		t.Errorf("%d writes were counted, want 3", n)
	}
	testkit.Must(t, errors.Join(os.Rename(d.file, d.file+".away"), os.WriteFile(d.file, nil, 0o644)))
	d.State.Inspector.CheckFiles()
	d.expectServed(t, tag, whole) // the mapped file is the renamed one
}

// TestScrubOfFault: Scrub finds a truncated file, also one that only a retained snapshot uses.
// Requests that name that snapshot are told to begin again.
func TestScrubOfFault(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	next := storeSnapshot(t, "20261121T0200Z-test", sampleTime, []*testTable{numberedLocations(10, nil)})
	mustSwap(t, d.Server, state.Release{Snapshot: next})
	pinned := damagedTarget + "&snapshot=" + sampleID
	d.expect(t, 200, "GET", pinned)
	testkit.Must(t, os.Truncate(d.file, 100))
	d.State.Inspector.Scrub(context.Background(), 0)
	if n := d.State.Inspector.Found[state.ByFault].Load(); n != 1 {
		t.Errorf("%d faults were counted", n)
	}
	d.expect(t, 200, "GET", damagedTarget)
	if got := d.Answer("GET", pinned, nil); got.Status != 410 ||
		!bytes.Contains(got.Body, []byte("20261121T0200Z-test")) {
		t.Errorf("pinned: %d %s", got.Status, got.Body)
	}
	if log := d.log.String(); !strings.Contains(log, "a table of a replaced snapshot is refused") ||
		strings.Contains(log, "opened again") {
		t.Errorf("the log promises what Heal does not do:\n%s", log)
	}
}

// TestDamagedPosting: a posting that is malformed refuses the table, as checksums of the file may
// be right all the same.
func TestDamagedPosting(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	tag, whole := d.warm(t)
	list := d.State.Snapshots.Current.Load().Bound.Lists[damagedPath]
	column, err := list.Segment.Column("code")
	if err != nil {
		t.Fatal(err)
	}
	postings, ok := column.Postings()
	if !ok || postings.Sorted() {
		t.Fatal("codes have no bitmaps")
	}
	code := uint32(0)
	for column.TextOf(code) != "C7" {
		code++
	}
	at := bytes.Index(d.sound, postings.Frozen(code))
	data := bytes.Clone(d.sound)
	data[at+len(postings.Frozen(code))-1] ^= 0xff // the count of containers
	d.overwrite(t, data)
	d.expect(t, 503, "GET", damagedTarget+"&code=C7")
	d.expectRefused(t, tag)
	d.overwrite(t, d.sound)
	d.mustHeal(t)
	d.expectServed(t, tag, whole)
	if n := d.State.Inspector.Found[state.ByChecksum].Load(); n != 1 {
		t.Errorf("%d malformed postings were counted", n)
	}
}

// TestPanicFromDamage: a panic is no memory fault, but its segment is checked at once. Changed
// codes are a likely reason.
func TestPanicFromDamage(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	tag, whole := d.warm(t)
	data := bytes.Clone(d.sound)
	for i := 100; i < len(data)-2000; i++ {
		data[i] = 0xff
	}
	d.overwrite(t, data)
	for n := range 200 { // until a request panics or its posting is malformed
		got := d.Answer("GET", damagedTarget+"&code=C"+strconv.Itoa(n), nil)
		if got.Status != 200 {
			t.Logf("request %d: %d, %d panics", n, got.Status, d.State.Panics.Load())
			break
		}
	}
	waitFor(t, "the refusal", func() bool { return d.Answer("GET", damagedTarget, nil).Status == 503 })
	d.expectRefused(t, tag)
	if n := d.State.Inspector.Found[state.ByChecksum].Load(); n == 0 {
		t.Error("nothing was counted")
	}
	d.overwrite(t, d.sound)
	d.mustHeal(t)
	d.expectServed(t, tag, whole)
}

// TestCheckAfterPanic: a panic in a sound table refuses nothing, and many do not check it each
// time.
func TestCheckAfterPanic(t *testing.T) {
	t.Parallel()
	var log testkit.Log
	s := breakingServer(t, &log)
	for range 3 {
		if got := s.Answer("GET", "/api/break?app_identifier="+goodIdentifier, nil); got.Status != 500 {
			t.Errorf("%d %.200s", got.Status, got.Body)
		}
	}
	segment := s.State.Snapshots.Current.Load().Bound.Snap.Segments[damagedTable]
	waitFor(t, "the check", func() bool { return s.State.Inspector.Scrubs.Bytes.Load() > 0 })
	if n := s.State.Inspector.Scrubs.Bytes.Load(); n > segment.Bytes() || segment.IsSuspect() {
		t.Errorf("%d bytes of %d were checked, suspect %v", n, segment.Bytes(), segment.IsSuspect())
	}
}

// TestHealAfterSwap: when another snapshot was swapped in while the files were opened again, it
// stays.
func TestHealAfterSwap(t *testing.T) {
	t.Parallel()
	d := newDamagedServer(t)
	testkit.Must(t, os.Truncate(d.file, 0))
	d.expect(t, 503, "GET", damagedTarget)
	healed, refused, err := d.State.Heal(func(snap *store.Snapshot) (*store.Snapshot, error) {
		d.overwrite(t, d.sound)
		next := storeSnapshot(t, "20261121T0200Z-test", sampleTime, []*testTable{numberedLocations(10, nil)})
		return func() (*store.Snapshot, error) {
			mustSwap(t, d.Server, state.Release{Snapshot: next})
			return d.store.Snapshots.Reopen(snap)
		}()
	})
	if err != nil || len(healed) > 0 || len(refused) > 0 || d.State.Snapshots.CurrentID() != "20261121T0200Z-test" {
		t.Errorf("healed %q, refused %q, %v; %s is served", healed, refused, err, d.State.Snapshots.CurrentID())
	}
	d.expect(t, 200, "GET", damagedTarget)
}
