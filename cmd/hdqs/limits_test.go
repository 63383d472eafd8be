package main_test

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestDescriptorsRunOut opens more idle connections than the process may open files. The admin
// listener and requests on connections that were open before are answered, and the process goes on.
func TestDescriptorsRunOut(t *testing.T) {
	parallel(t)
	const files = 200
	s := listening(t, startCommand(t, nil, exec.Command("sh", "-c", `ulimit -n 200 && exec "$0" "$@"`, binary,
		"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--identifier", "off")))
	if !s.logged("connections=150 wanted=65536 open_files=200") {
		t.Errorf("the log does not name the limit of connections\n%s", s.log)
	}
	s.mustAnswer(t)
	var idle []net.Conn
	defer func() {
		for _, c := range idle {
			_ = c.Close()
		}
	}()
	for _, address := range []string{s.base, s.admin} { // those of the admin listener have no limit
		for range 2 * files {
			c := testkit.Value(net.Dial("tcp", strings.TrimPrefix(address, "http://")))(t)
			idle = append(idle, c)
		}
		if address == s.base {
			if m := ask(t, "GET", s.admin+"/metrics"); m.status != 200 {
				t.Errorf("/metrics beside idle clients: %d", m.status)
			}
		}
	}
	testkit.WaitFor(t, "the shortage to be logged", func() bool {
		return s.logged("no descriptor or memory for a connection")
	})
	for _, c := range idle {
		_ = c.Close()
	}
	s.mustAnswer(t)
	if m := ask(t, "GET", s.admin+"/metrics"); m.status != 200 {
		t.Errorf("/metrics after idle clients: %d", m.status)
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
}

// TestDocumentedMemory holds the table of docs/limits.md to what --check counts for its smallest
// generated catalog, a tenth more or less: with the documented least limit a replica starts, and
// with a quarter less it does not. Whoever changes the estimate renews all rows of the table.
func TestDocumentedMemory(t *testing.T) {
	parallel(t)
	text := string(testkit.ReadFile(t, "../../docs/limits.md"))
	row := regexp.MustCompile(`(?m)^\| generated, scale 0\.02 \| .* \| (\d+) MiB \| (\d+) MiB \| \d+ MiB \|$`).
		FindStringSubmatch(text)
	if row == nil {
		t.Fatal("docs/limits.md has no row for the scale 0.02")
	}
	needed, err1 := strconv.Atoi(row[1])
	least, err2 := strconv.Atoi(row[2])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	dir := filepath.Join(t.TempDir(), "store")
	mustExit(t, 0, "build", "--catalog", generated(t, generator.Options{Seed: 1, Scale: 0.02}), "--store", dir)
	check := func(code, limit int) cmdResult {
		t.Helper()
		return mustExit(t, code, "serve", "--check", "--store", dir, "--memory-limit", fmt.Sprint(limit, "MiB"))
	}
	got := check(0, least)
	found := regexp.MustCompile(`(?m)^memory +([\d.]+) MiB of `).FindStringSubmatch(got.stdout)
	if found == nil {
		t.Fatalf("--check prints no memory:\n%s", got.stdout)
	}
	if n, err := strconv.ParseFloat(found[1], 64); err != nil || n < 0.9*float64(needed) || n > 1.1*float64(needed) {
		t.Errorf("snapshots may need %s MiB, docs/limits.md says %d", found[1], needed)
	}
	if got := check(1, least*3/4); !strings.Contains(got.stderr, "does not fit in memory") {
		t.Errorf("with a quarter less: %s", got.stderr)
	}
}
