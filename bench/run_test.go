package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hdqs/bench/load"
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
	fmt.Fprintln(os.Stderr, http.ListenAndServe(listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
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
	err := run("--whole", fake(t), "--configured", fake(t), "--micro",
		"echo BenchmarkPlainPage/some-2 10 5 ns/op 1.5 ratio 1 ratio-low 2 ratio-high 3 target 4 µs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report load.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	var met []string
	for _, v := range report.Targets {
		met = append(met, fmt.Sprint(v.Query, " ", v.Encoding, " ", v.Met()))
	}
	for _, want := range []string{
		"some rendering true", "conflict-run identity false", "conflict-run gzip true",
		"small-three-filters identity true",
	} {
		if !slices.Contains(met, want) {
			t.Errorf("%q is not in %q", want, met)
		}
	}
	if len(report.Starts) != 1 || report.PeakResident == 0 || len(report.Closed) != 8 || len(report.Open) != 4 ||
		len(report.Beside) != 1 {
		t.Errorf("%+v", report)
	}
	if err := run("--only", "none such"); err == nil {
		t.Error("no error for a mix without queries")
	}
	if err := run("--configured", "false"); err == nil {
		t.Error("no error for a server that ends at once")
	}
}

// TestPair compares two servers, one of which gets queries of its own.
func TestPair(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a" && r.Method != http.MethodPost {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	mix, own := filepath.Join(dir, "mix.txt"), filepath.Join(dir, "own.txt")
	if err := errors.Join(os.WriteFile(mix, []byte("1 q /a\n"), 0o644),
		os.WriteFile(own, []byte("1 q /sql body=SELECT+1\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for other, works := range map[string]bool{
		"b=" + server.URL: true, "b=" + server.URL + ",0," + own: true, "b=" + server.URL + "/other": false, "b": false,
	} {
		err := comparePairs(flag.NewFlagSet("pair", flag.ContinueOnError), []string{
			"--mix", mix, "--encodings", "identity", "--rounds", "1", "--burst", "10ms", "a=" + server.URL, other,
		})
		if (err == nil) != works {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// TestChecksum compares the command's count of bytes with the files.
func TestChecksum(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args, total := []string{"checksum"}, 0
	for i, size := range []int{0, 1, checksumPiece - 1, checksumPiece, 2*checksumPiece + 77} {
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
		args, total = append(args, path), total+size
	}
	out, err := exec.Command(self, args...).Output()
	if err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(total) {
		t.Errorf("%s, %v, want %d bytes", out, err, total)
	}
}

// TestMappedFiles maps a file and finds it.
func TestMappedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.seg")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 9000), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := unix.Mmap(int(f.Fd()), 0, 9000, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	files, err := mapped(os.Getpid())
	if err != nil || !slices.Equal(files, []string{path}) {
		t.Errorf("%q, %v", files, err)
	}
	if err := unix.Munmap(text); err != nil {
		t.Error(err)
	}
}
