// Package replica keeps a snapshot store and a store somewhere else, in a bucket or behind a web server, alike.
//
// A remote store has the files of a local one under the same names: segments and manifests that never change, named by their content, and
// channels, which do. Writers put segments first, the manifest next and the channel last, on the condition that it still is the one they
// began from: of two writers one wins, and the other is told. Readers go the other way, and take nothing for granted: the channel names the
// digest of the manifest, the manifest those of the segments, and each file gets its name in the local store only once its bytes have that
// digest. So the local store is both cache and last good snapshot, and whatever is wrong with the remote one leaves it as it was.
//
// A reader that asks for signatures wants one of the channel too, and remembers the latest time at which that was moved: what was put there before is
// not shown again, whoever puts it back. It takes a writer with a key to go back to an older snapshot.
//
// What travels is what the other side lacks. A look at an unchanged channel is one request with If-None-Match and an answer without a body.
//
// # Collection
//
// A bucket has no lock. A segment that Push finds in place might be one that a collection has just listed as unneeded; therefore Push writes those
// again that are old and that the channel's snapshot does not use, a collection removes only what is as old as it was when it was listed, and
// Push looks once more that all segments are there before it moves the channel. A grace period much longer than an upload does the rest.
package replica
