// Package wire adds what an HTTP/1.1 server needs and fasthttp lacks. It wraps listeners and
// connections, and limits concurrent work. It does not depend on what is served.
//
// The mechanisms, each with the attack or measurement that requires it and its lines of code
// without comments:
//
//   - Early read (conn, 60): an idle connection has 1.2 KiB instead of a read buffer of 64 KiB,
//     without more system calls. 10,000 idle connections take 108 MB instead of 245 MB.
//   - Request bytes (progress, 15): fasthttp reads and drops what is between the chunks of a body
//     without limit, so that one request could keep a connection busy forever.
//   - Line length (progress, 10): a request that does not fit into the read buffer gets 414 or 431,
//     depending on which part is too long.
//   - HEAD (progress, 15): a HEAD that could not be read gets no body. The client would take a body
//     for the start of the next answer.
//   - Write deadlines (conn, 8) that stay if they are a little early save moving a timer for each
//     answer.
//   - Lease and budget (111): clients that send requests and do not read occupy the memory of
//     their answers. Beyond a quarter of the memory limit, new requests get 503.
//   - Leased buffers (lease, 30): fasthttp's pool drops long buffers. Collecting them took a
//     twelfth of the time of small answers, and a third with 10,000 idle connections.
//   - Shared bodies (23): when a hundred clients do not read the same body, its memory is
//     counted once, also after the cache has evicted it.
//   - Connection limits (connections, 60): a connection over a limit gets the service's own 503
//     and is counted. fasthttp sends a fixed text. The limit for one client is off unless set:
//     behind a proxy, which has such limits itself, all connections are the proxy's.
//   - Refusal (49): a client whose connection is closed before its request was read may lose the
//     503.
//   - Lingering close (43): likewise the answer to a request that was not read whole (RFC 9112,
//     9.6). Limited in number, time and bytes.
//   - Draining (conn, connections, listener, 70): at shutdown fasthttp closes idle connections,
//     including those with a request that has arrived but was not read. With 50 busy clients some
//     requests failed at every restart.
//   - rejectNew (27, Linux): likewise for connections that the kernel has opened but the server has
//     not accepted. Without it, closing the listener resets ten or more of 50 clients that connect
//     all the time.
//   - Shortage of descriptors (listener, 20): Accept waits, whereas fasthttp stops the server.
//   - Gate (81): with three times the usual clients, at least 0.9 times the usual number of good
//     answers are sent, in at most three times the usual time. Without it all requests wait as long
//     as callers allow.
//   - RefusalLimiter (25): callers that repeat refused requests at once cannot take more than a
//     tenth of each core.
//   - Folded lines, Transfer-Encoding and Host (request, 81): request smuggling. fasthttp joins
//     folded lines and drops "Transfer-Encoding: identity", which other servers refuse or interpret
//     differently, and strips "user:password@" from hosts.
//   - LimitExpectation (8): a client that sends "Expect: 100-continue" for a body that is too long
//     is refused at once.
//   - Log (25): messages of fasthttp may quote requests, and clients can cause any number of
//     them.
//
// Behind a proxy that reads whole requests, limits connections and buffers answers, most of these
// are never triggered and cost little. A service without a proxy has the same protection.
//
// Shared is a type and not an interface with a Release method, since an interface cannot be swapped
// atomically without an allocation.
//
// # Tried
//
// Joining the two writes of an answer that is longer than fasthttp's write buffer into one
// (net.Buffers) was worth 15 to 18 % of the CPU of answers of 8 to 40 KiB with a buffer of 4 KiB,
// client included. A buffer of 16 KiB does without: the CPU of typical requests in gzip is 1.01 to
// 1.02 of that, and 1.07 with 4 KiB. It is held only while an answer is written.
//
// Sending each file from one that is opened again, which Go does without a copy by itself, costs a
// descriptor for each download. Slow ones then keep the server from opening its store and from its
// admin listener.
//
// A pool of timers for requests that wait at the gate is not worth it: only those requests need a
// timer, and they wait for milliseconds.
//
// The files, each of which uses those below it:
//
//	listener.go log.go refuse.go unread.go request.go gate.go file.go pace.go
//	closing_*.go client.go
//	connections.go linger.go conn.go lease.go shared.go budget.go
//	file_*.go refusals.go clock.go progress.go
package wire
