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

// ErrRefused marks an address that must not be requested.
var ErrRefused = errors.New("fetch: address refused")

func refusedf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// checkConnection is called by the dialer with the resolved address, just before it connects. There
// is no second DNS lookup between the check and the connection that could return another address.
func (c *Client) checkConnection(_, address string, _ syscall.RawConn) error {
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

// checkURL checks the scheme, the credentials and the host of an address before DNS resolution.
func (c *Client) checkURL(u *url.URL) error {
	switch {
	case c.options.Transport != nil:
		return nil
	case u.Scheme != "https" && !(u.Scheme == "http" && c.options.AllowHTTP):
		return refusedf("%s: scheme %q, want https (or --allow-http)", u.Redacted(), u.Scheme)
	case u.Hostname() == "":
		return refusedf("%s: the address has no host", u.Redacted())
	case u.User != nil:
		return refusedf("%s: the address has a user name, which is not allowed", u.Redacted())
	case len(c.options.Hosts) > 0 && !hostListed(c.options.Hosts, u.Hostname()):
		return refusedf("%s: host %q is not in the list of allowed hosts", u.Redacted(), u.Hostname())
	}
	// Behind a proxy no connection is made to the address itself.
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !c.options.AllowPrivate {
		return checkAddress(addr)
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
