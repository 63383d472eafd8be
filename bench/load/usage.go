package load

import (
	"errors"
	"fmt"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Usage is the CPU time, page faults and memory of a process tree.
type Usage struct {
	CPU      float64 // seconds, user and system
	Faults   int64   // minor page faults
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
		total.Faults += u.Faults
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
	stat, err1 := p.Stat()
	status, err2 := p.NewStatus()
	u = Usage{Faults: int64(stat.MinFlt), Resident: int64(status.VmRSS), Peak: int64(status.VmHWM)}
	u.CPU, err = cpuSeconds(pid)
	return u, errors.Join(err1, err2, err)
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
