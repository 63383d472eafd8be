package render

import "time"

// appendTime writes microseconds since 1970 as 2006-01-02T15:04:05, with blank in place of the T,
// and with six more digits if there is a fraction of a second. Times are always coded, so it runs
// once for each distinct time.
func appendTime(dst []byte, micros int64, blank byte) []byte {
	t := time.UnixMicro(micros).UTC()
	layout := "2006-01-02 15:04:05"
	if t.Nanosecond() != 0 {
		layout = "2006-01-02 15:04:05.000000"
	}
	start := len(dst)
	dst = t.AppendFormat(dst, layout)
	dst[start+len("2006-01-02")] = blank
	return dst
}
