package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// usualGarbage lets the program choose how often it collects garbage, where GOGC is set for tests.
var usualGarbage = []string{"GOGC="}

var anonymous = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

// anonymousBytes returns the memory of the process without the pages of mapped files.
func (p *process) anonymousBytes(t *testing.T) int64 {
	t.Helper()
	status := testkit.ReadFile(t, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	found := anonymous.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no RssAnon in\n%s", status)
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	testkit.Must(t, err)
	return n << 10
}

// withoutRaces leaves out a test of memory under the race detector, with which the server takes
// several times as much.
func withoutRaces(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("the race detector takes more memory than the limit")
	}
}

// TestMemoryOverSwaps swaps between two snapshots under load, with a limit that has room for only
// one beside its replacement, where the system allows in a control group of that size. The process
// stays below the limit: replaced snapshots are dropped,
// and their memory is free at once, not only when --keep-previous is over.
func TestMemoryOverSwaps(t *testing.T) {
	parallel(t)
	withoutRaces(t)
	const limit = 168 << 20
	swaps := testkit.Trials(8, 4)
	store := newStoreOf(t, generator.Options{Seed: 1, Scale: 0.1})
	pointer := filepath.Join(store, "channels", "stable.json")
	pointers := [2][]byte{testkit.ReadFile(t, pointer)}
	other := generated(t, generator.Options{Seed: 2, Scale: 0.1})
	mustExit(t, 0, "build", "--catalog", other, "--store", store, "--snapshot-time", "2026-12-01T00:00:00Z",
		"--allow-shrink")
	pointers[1] = testkit.ReadFile(t, pointer)

	s := serveWith(t, usualGarbage, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", store,
		"--memory-limit", strconv.Itoa(limit), "--snapshot-poll", "1h")
	inGroup(t, s.process, limit)
	var c callers
	c.start(4, s, func(i int, a answer, err error) bool {
		if err != nil || a.status != 200 {
			t.Errorf("%s: %d, %v", swapRequests[i].path, a.status, err)
		}
		return err == nil
	})
	most := int64(0)
	for i := range swaps {
		testkit.Must(t, os.WriteFile(pointer, pointers[i%2], 0o600))
		s.signalAndWait(t, "a swap", "snapshot swapped")
		before := c.asked.Load()
		testkit.WaitFor(t, "requests to the new snapshot", func() bool { return c.asked.Load() > before+60 })
		most = max(most, s.anonymousBytes(t))
	}
	c.end()
	t.Logf("at most %d MiB of %d MiB", most>>20, limit>>20)
	if most > limit {
		t.Errorf("%d bytes in use, the limit is %d", most, limit)
	}
	metrics := string(ask(t, "GET", s.admin+"/metrics").body)
	for _, line := range []string{
		fmt.Sprintf("hdqs_memory_limit_bytes %g", float64(limit)),
		fmt.Sprintf(`hdqs_snapshots_dropped_total{reason="memory"} %d`, swaps),
		`hdqs_swaps_refused_total{reason="memory"} 0`, "hdqs_snapshots_held 1",
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %q", line)
		}
	}
}

// TestMemoryOfEnvironment: GOMEMLIMIT counts where it is set.
func TestMemoryOfEnvironment(t *testing.T) {
	parallel(t)
	s := serveWith(t, []string{"GOMEMLIMIT=100MiB"}, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--memory-limit", "1GiB")
	metrics := string(ask(t, "GET", s.admin+"/metrics").body)
	for _, line := range []string{"hdqs_memory_limit_bytes 1.073741824e+09", "go_gc_gomemlimit_bytes 1.048576e+08"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %q", line)
		}
	}
	if !s.logged("go=\"100.0 MiB\"") {
		t.Errorf("the log does not name the limit:\n%s", s.log)
	}
}
