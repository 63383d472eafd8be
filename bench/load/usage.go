package load

import (
	"errors"
	"fmt"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Usage is the CPU time and memory of a process tree.
type Usage struct {
	CPU      float64 // seconds, user and system
	Resident int64   // bytes now
	Peak     int64   // bytes, the sum of the peaks of all processes
}

// UsageOf reads /proc for a process and its live descendants.
func UsageOf(pid int) (total Usage, err error) {
	tree, err := treeOf(pid)
	if err != nil {
		return total, err
	}
	for _, p := range tree {
		u, err := usageOfOne(p)
		if err != nil && p == pid {
			return total, err
		} else if err != nil {
			continue // a child that has just ended
		}
		total.CPU += u.CPU
		total.Resident += u.Resident
		total.Peak += u.Peak
	}
	return total, nil
}

// treeOf returns a process, first, and all its descendants.
func treeOf(pid int) ([]int, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, p := range all {
		if stat, err := p.Stat(); err == nil { // else it has just ended
			children[stat.PPID] = append(children[stat.PPID], p.PID)
		}
	}
	tree := []int{pid}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree, nil
}

func usageOfOne(pid int) (u Usage, err error) {
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
