package country

import (
	"math"
	"strconv"
	"strings"

	"hdqs/api/browse"
)

// Rounded is a number as people read it: 24.8 million.
func Rounded(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	sign := ""
	if v < 0 {
		sign, v = "\u2212", -v
	}
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}} {
		if v >= unit.size-unit.size/2e4 { // which one decimal rounds up to it
			return sign + oneDecimal(v/unit.size) + unit.name
		}
	}
	if v >= 1000 {
		return sign + browse.Count(int(math.Round(v)))
	}
	return sign + oneDecimal(v)
}

// oneDecimal rounds half away from zero, as figures are rounded.
func oneDecimal(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(math.Round(v*10)/10, 'f', 1, 64), ".0")
}

// unitNames are the units of a level in words, by level.
var unitNames = [levels]string{"the whole country", "provinces", "districts"}

// coverageText says of how much of the country a figure is, empty if that is not known.
func coverageText(level, units, known string) string {
	n, err := strconv.Atoi(level)
	switch {
	case err == nil && (n < 0 || n >= levels):
		return ""
	case units != "" && known != "" && err == nil && n > 0:
		return units + " of " + known + " " + unitNames[n]
	case units != "" && known != "":
		return units + " of " + known + " units"
	case err == nil:
		return unitNames[n]
	}
	return ""
}
