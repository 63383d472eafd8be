package list

import (
	"slices"
	"strings"
	"testing"

	"hdqs/api/state"
	"hdqs/internal/testkit"
)

// TestNearNames: a misspelled name or code gets the nearest ones; a part of a name, and a country
// without records, gets none.
func TestNearNames(t *testing.T) {
	t.Parallel()
	countries := []state.Country{{Code: "COG", Name: "Congo"}, {Code: "GMB", Name: "Gambia"}, {Code: "COD"}}
	codes := []string{"AFG", "COD", "TCD", "TCA"}
	names := []string{"Afghanistan", "Pakistan", "Zambia", "Niger", "Nigeria", "Kabul"}
	for _, c := range []struct {
		text string
		of   []string
		want string
	}{
		{"AFX", codes, "AFG"},
		{"afx", codes, "AFG"},
		{"TCX", codes, "TCA TCD"},
		{"XXX", codes, ""},
		{"COG", codes, ""},
		{"TCD", codes, ""},
		{"Afganistan", names, "Afghanistan"},
		{"kabol", names, "Kabul"},
		{"Niger ", names, "Niger Nigeria"},
		{"afganistàn", names, "Afghanistan"},
		{"Afg%stan", names, ""},
		{"gambia", names, ""},
		{"stan", names, ""},
		{"", names, ""},
		{"xyzzy", names, ""},
		{"x", []string{"y"}, ""},
	} {
		isCode := slices.Equal(c.of, codes)
		near := meantNames(c.text, len(c.of), func(i uint32) string { return c.of[i] }, isCode, countries)
		testkit.Equal(t, strings.Join(near, " "), c.want, "%q", c.text)
	}
}
