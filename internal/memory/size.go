package memory

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// units are those of GOMEMLIMIT, the largest first.
var units = []struct {
	name string
	size int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// ParseSize reads a number of bytes, with or without a unit: 536870912, 512MiB, 512M, 1.5GiB.
func ParseSize(text string) (int64, error) {
	number, unit := strings.TrimSpace(text), int64(1)
	for _, u := range units {
		short := u.name[:1] // G and GB are what other programs mean by GiB
		for _, name := range []string{u.name, short + "B", short} {
			if rest, ok := strings.CutSuffix(number, name); ok && unit == 1 {
				number, unit = strings.TrimSpace(rest), u.size
			}
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Trim(number, "0123456789.") != "" || n*float64(unit) >= math.MaxInt64 {
		return 0, errors.New("want 0 or more bytes, or a number with K, M, G or T, also as KiB, MiB, GiB, TiB")
	}
	return int64(n * float64(unit)), nil
}

// Size prints a number of bytes for people, such as 220.5 MiB.
func Size(bytes int64) string {
	for _, u := range units {
		if bytes >= u.size && u.size > 1 {
			return strconv.FormatFloat(float64(bytes)/float64(u.size), 'f', 1, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(bytes, 10) + " B"
}
