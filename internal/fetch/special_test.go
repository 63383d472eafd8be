package fetch

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// TestSpecialAddresses checks every block of the IANA special-purpose registries, cloud metadata
// addresses, and each form of IPv6 address that embeds an IPv4 address. The error names the block.
func TestSpecialAddresses(t *testing.T) {
	t.Parallel()
	for addr, name := range map[string]string{
		// Cloud metadata.
		"168.63.129.16": "Azure", "169.254.169.254": "cloud metadata", "169.254.170.2": "cloud metadata",
		"169.254.170.23": "cloud metadata", "169.254.0.23": "cloud metadata", "169.254.42.42": "cloud metadata",
		"100.100.100.200": "Alibaba", "192.0.0.192": "Oracle", "fd00:ec2::254": "AWS", "fd00:ec2::23": "AWS",
		"fd20:ce::254": "Google", "fd00:c1::a9fe:a9fe": "Oracle", "fd00:42::42": "Scaleway",

		// IPv4, the first or last address of each block.
		"0.0.0.0": "This host", "0.1.2.3": "This network", "10.0.0.0": "Private-Use",
		"10.255.255.255": "Private-Use", "100.64.0.1": "Shared", "100.127.255.255": "Shared", "127.0.0.1": "Loopback",
		"127.255.255.254": "Loopback", "169.254.1.1": "Link Local", "172.16.0.1": "Private-Use",
		"172.31.255.255": "Private-Use", "192.0.0.1": "Service Continuity", "192.0.0.8": "dummy",
		"192.0.0.9": "Port Control", "192.0.0.10": "Relays", "192.0.0.170": "NAT64", "192.0.0.171": "NAT64",
		"192.0.0.255": "Protocol Assignments", "192.0.2.1": "TEST-NET-1", "192.31.196.1": "AS112",
		"192.52.193.1": "AMT", "192.88.99.1": "6to4 Relay", "192.168.1.1": "Private-Use", "192.175.48.1": "AS112",
		"198.18.0.1": "Benchmarking", "198.19.255.255": "Benchmarking", "198.51.100.1": "TEST-NET-2",
		"203.0.113.1": "TEST-NET-3", "224.0.0.1": "Multicast", "239.255.255.255": "Multicast", "240.0.0.1": "Reserved",
		"255.255.255.254": "Reserved", "255.255.255.255": "Limited Broadcast",

		// IPv6.
		"::1": "Loopback", "::": "Unspecified", "64:ff9b::7f00:1": "NAT64", "64:ff9b::808:808": "NAT64",
		"64:ff9b:1::1": "NAT64", "100::1": "Discard-Only", "100:0:0:1::1": "Dummy", "2001::1": "TEREDO",
		"2001:1::1": "Port Control", "2001:1::2": "Relays", "2001:1::3": "DNS-SD", "2001:2::1": "Benchmarking",
		"2001:3::1": "AMT", "2001:4:112::1": "AS112", "2001:10::1": "ORCHID", "2001:20::1": "ORCHIDv2",
		"2001:30::1": "Drone", "2001:1ff::1": "Protocol Assignments", "2001:db8::1": "Documentation",
		"2002:7f00:1::": "6to4", "2002:808:808::1": "6to4", "2620:4f:8000::1": "AS112", "3fff::1": "Documentation",
		"3fff:fff::1": "Documentation", "5f00::1": "Segment Routing", "fc00::1": "Unique-Local",
		"fd12:3456::1": "Unique-Local", "fe80::1": "Link-Local", "febf::1": "Link-Local", "fec0::1": "Site-Local",
		"ff02::1": "Multicast", "3ffe::1": "6bone", "4000::1": "outside of 2000::/3", "e000::1": "outside of 2000::/3",
		"200::1": "outside of 2000::/3",

		// IPv4 in IPv6: mapped, compatible, translated, Teredo.
		"::ffff:127.0.0.1": "Loopback", "::ffff:10.0.0.1": "Private-Use", "::ffff:168.63.129.16": "Azure",
		"::ffff:169.254.169.254": "cloud metadata", "::127.0.0.1": "IPv4-Compatible", "::8.8.8.8": "IPv4-Compatible",
		"::ffff:0:127.0.0.1": "IPv4-Translated", "::ffff:0:8.8.8.8": "IPv4-Translated",
		"2001:0:4136:e378:8000:63bf:80ff:fffe": "TEREDO",

		// A zone does not get an address past a prefix.
		"fe80::1%eth0": "Link-Local", "fec0::1%eth0": "Site-Local", "2002:7f00:1::%1": "6to4", "::1%lo": "Loopback",
		"::ffff:127.0.0.1%1": "Loopback",
	} {
		err := checkAddress(netip.MustParseAddr(addr))
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want it refused as %q", addr, err, name)
		}
	}
}

// TestPublicAddresses checks public addresses, among them the neighbours of special blocks.
func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{
		"93.184.216.34", "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
		"126.255.255.255", "128.0.0.1", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0",
		"172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.31.195.255", "192.88.98.1",
		"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.101.0", "203.0.112.255",
		"203.0.114.0", "223.255.255.255", "::ffff:8.8.8.8",
		"2606:2800:220:1::1", "2001:200::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2003::1",
		"2400:cb00::1", "2600:1f18::1", "2620:4f:8001::1", "2a00:1450:4001::1", "3fff:1000::1",
	} {
		if err := checkAddress(netip.MustParseAddr(addr)); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
}
