package country

import (
	"testing"

	"hdqs/internal/testkit"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"2", "1", "189", "1 of 189 districts"},
		{"1", "17", "17", "17 of 17 provinces"},
		{"0", "", "", "the whole country"},
		{"", "3", "9", "3 of 9 units"},
		{"", "", "", ""},
		{"2", "", "", "districts"},
		{"7", "", "", ""},
	} {
		testkit.Equal(t, coverageText(nil, c[0], c[1], c[2]), c[3], "%v", c)
	}
}
