// Package api serves a snapshot over HTTP. Package contract defines the interface of the service.
// Package wire adds what an HTTP/1.1 server needs and fasthttp lacks.
//
// A server is made of packages, each on those after it. Server has the listeners and the routes
// (handler.go). Package site answers with pages, files with exports and bulk files, figures with
// aggregates, facets and changes. Package list answers a request for a list: it checks the
// identifier, parses the parameters (contract), finds the rows (index), renders them (render) and
// compresses the result (encode). Package state has the snapshots, and reply the headers, statuses
// and bodies of all errors. Package admin answers the admin listener. Routes, checks, column
// binding, the interface description and the pages are derived from the endpoint literals of
// package contract.
//
// The interface is served below several prefixes, with one of two sets of names each (list.Mount).
// Both sets read the same lists; only renderers, with their fragments, and entity tags are one for
// each set (boundSet of package state).
//
// Successful answers are designed for caches. Their entity tag is computed from the table's content
// and the canonical query (reply.EntityTag). So it is known before any work, is the same in all
// replicas and codings, and survives snapshots that do not change the table. No part of a
// successful answer depends on the application identifier: links omit it, X-Unknown-Params
// withholds names that may contain one, and no answer varies by it. Two other answers repeat it,
// and no cache stores either. The redirect of a path that ends with a slash repeats the caller's
// query. A 422 for an identifier of more than 512 characters has it as input. The contract requires
// that: section 2 for string_too_long, and section 8 for the input of each item, "the raw string,
// null for a missing one". An identifier sent as the value of another parameter is treated like any
// value.
//
// There is no Content-Location: it would repeat the canonical query in every header. Caches store
// answers under the requested URL, and clients follow Link, which has the canonical query.
//
// "Prefer: handling=strict" has no effect on cached answers. They list the ignored parameters in
// X-Unknown-Params. Varying by Prefer would store every answer twice. Options.Strict applies to all
// requests. Preference-Applied is sent in error answers only, which no cache stores.
//
// Large pages do not keep short queries waiting: those that take long have slots of their own
// (api/list/admission.go), and all of them compute in turns (package background).
//
// Requests are refused for lack of capacity, whoever sent them (package wire). There are two
// limits: a concurrency limit with a bounded queue, which is halved under sustained overload, and a
// budget of bytes that clients have not read yet. The budget counts bodies, each once however many
// answers send it, and the other memory of their connections: mostly a read buffer, if the next
// request has already arrived. Requests that need neither a query nor a list's body are answered
// even then. Callers who repeat refused requests at once wait for each refusal. Connections are
// limited too, and those over the limit get the same 503.
//
// A Server serves one snapshot at a time, and retains previous ones for a while, for requests that
// name them (api/state/release.go). Swap replaces the current one. A running request keeps the
// snapshot that it began with, which is closed when its last request ends.
//
// A panic in a handler, in the answer to an unreadable request, or while a body is written costs
// only that request. It is counted, and logged with its stack.
//
// Long uncompressed bodies are rendered while they are written (api/list/stream.go). Other bodies
// are cached at the second request, and rendered once for all requests that wait for them
// (api/list/cache.go). Both only save time and memory. Options.CacheBytes turns the cache off.
//
// # Tried
//
// Leaving idle connections their read buffers was not faster, as long as one
// read takes all bytes that arrive with the first one (package wire). Without that, returning the
// buffers costs one more system call for each request. 10,000 idle connections, answered once, take
// 108 MB without buffers and 245 MB with them, most of which were never touched.
//
// Refusing at once every request that would wait too long was too strict: a 50 ms stall of the
// machine cost all requests that arrived during it. So requests are refused only after the queue
// has been too long for 100 ms. Without any limit on the wait, 512 callers of a page that costs
// 1.1 ms of CPU all waited 0.6 s, as long as callers allow.
//
// Yielding before each page was slower than yielding only if the last short wait is more than a
// quarter of the longest wait ago. With one core, pages of 1,000 rows took a quarter longer while
// snapshots were swapped, since opening a snapshot occupies the core for 10 ms at a time.
//
// A separate queue for pages, with a slot for each core and a timer for each page, in place of the
// runtime's queue: half of 240 callers waited 0.1 s instead of 0.16 s, but twice as many were
// refused, and a good answer took 4 to 30 % more CPU. With neither queue, half of them wait 0.28 s.
//
// Collecting garbage less often (a ballast, GOGC 400) was not adopted. At 0.2 KB of garbage for
// each request instead of 5.7 KB, collections are too rare to matter, even with 10,000 idle
// connections, whose stacks cost 25 ms of CPU at each collection.
//
// Preparing a whole header as one text does not work: fasthttp rightly removes line ends from
// values. So prepared headers (head) are objects that are copied.
package api
