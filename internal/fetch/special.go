package fetch

import (
	_ "embed"
	"net/netip"
	"strings"
)

// block is a range of addresses that holds no public files.
type block struct {
	prefix netip.Prefix
	name   string // as in the registry
}

//go:embed special.txt
var specialText string

// specialBlocks are the blocks that special.txt lists, in its order.
var specialBlocks = parseBlocks(specialText)

func parseBlocks(text string) (blocks []block) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			fields := strings.Split(line, "\t")
			blocks = append(blocks, block{netip.MustParsePrefix(fields[0]), fields[1]})
		}
	}
	return blocks
}

// globalUnicast is the only block that IANA has allocated for IPv6 unicast on the Internet.
var globalUnicast = netip.MustParsePrefix("2000::/3") // RFC 4291 section 2.4

// checkAddress refuses every address that is not a public unicast one. No address is unwrapped
// except an IPv4-mapped one: the other forms that embed an IPv4 address are refused whatever it is.
func checkAddress(addr netip.Addr) error {
	plain := addr.Unmap().WithZone("") // a prefix contains no address with a zone
	for _, b := range specialBlocks {
		if b.prefix.Contains(plain) {
			return refusedf("%s is not a public address: %s is %s", addr, b.prefix, b.name)
		}
	}
	if plain.Is6() && !globalUnicast.Contains(plain) {
		return refusedf("%s is not a public address: it is outside of %s", addr, globalUnicast)
	}
	return nil
}
