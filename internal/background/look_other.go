//go:build !linux

package background

import "runtime"

// looker lets goroutines run that are ready. There is no way to wait for a poll of the network.
type looker struct{}

func (looker) look() { runtime.Gosched() }
