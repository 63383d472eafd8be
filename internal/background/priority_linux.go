package background

import "golang.org/x/sys/unix"

// lowPriority is a nice value: of a core that other threads want too, the thread gets a tenth.
const lowPriority = 10

// lowerPriority lowers the priority of the calling thread, which Linux keeps for each thread.
func lowerPriority() {
	value, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the nice value
	if err == nil && 20-value < lowPriority {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, lowPriority) // every thread may lower its own
	}
}
