package background

import (
	"sync"
	"time"
)

// lowLinger is how long after work of Low the Go runtime keeps its thread more: to change their
// number stops all goroutines.
const lowLinger = 100 * time.Millisecond

// low gives work to the threads of Low, half as many as there are cores.
var low = sync.OnceValue(func() chan<- func() {
	works := make(chan func())
	for range max(1, Turns()/2) {
		Start(func() {
			for work := range works {
				end := More()
				for work != nil {
					work()
					select {
					case work = <-works:
					case <-time.After(lowLinger):
						work = nil
					}
				}
				end()
			}
		})
	}
	return works
})

// Low does work of about a millisecond, such as that of programs that send many requests one after
// another, in parallel with requests that matter more. It is Run and More with threads that are
// kept, since a new one takes as long as the work. Half of the cores work so; other work waits.
func Low(work func()) {
	done := make(chan struct{})
	low() <- func() {
		defer close(done)
		work()
	}
	<-done
}
