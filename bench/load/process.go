package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
func UsageOf(pid int) (Usage, error) {
	tree, err := Tree(pid)
	if err != nil {
		return Usage{}, err
	}
	var total Usage
	for _, p := range tree {
		u, err := usageOfOne(p)
		if err != nil {
			if p == pid {
				return Usage{}, err
			}
			continue // a child that has just ended
		}
		total.CPU += u.CPU
		total.Faults += u.Faults
		total.Resident += u.Resident
		total.Peak += u.Peak
	}
	return total, nil
}

// Tree returns a process, first, and all its descendants.
func Tree(pid int) ([]int, error) {
	children, err := childrenOf()
	if err != nil {
		return nil, err
	}
	tree := []int{pid}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i]]...)
	}
	return tree, nil
}

// fieldsOf returns the fields of /proc/PID/stat after the name, which may contain blanks and
// brackets: field 0 is the state, field 1 the parent.
func fieldsOf(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 22 {
		return nil, fmt.Errorf("load: /proc/%d/stat has %d fields after the name", pid, len(fields))
	}
	return fields, nil
}

func childrenOf() (map[int][]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, dir := range stats {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		fields, err := fieldsOf(pid)
		if err != nil {
			continue // it has just ended
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	return children, nil
}

func usageOfOne(pid int) (Usage, error) {
	fields, err := fieldsOf(pid)
	if err != nil {
		return Usage{}, err
	}
	faults, err := strconv.ParseInt(fields[7], 10, 64)
	if err != nil {
		return Usage{}, fmt.Errorf("load: /proc/%d/stat: %q page faults", pid, fields[7])
	}
	u := Usage{Faults: faults}
	if u.CPU, err = cpuSeconds(pid); err != nil {
		return Usage{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}, err
	}
	for _, line := range strings.Split(string(status), "\n") {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "VmRSS":
			u.Resident = kilobytes << 10
		case "VmHWM":
			u.Peak = kilobytes << 10
		}
	}
	return u, nil
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
