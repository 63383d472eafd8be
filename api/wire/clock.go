package wire

import "time"

// processStart is the origin of monotonic times.
var processStart = time.Now()

// monotonic converts a time to nanoseconds of the monotonic clock.
func monotonic(t time.Time) int64 { return int64(t.Sub(processStart)) }
