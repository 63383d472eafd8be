package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/internal/testkit"
)

// TestMain makes this binary the program itself if its first argument is a command, and the server
// that tests start if BENCH_LISTEN says where it listens.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "load" || os.Args[1] == "fixed") {
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
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, state.Load()))
		fmt.Fprint(w, `{"data":[{"a":1,"b":"x"}]}`+os.Getenv("BENCH_EXTRA"))
	})
	// A start is measured with "--admin ADDRESS" at the end of the command.
	if len(os.Args) > 2 {
		admin, err := net.Listen("tcp", os.Args[2])
		if err != nil {
			panic(err)
		}
		go http.Serve(admin, nil)
	}
	panic(http.ListenAndServe(listen, nil))
}

// script runs a script of this directory, with this binary as its load generator.
func script(t *testing.T, args ...string) (stdout string, err error) {
	exe := testkit.Value(os.Executable())(t)
	command := exec.Command("python3", args...)
	command.Env = append(os.Environ(), "HDQS_BENCH_LOAD="+exe)
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	if command.Run() != nil {
		return out.String(), errors.New(messages.String())
	}
	return out.String(), nil
}

// fake is the command of a small server.
func fake(t *testing.T) string {
	return "env BENCH_LISTEN={listen} " + testkit.Value(os.Executable())(t)
}

// TestCompare compares small servers and both controls, and judges the bounds of a mix.
func TestCompare(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("nginx is not installed (Debian package nginx-light)")
	}
	dir := t.TempDir()
	mix := filepath.Join(dir, "mix.txt")
	testkit.WriteFile(t, mix, []byte("1 list /?limit=100\n"+
		"0 run /r?limit=1000 identity:cpu/fixed<=1e-9 gzip:cpu/whole<=1e9 gzip:bytes/gzip6<=0.5 zstd:cpu/gzip<=1\n"+
		"0 small /s?limit=1 identity:cpu/nginx<=1e9 identity:cpu/absent<=1\n"))
	results := filepath.Join(dir, "results.json")
	args := []string{
		"compare.py", "--mix", mix, "--rounds", "1", "--burst", "0.02", "--json", results, "ours=" + fake(t),
	}
	page := testkit.Value(script(t, append(args, "whole="+fake(t), "nginx", "fixed")...))(t)
	var found struct {
		Targets []struct {
			Query, Encoding string
			Met             bool
		}
		Cells []struct {
			Query, Encoding, Server string
			CPUMicros               float64
		}
	}
	testkit.Must(t, json.Unmarshal(testkit.ReadFile(t, results), &found))
	var met, cells []string
	for _, v := range found.Targets {
		met = append(met, fmt.Sprint(v.Query, " ", v.Encoding, " ", v.Met))
	}
	for _, c := range found.Cells {
		cells = append(cells, c.Query+" "+c.Encoding+" "+c.Server)
		if c.CPUMicros <= 0 {
			t.Errorf("%+v", c)
		}
	}
	want := []string{"run identity false", "run gzip true", "run gzip false", "small identity true"}
	testkit.EqualLists(t, met, want, "met")
	want = []string{
		"run identity ours", "run identity nginx", "run identity fixed", "run gzip ours", "run gzip whole",
		"run gzip nginx", "small identity ours", "small identity nginx", "small gzip ours", "small gzip nginx",
		"list identity ours", "list identity nginx", "list gzip ours", "list gzip nginx",
	}
	testkit.EqualLists(t, cells, want, "cells")
	if !strings.Contains(page, "| run | identity | the same library, the same body from memory | 1e-09 |") {
		t.Errorf("the report lacks a target:\n%s", page)
	}
	for _, c := range []struct{ server, want string }{
		{"other=env BENCH_EXTRA=x " + fake(t), "other (identity) answers with other bytes"},
		{"other=false {listen}", "other does not answer"},
		{"other", "want NAME=http://HOST:PORT[,PID] or NAME=COMMAND with {listen}"},
	} {
		if _, err := script(t, append(args, c.server)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.server, err)
		}
	}
	if _, err := script(t, append(args, "--only", "other")...); err == nil {
		t.Error("no error for a mix without queries")
	}
}

// TestSwaps: a server that swaps its data is measured, and one that does not, or that answers with
// errors, is an error.
func TestSwaps(t *testing.T) {
	t.Parallel()
	mix := filepath.Join(t.TempDir(), "mix.txt")
	run := func(start, swap, queries string) string {
		testkit.WriteFile(t, mix, []byte(queries))
		_, err := script(t, "swaps.py", "--swap", swap, "--mix", mix, "--encodings", "identity", "--rounds", "2",
			"--window", "0.05", start)
		return fmt.Sprint(err)
	}
	const queries = "1 list /?limit=100\n1 cached /c conditional\n"
	// How much a swap of this server delays answers is up to what else the machine does.
	if got := run(fake(t), "true", queries); got != "<nil>" && got != "a target is not met\n" {
		t.Error(got)
	}
	for _, c := range []struct{ start, swap, queries, want string }{
		{"env BENCH_STILL=1 " + fake(t), "true", queries, "all answers are those of before"},
		{fake(t), "false", queries, "returned non-zero exit status 1"},
		{fake(t), "true", queries + "1 gone /gone status=404\n", "status 200, want 404"},
	} {
		testkit.Contains(t, run(c.start, c.swap, c.queries), c.want, "the error")
	}
}

// TestQuantiles: the histogram's figures of two connections are those of all answers, to one per
// cent, and the slowest is exact.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	o, half := newOutcome(), newOutcome()
	for i := range 1000 {
		of := o
		if i%2 == 0 {
			of = half
		}
		of.count(query{status: 200}, &fasthttp.Response{}, nil, time.Duration(i+1)*time.Microsecond)
	}
	o.add(half)
	report := o.report()
	for name, want := range map[string]float64{"p50_us": 500, "p90_us": 900, "p99_us": 990, "p999_us": 999} {
		if got := report[name].(float64); got < want || got > want*1.01 {
			t.Errorf("%s is %g µs, want %g", name, got, want)
		}
	}
	if o.requests != 1000 || report["max_us"] != 1000.0 {
		t.Errorf("%v", report)
	}
}

func TestMix(t *testing.T) {
	mix, err := readMix("# names\n\n3 a /x?y=1 status=422\n1 b /z conditional anonymous gzip:cpu/nginx<=1.2\n")
	want := []query{
		{weight: 3, name: "a", target: "/x?y=1", status: 422},
		{weight: 1, name: "b", target: "/z", status: 304, conditional: true, anonymous: true},
	}
	if err != nil || !reflect.DeepEqual(mix, want) {
		t.Errorf("got %v, %v", mix, err)
	}
	for _, bad := range []string{"", "1 a", "x a /", "-1 a /", "1 a b", "1 a / status=x", "1 a / strange"} {
		if _, err := readMix(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if mix, err := readMix(string(testkit.ReadFile(t, "mixes/typical.txt"))); err != nil || len(mix) < 20 {
		t.Errorf("typical mix: %d queries, %v", len(mix), err)
	}
}

// list answers a few records in various notations and transfer forms.
func list(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", `"v1"`)
	switch {
	case r.Header.Get("If-None-Match") == `"v1"`:
		w.WriteHeader(http.StatusNotModified)
		return
	case r.URL.Path == "/close":
		w.Header().Set("Connection", "close")
	case r.URL.Path == "/chunked":
		w.(http.Flusher).Flush()
	case r.URL.Path == "/raw" && r.URL.RawQuery != "a=3%2B&b=%20x", r.URL.Path == "/bad":
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	fmt.Fprint(w, `{"data":[{"a":1.50,"b":"x"},{"b":null,"a":2}]}`)
}

func TestLoads(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(list))
	defer server.Close()
	queries, err := readMix("2 length /\n1 chunked /chunked\n1 raw /raw?a=3%2B&b=%20x\n1 close /close\n" +
		"1 bad /bad status=422\n1 known / conditional\n1 wrong /bad\n0 never /never status=999\n")
	testkit.Must(t, err)
	for _, rate := range []float64{0, 500} {
		d := drive{
			queries: queries, encoding: identity, connections: 4, rate: rate, duration: 300 * time.Millisecond,
			pid: os.Getpid(),
		}
		o := testkit.Value(d.run(server.URL))(t)
		asked := o.requests + o.wrong
		if o.failed > 0 || o.wrong == 0 || o.wrong > asked/8+5 || o.firstWrong != "wrong: status 422, want 200" {
			t.Errorf("rate %g: %d good, %d wrong, %d failed, %s", rate, o.requests, o.wrong, o.failed, o.firstWrong)
		}
		if rate > 0 && asked != 150 {
			t.Errorf("%d requests in 300 ms at %g a second", asked, rate)
		}
		if int(o.latency.TotalCount()) != o.requests || o.bytes == 0 || o.cpu <= 0 {
			t.Errorf("%d latencies of %d requests, %d bytes, %g s", o.latency.TotalCount(), o.requests, o.bytes, o.cpu)
		}
	}
	none := drive{queries: queries[7:], encoding: identity, connections: 1}
	if _, err := none.run(server.URL); err == nil {
		t.Error("no error for a mix without weights")
	}
	if _, err := cpuSeconds(1 << 22); err == nil {
		t.Error("no error for a process that does not exist")
	}
}

// TestStallsCount delays a server for a while. Requests that were due meanwhile must count as slow,
// although each was answered at once when it was sent.
func TestStallsCount(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 20 {
			time.Sleep(300 * time.Millisecond)
		}
		list(w, r)
	}))
	defer server.Close()
	d := drive{
		queries: []query{{weight: 1, name: "q", target: "/", status: 200}}, encoding: identity, connections: 1,
		rate: 200, duration: time.Second,
	}
	o := testkit.Value(d.run(server.URL))(t)
	// Sixty of two hundred were due during the stall, so the slowest quarter waited long.
	if p85 := time.Duration(o.latency.ValueAtQuantile(85)); o.requests < 190 || p85 < 50*time.Millisecond {
		t.Errorf("%d requests, 85 %% within %v", o.requests, p85)
	}
}

// TestSpareConnections uses many more connections than the rate needs. Their next requests are due
// long after the end of the load, and waiting for them must not count as time of the load.
func TestSpareConnections(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(list))
	defer server.Close()
	d := drive{
		queries: []query{{weight: 1, name: "q", target: "/", status: 200}}, encoding: identity, connections: 200,
		rate: 10, duration: 300 * time.Millisecond,
	}
	o, err := d.run(server.URL)
	if err != nil || o.requests != 3 || o.elapsed > 15*time.Second { // the next is due after 20s
		t.Errorf("%+v, %v: want 3 requests in 300 ms", o, err)
	}
}
