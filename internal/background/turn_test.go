package background

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

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
