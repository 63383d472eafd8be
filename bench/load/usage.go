package load

import (
	"errors"
	"fmt"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Usage is the CPU time and memory of a process.
type Usage struct {
	CPU      float64 // seconds, user and system
	Resident int64   // bytes now
	Peak     int64   // bytes, the most so far
}

// UsageOf reads the usage of a process, without its children.
func UsageOf(pid int) (u Usage, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return u, err
	}
	status, err := p.NewStatus()
	u = Usage{Resident: int64(status.VmRSS), Peak: int64(status.VmHWM)}
	var failed error
	u.CPU, failed = cpuSeconds(pid)
	return u, errors.Join(err, failed)
}

// cpuSeconds reads the clock of a process's CPU time: user and system time of all its threads, also
// of those that have ended, in nanoseconds. The times in /proc/PID/stat have steps of 10 ms.
func cpuSeconds(pid int) (float64, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel: the time that the scheduler counted
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &at); err != nil {
		return 0, fmt.Errorf("load: the CPU time of process %d: %w", pid, err)
	}
	return float64(at.Nano()) / 1e9, nil
}
