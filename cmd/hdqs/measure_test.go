package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// measureFile is the environment variable that makes the test binary run measure.
const measureFile = "HDQS_TEST_MEASURE"

// measure runs the program that is named by the arguments to its end, and writes the most memory
// that it had to a file, in bytes. It is a process of its own, since the peak of a process is at
// least that of the one that started it.
func measure(file string) int {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment("GOGC="), os.Stdout, os.Stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 // Linux counts in KiB
	if err := os.WriteFile(file, fmt.Append(nil, peak), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}
