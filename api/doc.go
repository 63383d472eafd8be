// Package api serves a snapshot over HTTP. Package contract is the interface that it serves,
// package wire what HTTP/1.1 needs and fasthttp lacks.
//
// A request goes through handler.go: route, then for a list (list.go) identifier, parameters
// (contract), rows (index), bytes (render) and coding (encode). Routes, checks, column binding, the
// interface description and the pages are derived from the endpoint literals of package contract.
// errors.go has all statuses and bodies of faults.
//
// Successes are made for caches. Their entity tag is computed from the table's content and the
// canonical query (validators.go). So it is known before any work, is the same in all replicas and
// codings, and survives snapshots that do not change the table. Nothing of a success depends on the
// application identifier: links omit it, X-Unknown-Params withholds names that may contain one,
// and no answer varies by it. Two answers repeat it, and no cache keeps either: the
// redirect of a path with a slash at its end repeats the caller's query, and a 422 for an
// identifier of more than 512 characters has it as input. The contract asks for that item too: its
// section 2 for string_too_long, and its section 8 for the input of each item, "the raw string,
// null for a missing one". An identifier that is sent as the value of another parameter is treated
// as any value.
//
// There is no Content-Location: it would repeat the canonical query in every header. Caches keep
// answers under the requested URL, and clients follow Link, which has the canonical query.
//
// "Prefer: handling=strict" has no effect on answers that a cache has. Those list what was ignored
// in X-Unknown-Params. To vary by the field would store every answer twice. Options.Strict applies
// to all requests. Preference-Applied is sent in faults only, which no cache keeps.
//
// Requests are refused by capacity, never by caller (package wire): by a concurrency limit with a
// bounded queue, which is halved under sustained overload, and by a budget of bytes that clients
// have not read yet. The budget counts bodies, each once however many answers send it, and what
// connections hold beside: mostly a read buffer, if the next request has already come. Requests
// that need neither a query nor a list's body are answered even then. Callers who repeat refused
// requests at once wait for each refusal. Connections are limited too, and those beyond the limit
// get the same 503.
//
// A Server serves one snapshot at a time, and retains previous ones for a while, for requests that
// name them (release.go). Swap replaces the current one. Running requests keep the one they began
// with, which is closed when the last of them ends.
//
// A panic costs one request: in a handler, in the answer to a request that could not be read, or
// while a body is written. It is counted, and logged with its stack.
//
// Long bodies without a coding are rendered while they are written (stream.go). Others are cached
// when they are asked for twice, and made once for all requests that wait for them (cache.go). Both
// only save time and memory. Options.CacheBytes turns the cache off.
//
// # Tried
//
// Idle connections that keep their read buffers (Options.KeepBuffers) are no faster, if the bytes
// that come with the first one are kept too (package wire). Otherwise giving buffers back costs one
// more system call a request. 10,000 connections that were answered once and wait cost 108 MB, and
// 245 MB with buffers, most of which were never touched.
//
// Refusing at once every request that would wait too long: a stall of the machine of 50
// milliseconds cost all requests that came during it. So the queue must be too long for 100
// milliseconds first. Without any limit of the wait, 512 callers of a page that costs 1.1 ms of CPU
// all waited 0.6 s, as long as callers allow.
//
// Yielding for each page, not only if the last short wait is more than a quarter of the longest
// ago: with one core, pages of 1,000 rows were a quarter slower while snapshots were swapped, since
// opening a snapshot keeps the core for 10 milliseconds at a time.
//
// A queue for pages only, with a slot for each core and a timer for each page, in place of the
// runtime's queue: half of 240 callers waited 0.1 s instead of 0.16, but twice as many were
// refused, and a good answer took 4 to 30 % more CPU. With neither, half of them wait 0.28 s.
//
// Not taken: more memory between collections (a ballast, GOGC 400). With 0.2 KB of garbage a
// request instead of 5.7, collections are too rare to matter, also with 10,000 idle connections,
// whose stacks cost 25 ms of CPU each time.
//
// A whole header as one prepared text: fasthttp removes line ends from values, rightly. So heads
// are objects that are copied.
package api
