package background

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"hdqs/internal/testkit"
)

// TestBeginStep checks the number of threads and GOGC during two steps of swaps that overlap, and
// afterwards, with values from the environment and without. It also checks GOGC during a start, and
// if a step of a swap begins in it.
func TestBeginStep(t *testing.T) {
	threads, garbage := runtime.GOMAXPROCS(0), debug.SetGCPercent(garbagePercent)
	defer func() {
		runtime.GOMAXPROCS(threads)
		debug.SetGCPercent(garbage)
	}()
	for _, c := range []struct {
		threads, garbage string
		during, usual    int // GOGC
	}{
		{"", "", GarbageInSwap, garbagePercent}, {"3", "", GarbageInSwap, garbagePercent}, {"3", "70", 70, 70},
	} {
		debug.SetGCPercent(c.usual)
		t.Setenv("GOMAXPROCS", c.threads)
		t.Setenv("GOGC", c.garbage)
		want := 3
		if c.threads == "" {
			runtime.SetDefaultGOMAXPROCS()
			want = runtime.GOMAXPROCS(0)
		}
		runtime.GOMAXPROCS(want)
		check := func(when string, want, wantGarbage int) {
			t.Helper()
			testkit.Equal(t, runtime.GOMAXPROCS(0), want, "%+v, %s: threads", c, when)
			testkit.Equal(t, debug.SetGCPercent(wantGarbage), wantGarbage, "%+v, %s: GOGC", c, when)
		}
		endFirst := BeginStep()
		check("in the first step", want+1, c.during)
		endSecond := BeginStep()
		check("in both", want+1, c.during)
		endFirst()
		check("in the second step", want+1, c.during)
		endSecond()
		check("afterwards", want, c.usual)

		inStart := c.usual
		if c.garbage == "" {
			inStart = GarbageInStart
		}
		collect := CollectLess(GarbageInStart)
		check("in a start", want, inStart)
		endStep := BeginStep()
		collect()
		collect()
		check("in a step that began in a start", want+1, c.during)
		endStep()
		check("after both", want, c.usual)
	}
}

// TestTurns checks that no more goroutines have a turn at once than there are cores, that as few
// are in the middle of long work, and that each gets its turns.
func TestTurns(t *testing.T) {
	var running, long, most, mostLong atomic.Int64
	enter := func(n, most *atomic.Int64) {
		now := n.Add(1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
	}
	var all sync.WaitGroup
	for i := range 8 * cap(cores) {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		all.Go(func() {
			var turn Turn
			for range 50 {
				if random.IntN(2) == 0 {
					turn.Begin()
					enter(&running, &most)
					runtime.Gosched() // where another one could begin
					running.Add(-1)
					turn.End()
					continue
				}
				turn.BeginLong()
				enter(&long, &mostLong)
				for range random.IntN(5 * pausesPerCheck) {
					enter(&running, &most)
					runtime.Gosched()
					running.Add(-1)
					turn.Pause()
				}
				long.Add(-1)
				turn.EndLong()
			}
		})
	}
	all.Wait()
	if n := int64(cap(cores)); most.Load() > n || mostLong.Load() > n {
		t.Errorf("%d had a turn at once and %d were in long work, want at most %d", most.Load(), mostLong.Load(), n)
	}
	if len(cores) != cap(cores) || len(longs) != 0 || waiting.Load() != 0 {
		t.Errorf("after that %d of %d cores are free, %d in long work, %d waiting", len(cores), cap(cores), len(longs),
			waiting.Load())
	}
}
