package fetch

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestSpecialAddresses checks every block of the IANA special-purpose registries, cloud metadata
// addresses, and each form of IPv6 address that embeds an IPv4 address: the error names the block.
// Public addresses are allowed, among them the neighbours of these blocks.
func TestSpecialAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Cases(t, "testdata/special.txt", ": ", 2) {
		for _, addr := range strings.Fields(c[1]) {
			err := checkAddress(netip.MustParseAddr(addr))
			if c[0] == "public" {
				testkit.Must(t, err)
			} else if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c[0]) {
				t.Errorf("%s: got %v, want it refused as %q", addr, err, c[0])
			}
		}
	}
}
