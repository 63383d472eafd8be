//go:build unix

package memory

import (
	"errors"
	"syscall"
)

// ProcessLimits returns how many files this process may open, and its limit of address space.
func ProcessLimits() (files, addresses uint64, err error) {
	var f, a syscall.Rlimit
	err = errors.Join(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &f), syscall.Getrlimit(syscall.RLIMIT_AS, &a))
	return f.Cur, a.Cur, err
}
