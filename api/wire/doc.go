// Package wire is what an HTTP/1.1 server needs and fasthttp 1.77 lacks. It wraps listeners and
// connections, and limits work at once. It does not know what is served.
//
// Each mechanism, the attack or measurement that asks for it, and its lines of code without
// comments:
//
//   - Early read (conn, 60): an idle connection waits with 1.2 KiB instead of a read buffer of 64
//     KiB, at no more system calls. 10,000 idle connections cost 108 MB, and 245 MB without.
//   - Request bytes (progress, 15): fasthttp reads and drops what is between the chunks of a body
//     for as long as it comes, so that one request could keep a connection busy forever.
//   - Line length (progress, 10): a request that does not fit is 414 or 431, whichever is true.
//   - HEAD (progress, 15): a HEAD that could not be read gets no body. The next answer on the
//     connection would be read as that body's rest.
//   - Coalescer (56): an answer of 8 to 40 KiB takes 15 to 18 % less CPU, client included, than
//     with the two writes of fasthttp. Its deadlines save moving a timer for each answer.
//   - Lease and budget (111): clients that ask and do not read hold the memory of their answers.
//     Beyond a quarter of the memory limit, new answers get 503.
//   - Lent buffers (lease, 30): fasthttp's pool drops long buffers. To collect them took a
//     twelfth of the time of small answers, a third beside 10,000 idle connections.
//   - Shared bodies (23): when a hundred clients do not read the same body, its memory is
//     counted once, also after the cache has evicted it.
//   - Limits of connections (connections, 60): the answer to a connection beyond a limit is the
//     service's own 503, counted. fasthttp's is a fixed text. The limit of one client is off
//     unless set: behind a proxy, which has such limits itself, all connections are the proxy's.
//   - Refusal (49): a client whose connection is closed before its request was read may lose the
//     503.
//   - Lingering close (43): likewise the answer to a request that was not read whole (RFC 9112,
//     9.6). Limited in number, time and bytes.
//   - Draining (conn, connections, listener, 70): fasthttp closes idle connections at shutdown,
//     also those whose request has come and is not read. With 50 busy clients some requests
//     failed at every restart.
//   - rejectNew (27, Linux): likewise connections that the kernel has opened and nobody has
//     accepted. Without it, closing the listener resets ten and more of 50 clients that connect
//     all the time.
//   - Shortage of descriptors (listener, 20): Accept waits, where fasthttp ends the server.
//   - Gate (81): with three times the usual clients, at least 0.9 of the usual good answers come
//     in at most three times the usual time. Without it all wait as long as callers let them.
//   - RefusalLimiter (25): callers that repeat refused requests at once cannot take more than a
//     tenth of each core.
//   - Transfer-Encoding and Host (request, 79): request smuggling. fasthttp drops
//     "Transfer-Encoding: identity", which other servers refuse or read otherwise, and
//     strips "user:password@" from hosts.
//   - LimitExpectation (8): a client that asks before it sends a body that is too long is refused
//     at once.
//   - Log (25): messages of fasthttp may quote requests, and clients can cause any number of
//     them.
//
// Most stay untouched behind a proxy that reads whole requests, limits connections and buffers
// answers, and cost little then. A service without a proxy has the same protection.
//
// Shared is a type and not an interface with a Release method, since an interface cannot be swapped
// atomically without an allocation.
//
// # Tried
//
// A pool of timers for requests that wait at the gate: only they need one, and they wait for
// milliseconds.
package wire
