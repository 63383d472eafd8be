// Package background runs long work beside short requests.
package background

import "runtime"

// Run runs work and returns when it is done. The work has a thread of its own with a low priority,
// so that the kernel prefers the threads that answer requests. The thread ends with the work: it
// could not raise its priority again.
//
// With one core that is worse than without, since the work then comes too late to what others wait
// for.
func Run(work func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked, so that the thread ends
		lowerPriority()
		work()
	}()
	<-done
}
