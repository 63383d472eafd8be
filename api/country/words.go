package country

import (
	"strconv"

	"hdqs/api/lang"
)

// unitTexts are parts of the units of a level in words, by level.
var unitTexts = [levels]string{"the whole country", "%[1]s of %[2]s provinces", "%[1]s of %[2]s districts"}

// coverageText says of how much of the country a figure is, empty if that is not known.
func coverageText(l *lang.Language, level, units, known string) string {
	n, err := strconv.Atoi(level)
	switch {
	case err == nil && (n < 0 || n >= levels):
		return ""
	case units != "" && known != "" && err == nil && n > 0:
		return l.T(unitTexts[n], units, known)
	case units != "" && known != "":
		return l.T("%[1]s of %[2]s units", units, known)
	case err == nil:
		return l.T([levels]string{unitTexts[0], "provinces", "districts"}[n])
	}
	return ""
}
