package wire

import "time"

// processStart is the origin of monotonic times.
var processStart = time.Now()

// monotonic is a time in nanoseconds of a clock that nobody sets.
func monotonic(t time.Time) int64 { return int64(t.Sub(processStart)) }
