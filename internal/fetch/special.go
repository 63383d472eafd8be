package fetch

import "net/netip"

// block is a range of addresses that holds no public files.
type block struct {
	prefix netip.Prefix
	name   string // as in the registry
}

func special(prefix, name string) block { return block{netip.MustParsePrefix(prefix), name} }

// specialBlocks are refused. The first block that contains an address names it in the error, so
// narrower blocks come first. Blocks that the registries mark as globally reachable are refused
// too: they hold anycast services, relays and translators, but no files.
var specialBlocks = []block{
	// Metadata and platform services of clouds. Most of these addresses are also in a block below.
	// 168.63.129.16 is not.
	special("168.63.129.16/32", "cloud metadata: Azure platform service"),
	special("169.254.169.254/32", "cloud metadata: AWS, Azure, Google Cloud and others"),
	special("169.254.170.2/32", "cloud metadata: AWS container credentials"),
	special("169.254.170.23/32", "cloud metadata: AWS container credentials"),
	special("169.254.0.23/32", "cloud metadata: Tencent Cloud"),
	special("169.254.42.42/32", "cloud metadata: Scaleway"),
	special("100.100.100.200/32", "cloud metadata: Alibaba Cloud"),
	special("192.0.0.192/32", "cloud metadata: Oracle Cloud"),
	special("fd00:ec2::254/128", "cloud metadata: AWS"),
	special("fd00:ec2::23/128", "cloud metadata: AWS container credentials"),
	special("fd20:ce::254/128", "cloud metadata: Google Cloud"),
	special("fd00:c1::a9fe:a9fe/128", "cloud metadata: Oracle Cloud"),
	special("fd00:42::42/128", "cloud metadata: Scaleway"),

	// IANA IPv4 Special-Purpose Address Registry.
	special("0.0.0.0/32", "This host on this network"),            // RFC 1122 section 3.2.1.3
	special("0.0.0.0/8", "This network"),                          // RFC 791 section 3.2
	special("10.0.0.0/8", "Private-Use"),                          // RFC 1918
	special("100.64.0.0/10", "Shared Address Space"),              // RFC 6598
	special("127.0.0.0/8", "Loopback"),                            // RFC 1122 section 3.2.1.3
	special("169.254.0.0/16", "Link Local"),                       // RFC 3927
	special("172.16.0.0/12", "Private-Use"),                       // RFC 1918
	special("192.0.0.0/29", "IPv4 Service Continuity Prefix"),     // RFC 7335
	special("192.0.0.8/32", "IPv4 dummy address"),                 // RFC 7600
	special("192.0.0.9/32", "Port Control Protocol Anycast"),      // RFC 7723
	special("192.0.0.10/32", "Traversal Using Relays around NAT"), // RFC 8155
	special("192.0.0.170/32", "NAT64/DNS64 Discovery"),            // RFC 8880, RFC 7050 section 2.2
	special("192.0.0.171/32", "NAT64/DNS64 Discovery"),            // RFC 8880, RFC 7050 section 2.2
	special("192.0.0.0/24", "IETF Protocol Assignments"),          // RFC 6890 section 2.1
	special("192.0.2.0/24", "Documentation (TEST-NET-1)"),         // RFC 5737
	special("192.31.196.0/24", "AS112-v4"),                        // RFC 7535
	special("192.52.193.0/24", "AMT"),                             // RFC 7450
	special("192.88.99.0/24", "Deprecated (6to4 Relay Anycast)"),  // RFC 7526
	special("192.168.0.0/16", "Private-Use"),                      // RFC 1918
	special("192.175.48.0/24", "Direct Delegation AS112 Service"), // RFC 7534
	special("198.18.0.0/15", "Benchmarking"),                      // RFC 2544
	special("198.51.100.0/24", "Documentation (TEST-NET-2)"),      // RFC 5737
	special("203.0.113.0/24", "Documentation (TEST-NET-3)"),       // RFC 5737
	special("255.255.255.255/32", "Limited Broadcast"),            // RFC 8190, RFC 919 section 7
	special("240.0.0.0/4", "Reserved"),                            // RFC 1112 section 4

	// IANA IPv6 Special-Purpose Address Registry. IPv4-mapped addresses, ::ffff:0:0/96 of RFC 4291,
	// are not listed: they are checked as the IPv4 address that the connection goes to.
	special("::1/128", "Loopback Address"),                          // RFC 4291
	special("::/128", "Unspecified Address"),                        // RFC 4291
	special("64:ff9b::/96", "IPv4-IPv6 Translat. (NAT64)"),          // RFC 6052
	special("64:ff9b:1::/48", "IPv4-IPv6 Translat. (NAT64)"),        // RFC 8215
	special("100::/64", "Discard-Only Address Block"),               // RFC 6666
	special("100:0:0:1::/64", "Dummy IPv6 Prefix"),                  // RFC 9780
	special("2001::/32", "TEREDO"),                                  // RFC 4380, RFC 8190
	special("2001:1::1/128", "Port Control Protocol Anycast"),       // RFC 7723
	special("2001:1::2/128", "Traversal Using Relays around NAT"),   // RFC 8155
	special("2001:1::3/128", "DNS-SD Service Registration"),         // RFC 9665
	special("2001:2::/48", "Benchmarking"),                          // RFC 5180
	special("2001:3::/32", "AMT"),                                   // RFC 7450
	special("2001:4:112::/48", "AS112-v6"),                          // RFC 7535
	special("2001:10::/28", "Deprecated (previously ORCHID)"),       // RFC 4843
	special("2001:20::/28", "ORCHIDv2"),                             // RFC 7343
	special("2001:30::/28", "Drone Remote ID Entity Tags"),          // RFC 9374
	special("2001::/23", "IETF Protocol Assignments"),               // RFC 2928
	special("2001:db8::/32", "Documentation"),                       // RFC 3849
	special("2002::/16", "6to4"),                                    // RFC 3056
	special("2620:4f:8000::/48", "Direct Delegation AS112 Service"), // RFC 7534
	special("3fff::/20", "Documentation"),                           // RFC 9637
	special("5f00::/16", "Segment Routing (SRv6) SIDs"),             // RFC 9602
	special("fc00::/7", "Unique-Local"),                             // RFC 4193, RFC 8190
	special("fe80::/10", "Link-Local Unicast"),                      // RFC 4291

	// Not in these registries: multicast, and forms of IPv6 addresses that are no longer in use.
	special("224.0.0.0/4", "Multicast"),                           // RFC 5771
	special("ff00::/8", "Multicast"),                              // RFC 4291 section 2.7
	special("::/96", "IPv4-Compatible IPv6 Address (deprecated)"), // RFC 4291 section 2.5.5.1
	special("::ffff:0:0:0/96", "IPv4-Translated Address"),         // RFC 2765 section 2.1
	special("fec0::/10", "Site-Local Unicast (deprecated)"),       // RFC 3879
	special("3ffe::/16", "6bone (returned)"),                      // RFC 3701
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
