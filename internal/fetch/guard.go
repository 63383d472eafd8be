package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// ErrRefused marks an address that the guard does not let through.
var ErrRefused = errors.New("fetch: address refused")

func refusedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// closed are the ranges beyond netip's own predicates that no public file lives in: shared carrier space, protocol assignments, benchmarking,
// the translations of IPv4 into IPv6 (their embedded address would escape the check), and what is reserved.
var closed = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("fec0::/10"),
}

// checkAddress refuses every address that is not a public unicast one.
func checkAddress(addr netip.Addr) error {
	addr = addr.Unmap()
	public := addr.IsGlobalUnicast() && !addr.IsPrivate() && !addr.IsLoopback() && !addr.IsLinkLocalUnicast()
	if !public || slices.ContainsFunc(closed, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return refusedf("%s is not a public address", addr)
	}
	return nil
}

// control is called by the dialer with the address that DNS gave, just before it connects: a name that changes its mind
// between a check and the connection has no second look-up to do so.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	if c.options.AllowPrivate {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return refusedf("%q is not host:port", address)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return refusedf("%q is not an IP address", host)
	}
	return checkAddress(addr)
}

// checkURL looks at what can be seen before a connection: scheme, credentials, host list.
func (c *Client) checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "https" && !(u.Scheme == "http" && c.options.AllowHTTP):
		return refusedf("%s: scheme %q, want https", u.Redacted(), u.Scheme)
	case u.Hostname() == "":
		return refusedf("%s: no host", u.Redacted())
	case u.User != nil:
		return refusedf("%s: user name in a link", u.Redacted())
	case len(c.options.Hosts) > 0 && !hostListed(c.options.Hosts, u.Hostname()):
		return refusedf("%s: host %q is not in the list of allowed hosts", u.Redacted(), u.Hostname())
	}
	return nil
}

// hostListed matches a host against exact names and ".suffix" entries.
func hostListed(list []string, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(list, func(entry string) bool {
		entry = strings.ToLower(entry)
		return entry == host || strings.HasPrefix(entry, ".") && strings.HasSuffix(host, entry)
	})
}
