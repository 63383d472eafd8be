// Package follow keeps a server on the snapshot that a channel of a store shows. A follower polls
// the channel, opens or downloads the snapshot, and swaps. Each step of a poll can hang, on a dead
// file system or a network that loses packets, so none is waited for longer than its timeout
// (Await).
//
// The commands give it a server and an open store. It depends on neither flags nor systemd, and
// returns errors without exit codes.
//
// The files, each of which uses those below it:
//
//	start.go poll.go                   the first snapshot; polls
//	report.go seen.go                  what replicas report; channels that were seen
//	show.go bulk.go                    opens, downloads and shows a snapshot
//	follow.go preopen.go source.go metrics.go await.go
package follow
