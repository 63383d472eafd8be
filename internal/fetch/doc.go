// Package fetch downloads catalog files over HTTP for a loader that must not be fooled, flooded or stopped by its upstream.
//
// Guarded: https only unless Options.AllowHTTP; a host list when one is given; every address is looked at after DNS and at each
// redirect, and private, loopback, link-local, shared and metadata addresses are refused unless Options.AllowPrivate.
//
// Calm: at most Options.Parallel requests at once; failures that pass are tried again with jittered back-off, honouring
// Retry-After (RFC 9110 section 10.2.3); a cut body goes on by Range with If-Range where the server gave a strong validator.
// Redirects are followed on every try from the first address, since what they lead to is often a link that is valid for a minute.
//
// Careful: a body is counted against its cap while it streams, an HTML or XML page where data was asked for is an error
// whatever its status says, and size and digest are checked when the caller knows them. A file appears under its final name only
// when whole.
//
// No proxy is read from the environment: behind one the address check would see only the proxy.
package fetch
