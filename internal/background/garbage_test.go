package background

import (
	"runtime"
	"runtime/debug"
	"testing"
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
			if got := runtime.GOMAXPROCS(0); got != want {
				t.Errorf("%+v, %s: %d threads, want %d", c, when, got, want)
			}
			got := debug.SetGCPercent(wantGarbage)
			if got != wantGarbage {
				t.Errorf("%+v, %s: GOGC is %d, want %d", c, when, got, wantGarbage)
			}
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
