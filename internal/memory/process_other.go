//go:build !unix

package memory

import "math"

// ProcessLimits says that there are none.
func ProcessLimits() (files, addresses uint64, err error) {
	return math.MaxUint32, math.MaxUint64, nil
}
