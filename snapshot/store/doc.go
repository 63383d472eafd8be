// Package store keeps snapshots in a directory.
//
// A store has five folders: segments, named by the SHA-256 of their content; manifests, each of
// which names the segments of one snapshot; channels, each of which points to the manifest to
// serve; deltas, each of which makes a segment from an earlier one of the table; and figures, which
// publications have.
//
// Readers need no lock. A file gets its final name when it is complete and on disk, and only
// channels are ever replaced. Writers take Lock, one at a time. A channel keeps its previous
// pointers (Channel), so that it can go back. Collect removes snapshots that no channel points to.
// Opening a snapshot reads its segments into memory: their files are not needed afterwards.
//
// Snapshots opened one after the other share the segments that are in both (Snapshots.OpenAfter).
// Each snapshot is closed on its own.
//
// The files, each of which uses those below it:
//
//	verify.go collect.go lock.go  for operators: checks, removal, one writer at a time
//	delta.go                      deltas to the segments of a snapshot
//	figures.go                    figures of publications
//	canary.go channel.go          what replicas serve: a part of them, all
//	copy.go                       snapshots from store to store
//	sign.go                       keys and signatures
//	store.go compare.go           segments and manifests; what differs between two
//	files.go                      files that appear when they are complete
//	manifest.go source.go         what a snapshot has, and where its rows come from
//	errors.go                     manifests that cannot be read
//
// # Signatures
//
// A manifest can be signed. It has the digests of its segments, so the signature covers every row.
// Store.Signing signs what it writes, and writes the signature before the manifest. Store.Trusting
// refuses everything that no trusted key has signed.
package store
