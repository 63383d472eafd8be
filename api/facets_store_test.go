//go:build linux && !race

package api

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hdqs/api/contract"
	"hdqs/api/state"
)

// TestSelectOnStoreFacets measures the CPU time of counting by all fields of codes and enumerations
// on the larger tables of a store, for rows that random filters leave. It asks each question three
// times, without a cache of bodies: nothing about it is known at first, everything at last.
// HDQS_TEST_STORE is the directory of the store, HDQS_TEST_QUERIES the number of questions for a
// table, 300 by default. Without a store it is skipped; the repository has none.
func TestSelectOnStoreFacets(t *testing.T) {
	dir := os.Getenv("HDQS_TEST_STORE")
	if dir == "" {
		t.Skip("HDQS_TEST_STORE is not set")
	}
	queries, err := strconv.Atoi(os.Getenv("HDQS_TEST_QUERIES"))
	if err != nil {
		queries = 300
	}
	snap, at := openShown(t, dir, "stable")
	s := New(state.Options{Logger: slog.New(slog.DiscardHandler), CacheBytes: -1})
	if err := s.Swap(state.Release{Snapshot: snap, PublishedAt: at.PublishedAt}); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		rows := s.Current.Load().Bound.Lists[e.Path].Rows
		if rows < 100_000 {
			continue
		}
		var of []string
		for _, f := range e.Fields {
			if f.Type == contract.Choice || strings.HasSuffix(f.Name, "_code") || f.Name == "admin_level" {
				of = append(of, f.Name)
			}
		}
		var took [3][]asked
		for range queries {
			record := listOf(t, s, e.Path, "&limit=1&offset="+strconv.Itoa(r.IntN(rows)))[0]
			filters := randomFilters(r, e, record)
			r.Shuffle(len(filters), func(i, k int) { filters[i], filters[k] = filters[k], filters[i] })
			query := ""
			for _, f := range filters[:min(len(filters), r.IntN(4))] {
				query += "&" + f.text
			}
			target := e.Path + "/facets?app_identifier=" + goodIdentifier + "&of=" + strings.Join(of, ",") + query
			for k := range took {
				before := threadTime(t)
				if got := s.Answer("GET", target, nil); got.Status != 200 {
					t.Fatalf("seed %d: %s: %d %.300s", seed, target, got.Status, got.Body)
				}
				took[k] = append(took[k], asked{float64(threadTime(t)-before) / 1e6, query})
			}
		}
		t.Logf("%s: %d rows by %d fields", e.Path, rows, len(of))
		for k, what := range []string{"first ", "second", "third "} {
			all := took[k]
			slices.SortFunc(all, func(a, b asked) int { return cmp.Compare(a.spent, b.spent) })
			n := len(all)
			t.Logf("    %s time: median %.2f, p90 %.2f, p99 %.2f ms; the slowest: %+v", what, all[n/2].spent,
				all[n*9/10].spent, all[n*99/100].spent, all[max(0, n-5):])
		}
	}
}

// asked is what a question took, in milliseconds, and its filters.
type asked struct {
	spent float64
	query string
}

// threadTime is the CPU time of this thread in nanoseconds.
func threadTime(t *testing.T) int64 {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		t.Fatal(err)
	}
	return at.Nano()
}
