// Package fetch downloads files over HTTP from servers that need not be trusted.
//
// It refuses dangerous addresses. Only https is allowed unless Options.AllowHTTP is set, and only
// the hosts in Options.Hosts if there are any. Each address is checked after DNS resolution and at
// each redirect. Addresses in the IANA special-purpose registries, multicast, cloud metadata
// addresses and IPv6 forms that embed an IPv4 address are refused unless Options.AllowPrivate is
// set.
//
// It goes easy on servers. At most Options.Parallel requests run at once. Temporary failures are
// retried with jittered back-off that honours Retry-After (RFC 9110 section 10.2.3). A download
// that was cut resumes with Range and If-Range if the server gave a strong validator. Each try
// follows the redirects from the first address again, since they often lead to a link that is valid
// for a minute.
//
// It checks what it gets. A body is counted against its size limit while it streams. An HTML or XML
// page where data was expected is an error, whatever its status. Size and digest are checked when
// the caller gives them. A file gets its final name only when it is complete.
//
// A proxy is read from the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). Behind one, names are
// resolved by the proxy, so addresses after DNS resolution are its to check; addresses in links are
// checked here.
package fetch
