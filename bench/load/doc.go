// Package load sends HTTP servers the queries of a mix and measures what the answers cost. It uses
// addresses, process ids and files only, so that every server of an interface is measured in the
// same way.
//
// Three rules make its figures reliable. Servers that are compared take turns, A B A B, in short
// bursts within one run, and only ratios of neighbouring bursts count: the speed of a machine
// changes more between two runs than most changes to a program change it. Servers are compared only
// after they gave the same rows for each query. And in the open loop, latency counts from the
// moment a request was due, not from when a connection was free for it, so a server that stalls is
// charged for all requests it delayed.
package load
