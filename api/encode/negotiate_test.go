//go:build !race

package encode

import (
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestNegotiate checks the cases of testdata/accept_encoding.txt.
func TestNegotiate(t *testing.T) {
	t.Parallel()
	cases := testkit.Cases(t, "testdata/accept_encoding.txt", "\"", 2)
	for _, c := range cases {
		end := strings.LastIndexByte(c[1], '"')
		header, want := c[1][:end], strings.TrimSpace(c[1][end+1:])
		testkit.Equal(t, named(Negotiate(header)), want, "%q", header)
		if refuses := RefusesIdentity(header); refuses && want == "identity" || !refuses && want == "406" {
			t.Errorf("%q: RefusesIdentity is %v", header, refuses)
		}
	}
	testkit.AtLeast(t, len(cases), 60, "cases")
}

func named(c Coding, ok bool) string {
	if !ok {
		return "406"
	}
	return c.String()
}
