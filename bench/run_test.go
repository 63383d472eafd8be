package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hdqs/bench/load"
	"hdqs/internal/testkit"
)

// TestMain makes this binary the program itself if its first argument is a command, and the server
// that tests start if BENCH_LISTEN says where it listens.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		main()
		return
	}
	listen := os.Getenv("BENCH_LISTEN")
	if listen == "" {
		os.Exit(m.Run())
	}
	swaps := make(chan os.Signal, 1)
	signal.Notify(swaps, syscall.SIGHUP)
	var state atomic.Int64
	go func() {
		for range swaps {
			if os.Getenv("BENCH_STILL") == "" {
				state.Add(1)
			}
		}
	}()
	fmt.Fprintln(os.Stderr, http.ListenAndServe(listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, state.Load()))
		w.Header().Set("X-Total-Count", "1000000")
		fmt.Fprint(w, `{"data":[{"a":1,"b":"x"}]}`)
	})))
	os.Exit(1)
}

// fake is the command of a small server.
func fake(t *testing.T) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "env BENCH_LISTEN={listen} " + exe
}

// TestRun runs the command with small servers, and with all its parts but nginx.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	mix := filepath.Join(dir, "mix.txt")
	if err := os.WriteFile(mix, []byte("1 list /?limit=100\n"+
		"0 conflict-run /r?limit=1000 identity:cpu/fixed<=1e-9 gzip:cpu/whole<=1e9\n"+
		"0 small-three-filters /s?limit=1 identity:cpu/fixed<=1e9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) error {
		return runAll(flag.NewFlagSet("run", flag.ContinueOnError), append([]string{
			"--start", fake(t), "--mix", mix, "--out", dir, "--json", dir, "--rounds", "1",
			"--burst", "20ms", "--nginx", "", "--encodings", "identity,gzip",
		}, args...))
	}
	testkit.Must(t, run("--whole", fake(t)))
	text := testkit.ReadFile(t, filepath.Join(dir, "bench.json"))
	var report load.Report
	testkit.Must(t, json.Unmarshal(text, &report))
	var met []string
	for _, v := range report.Targets {
		met = append(met, fmt.Sprint(v.Query, " ", v.Encoding, " ", v.Met()))
	}
	for _, want := range []string{
		"conflict-run identity false", "conflict-run gzip true", "small-three-filters identity true",
	} {
		if !slices.Contains(met, want) {
			t.Errorf("%q is not in %q", want, met)
		}
	}
	if report.Start.Median == 0 || report.PeakResident == 0 {
		t.Errorf("%+v", report)
	}
	if err := run("--only", "none such"); err == nil {
		t.Error("no error for a mix without queries")
	}
	if err := run("--whole", "false"); err == nil {
		t.Error("no error for a server that ends at once")
	}
}

// TestSwaps: a server that swaps its data is measured, and one that does not, or that answers with
// errors, is an error.
func TestSwaps(t *testing.T) {
	t.Parallel()
	mix := filepath.Join(t.TempDir(), "mix.txt")
	run := func(start, swap, queries string) string {
		testkit.WriteFile(t, mix, []byte(queries))
		err := runSwaps(flag.NewFlagSet("swaps", flag.ContinueOnError), []string{
			"--start", start, "--swap", swap, "--mix", mix, "--encodings", "identity", "--rounds", "2",
			"--window", "50ms",
		})
		return fmt.Sprint(err)
	}
	const queries = "1 list /?limit=100\n1 cached /c conditional\n"
	// How much a swap of this server delays answers is up to what else the machine does.
	if got := run(fake(t), "true", queries); got != "<nil>" && got != "a target is not met" {
		t.Error(got)
	}
	for _, c := range []struct{ start, swap, queries, want string }{
		{"env BENCH_STILL=1 " + fake(t), "true", queries, "all answers are those of before"},
		{fake(t), "false", queries, "false: exit status 1"},
		{fake(t), "true", queries + "1 gone /gone status=404\n", "status 200, want 404"},
		{"", "true", queries, "--start and --swap are missing"},
	} {
		if got := run(c.start, c.swap, c.queries); !strings.Contains(got, c.want) {
			t.Errorf("%q is not in %q", c.want, got)
		}
	}
}

func TestNginxServesTheAnswers(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("nginx is not installed (Debian package nginx-light)")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[{"a":1.50,"b":"x"},{"b":null,"a":2}]}`)
	}))
	defer server.Close()
	s := &load.Server{Name: "test", URL: server.URL, PID: os.Getpid()}
	q := load.Query{Weight: 1, Name: "q", Target: "/", Status: 200, Bounds: []load.Bound{
		{Encoding: load.Identity, Other: "nginx", Most: 1e6},
		{Encoding: load.Identity, Other: "nginx", Most: 1e-9},
		{Encoding: load.Identity, Other: "absent", Most: 1},
		{Encoding: load.Gzip, Level: 6, Most: 0.5},
	}}
	e := experiment{nginx: binary, server: s, queries: []load.Query{q}}
	defer e.stop()
	dir := t.TempDir()
	control, err := e.files(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "files", "q.json")
	testkit.Must(t, os.WriteFile(file, []byte("stale"), 0o644))
	c := load.Comparison{
		Servers: []*load.Server{s, control}, Queries: []load.Query{q}, Encodings: []string{load.Identity, load.Gzip},
		Rounds: 3, Burst: 100 * time.Millisecond, Connections: 2, Progress: t.Logf,
	}
	if err := c.Run(); err == nil || !strings.Contains(err.Error(), "other bytes") {
		t.Errorf("other bytes were measured: %v", err)
	}
	c.Prepare = func(q load.Query) error {
		_, err := load.SaveAnswers(filepath.Join(dir, "files"), s, []load.Query{q}, true)
		return err
	}
	if err := c.Run(); err != nil || len(c.Cells) != 4 {
		t.Fatalf("%d cells, %v", len(c.Cells), err)
	}
	for _, cell := range c.Cells {
		if cell.PerSecond == 0 || cell.Wrong+cell.Failed > 0 || cell.Server == "nginx" && cell.RateRatio.Median == 0 {
			t.Errorf("%+v", cell)
		}
	}
	var met []bool
	for _, v := range c.Verdicts {
		met = append(met, v.Met())
	}
	if !slices.Equal(met, []bool{true, false, false}) { // the answer is too short to gain from gzip
		t.Errorf("verdicts %+v", c.Verdicts)
	}
}

// TestPair compares two servers.
func TestPair(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	mix := filepath.Join(t.TempDir(), "mix.txt")
	testkit.WriteFile(t, mix, []byte("1 q /a\n"))
	for other, works := range map[string]bool{
		"b=" + server.URL: true, "b=" + server.URL + ",0": true, "b=" + server.URL + "/other": false, "b": false,
	} {
		err := comparePairs(flag.NewFlagSet("pair", flag.ContinueOnError), []string{
			"--mix", mix, "--encodings", "identity", "--rounds", "1", "--burst", "10ms", "a=" + server.URL, other,
		})
		if (err == nil) != works {
			t.Errorf("%s: %v", other, err)
		}
	}
}
