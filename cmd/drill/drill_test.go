package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// TestJudge: every difference from what the named snapshot must say is noticed.
func TestJudge(t *testing.T) {
	right := []byte(`{"data":[1,2,3]}`)
	data := &dataset{
		requests: []request{{path: "/list"}},
		releases: []*release{{id: "a", answers: []expected{{
			sent: sha256.Sum256(right), plain: sha256.Sum256(right), total: "3", form: "application/json",
		}}}},
	}
	header := func(id, total, form, coding string) http.Header {
		return http.Header{
			"X-Snapshot-Id": {id}, "X-Total-Count": {total}, "Content-Type": {form}, "Content-Encoding": {coding},
		}
	}
	sound := header("a", "3", "application/json", "")
	for _, c := range []struct {
		name string
		a    answer
		err  error
		want verdict
	}{
		{"right", answer{200, sound, right}, nil, good},
		{"compressed anew", answer{200, header("a", "3", "application/json", "gzip"), gzipped(t, right)}, nil, good},
		{"other rows", answer{200, sound, []byte(`{"data":[1,2,4]}`)}, nil, wrong},
		{"cut short", answer{200, sound, right[:5]}, nil, wrong},
		{"other total", answer{200, header("a", "4", "application/json", ""), right}, nil, wrong},
		{"other form", answer{200, header("a", "3", "text/csv", ""), right}, nil, wrong},
		{"unknown snapshot", answer{200, header("b", "3", "application/json", ""), right}, nil, wrong},
		{"coding that was not asked for", answer{200, header("a", "3", "application/json", "br"), nil}, nil, wrong},
		{"refused", answer{503, sound, nil}, nil, failed},
		{"no answer", answer{}, errors.New("reset"), failed},
	} {
		if v, what := data.judge(0, c.a, c.err); v != c.want || (v == good) != (what == "") {
			t.Errorf("%s: verdict %d (%s), want %d", c.name, v, what, c.want)
		}
	}
}

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, z.Close())
	return b.Bytes()
}

// TestLoad: every answer is counted once, and a bad one is never taken for a good one.
func TestLoad(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%5 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	for _, rate := range []float64{0, 1000} {
		n.Store(0)
		l := load{clients: 3, rate: rate, check: func(ctx context.Context, c *http.Client, _ int) (verdict, string) {
			a, err := ask(ctx, c, s.URL, request{path: "/"})
			if err != nil || a.status != http.StatusOK {
				return failed, fmt.Sprint(a.status, err)
			}
			return good, ""
		}}.start(t.Context())
		testkit.Must(t, l.answered(t.Context(), 100))
		l.stop()
		if l.asked.Load() != n.Load() || l.failed() != n.Load()/5 || l.clean() {
			t.Errorf("rate %v: %s of %d", rate, l.counts(), n.Load())
		}
		if all := l.between(0, time.Hour); int64(len(all)) != n.Load()-n.Load()/5 {
			t.Errorf("rate %v: %d latencies of %d requests", rate, len(all), n.Load())
		}
	}
}

// TestRounds: what delays one round does not count, and what delays most of them does.
func TestRounds(t *testing.T) {
	for slow := range 6 {
		var r rounds
		for i := range 5 {
			now := latencies{time.Millisecond, 3 * time.Millisecond}
			if i < slow {
				now = append(now, time.Second)
			}
			r.add(now, latencies{time.Millisecond, 2 * time.Millisecond})
		}
		var rows table
		rows.progress = io.Discard
		rows.latencies(&drill{}, "p99", &r, 2, "made up")
		want := 0
		if slow > 2 {
			want = 1
		}
		if got := rows.failed(); got != want {
			t.Errorf("%d slow rounds of 5: %d figures out of bounds, want %d", slow, got, want)
		}
	}
}

// TestFlat: what grows is out of bounds, and what only varies is not.
func TestFlat(t *testing.T) {
	for name, c := range map[string]struct {
		held func(i int) usage
		want int
	}{
		"flat":        {func(int) usage { return usage{anonymous: 50 << 20, descriptors: 20, mappings: 25} }, 0},
		"memory":      {func(i int) usage { return usage{anonymous: int64(i) << 21} }, 1},
		"descriptors": {func(i int) usage { return usage{descriptors: i} }, 1},
		"mappings":    {func(i int) usage { return usage{mappings: i} }, 1},
	} {
		var held []usage
		for i := range 60 {
			held = append(held, c.held(i))
		}
		rows := &table{progress: io.Discard}
		if rows.flat(new(drill), "", held); rows.failed() != c.want {
			t.Errorf("%s: %d rows out of bounds, want %d: %v", name, rows.failed(), c.want, rows.rows)
		}
	}
}

// TestBrokenProgram: a program that does not work fails the drill at once.
func TestBrokenProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hdqs")
	testkit.Must(t, os.WriteFile(program, []byte("#!/bin/sh\necho broken >&2\nexit 1\n"), 0o755))
	o := options{binary: program, only: "swaps", short: true}
	selected, err := o.check()
	if err != nil {
		t.Fatal(err)
	}
	ok, err := o.drill(selected, io.Discard, io.Discard)
	if ok || err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a broken program: ok %v, %v", ok, err)
	}
}

// TestCopyStore copies stores whose channel shows any of their snapshots, or none. The program
// stands in for `hdqs publish`: it refuses the snapshot that the channel shows already.
func TestCopyStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, store := filepath.Join(dir, "program"), filepath.Join(dir, "store")
	const script = `#!/bin/sh
channel=$3/` + channelFile + `
text="{\"id\":\"$4\"}"
test -e $channel && test "$(cat $channel)" = "$text" && exit 1
echo "$text" > $channel
`
	write := func(path, text string) {
		t.Helper()
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755))
		if err != nil {
			t.Fatal(err)
		}
	}
	write(program, script)
	for _, id := range []string{"a", "b"} {
		write(filepath.Join(store, "manifests", id+".json"), `{"tables":[{"table":"t","sha256":"`+id+`"}]}`)
		write(filepath.Join(store, "manifests", id+".report.json"), "{}")
	}
	channel := filepath.Join(store, channelFile)
	for _, shown := range []string{"a", "b", ""} {
		write(channel, `{"id":"`+shown+`"}`)
		if shown == "" {
			testkit.Must(t, os.Remove(channel))
		}
		d := &drill{dir: t.TempDir(), options: options{binary: program, store: store}}
		data := &dataset{store: filepath.Join(d.dir, "data")}
		if err := d.copyStore(t.Context(), data); err != nil {
			t.Errorf("the channel shows %q: %v", shown, err)
			continue
		}
		if len(data.releases) != 2 || data.releases[0].id != "a" || data.releases[1].id != "b" {
			t.Errorf("the channel shows %q: %d snapshots", shown, len(data.releases))
		}
		if _, err := os.Stat(channel); shown != "" && err != nil {
			t.Errorf("the store that was copied has changed: %v", err)
		}
	}
}

// TestTable: a row out of its bound fails the drill; one that was not run is shown and does not.
func TestTable(t *testing.T) {
	rows := &table{progress: io.Discard, scenario: "part"}
	rows.add("one", "1", "2", metricUp, true)
	rows.report("two", "a\nlong\ntext")
	rows.notRun("three", "not root")
	if rows.failed() != 0 {
		t.Errorf("%d rows failed", rows.failed())
	}
	rows.add("four", "3", "2", metricUp, false)
	rows.fail("five", errors.New("broken"))
	if rows.failed() != 2 {
		t.Errorf("%d rows failed, want 2", rows.failed())
	}
	var text bytes.Buffer
	testkit.Must(t, rows.write(&text))
	if n := strings.Count(text.String(), "\n"); n != 6 || strings.Count(text.String(), resultFail) != 2 {
		t.Errorf("%d lines, want 6:\n%s", n, &text)
	}
}
