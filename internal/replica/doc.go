// Package replica copies snapshots between a local store and a remote one: a bucket, or a store's
// directory behind a web server.
//
// A remote store has the same files as a local one. Segments and manifests never change and are
// named by their content; channels change. A writer uploads segments first, then the manifest, then
// the channel. The channel is written on the condition that it is still the version that the writer
// began from, so of two concurrent writers one succeeds and the other gets ErrConflict.
//
// A reader goes the other way and verifies everything: the channel has the digest of the manifest,
// the manifest has those of the segments, and a file gets its name in the local store only when its
// bytes have that digest. The local store is thus both a cache and the last good snapshot, and a
// damaged remote store cannot change it.
//
// A reader that requires signatures also requires one on the channel. It remembers the time at
// which the channel was last moved and refuses an older version of it. Only a writer with a key can
// return to an earlier snapshot.
//
// Only files that the other side lacks are transferred. Of a table of which the reader has an
// earlier segment, it asks for a delta to the new one. A delta need not be trusted, since the
// digest of what it makes is checked as that of a download is; on any fault the whole segment
// follows.
//
// Checking an unchanged channel takes one request with If-None-Match and a response without a body.
//
// # Collection
//
// A bucket has no locks, so a collection may run during Push and be about to delete a segment that
// Push wants to reuse. Three rules together prevent the loss. Push writes old segments again that
// the channel's snapshot does not use. A collection deletes an object only if it was not rewritten
// since it was listed. Push checks that all segments are present before it moves the channel. The
// grace period of a collection must be much longer than an upload takes.
//
// The files, each of which uses those below it:
//
//	push.go bulk.go pull.go tree.go    what is written and read
//	delta.go files.go
//	remote.go                          a remote store and its local copy
package replica
