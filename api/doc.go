// Package api answers HTTP requests from a snapshot: paths, parameters, records, statuses.
//
// One literal an endpoint (endpoints_*.go) says its path, table, record and filters; routing,
// checks, column binding, the interface description and the pages are derived from these literals.
// A request goes the way of handler.go: route, identifier, parameters (params.go), rows (index),
// bytes (render), coding (encode). Everything that a caller can do wrong is an error of errors.go,
// and only that file knows statuses and texts.
//
// Successes are made to be kept by caches. Their entity tag comes from the table's content and the
// canonical query (canonical.go, validators.go), so it is known before any work, the same in all
// replicas and codings, and outlives snapshots that do not change the table. Nothing of a success
// depends on the identifier: links leave it out, X-Unknown-Params withholds names that have one or
// a piece of one in them (unknown.go), and no answer varies by it. It comes back in two places
// only, neither of which a cache keeps: the redirect of a path with a slash at its end repeats the
// caller's query, and a 422 for an identifier of more than 512 characters has it as input. That
// item is the contract's too: its section 2 wants string_too_long for it, and section 8 says what
// each item's input is: "the raw string, null for a missing one". Who sends it as the value of
// another parameter asks for rows with that value, and it is treated as any value.
//
// There is no Content-Location: it would write the canonical query into every header once more,
// while caches keep answers under the URL that was asked for and clients follow Link, which has
// that query without the identifier.
//
// "Prefer: handling=strict" is a wish: it does not reach answers that a cache has, which say in
// X-Unknown-Params what was ignored. To vary by the field would be a second copy of everything.
// Options.Strict leaves no way around it. That a wish was granted is said (Preference-Applied) only
// in faults, which no cache has.
//
// Requests are turned away by capacity, never by caller (admission.go): a bound on queries at once
// with a queue, which is short whenever it does not get short by itself, and one on bytes that
// clients have not taken yet. The latter counts the memory that lists hold until then: bodies, each
// once however many send it, and what a connection has beside, of which most is the read buffer
// when the next request came before its turn (shared.go). What needs neither a query nor a list's
// body is answered even then. Refusals have a pace: callers who ask again at once wait for each.
// Connections are bounded too, and those beyond are told so as requests are; how they end stands in
// connections.go, and in parting.go what becomes of those whose clients send what is not read.
//
// A Server serves one snapshot at a time, and holds those it served before for a while, for
// requests that name them (release.go). Swap puts another in its place: requests that run keep the
// one they began with, and it is closed when the last of them ends.
//
// A panic costs one request, wherever its answer is made: in the handler, in what the HTTP library
// asks for without it, or while a body is written. It is counted and logged with its stack.
//
// Long bodies without a coding are rendered while they are written (stream.go). Others are kept
// when they are asked for twice, and made once for all who wait for the same (cache.go); both are a
// matter of time and memory only, and Options.CacheBytes turns them off.
//
// # Tried
//
// Idle connections keep their read buffers (Options.KeepBuffers): no faster, once the bytes that
// come with the first one are kept too (lineConn); without that, giving buffers back is one more
// system call a request. 10,000 connections that were answered once and wait cost 108 MB so, and
// 245 MB with buffers whose greater part was never touched.
//
// Turning away at once what waited too long, whatever happened before: a hiccup of the machine of
// 50 milliseconds cost all requests that it met. A queue must stand for 100 milliseconds now. With
// neither, 512 callers of a page that costs 1.1 ms of CPU all waited 0.6 s, as long as callers let
// it.
//
// A look at the queue for each page, not only when the last short wait is a quarter of the longest
// ago: with one core, pages of 1,000 rows came a quarter slower while snapshots were swapped, since
// opening one keeps the core for 10 milliseconds at a time.
//
// Pages that wait in a queue of their own, with a slot for each core and a timer for each of them,
// instead of among all that is ready: of 240 callers half waited 0.1 s instead of 0.16, but twice
// as many were turned away, and a good answer took 4 to 30 % more CPU. Without any of it half of
// them wait 0.28 s.
//
// More memory between collections (a ballast, GOGC 400): with 0.2 KB of garbage a request instead
// of 5.7, collections are too few to matter, also with 10,000 idle connections, whose stacks cost
// 25 ms of CPU each time.
//
// A whole header as one prepared text: the HTTP library removes line ends from values, rightly. So
// heads are objects that are copied.
package api
