package testkit

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// MeasureCPU runs f as b.Loop does. Besides the time it reports CPU time, which other processes
// disturb less.
func MeasureCPU(b *testing.B, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	var from, to unix.Timespec
	n := 0
	for b.Loop() {
		if n == 0 {
			Must(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &from))
		}
		f()
		n++
	}
	Must(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &to))
	b.ReportMetric(float64(to.Nano()-from.Nano())/float64(n), "cpu-ns/op")
}
