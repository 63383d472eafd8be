// Package load asks HTTP servers the queries of a mix and measures what the answers cost. It knows addresses, process ids and
// files, nothing of the programs behind them, so that any server of the same interface is measured alike.
//
// Three habits keep its figures honest. Servers that are compared are asked in turn, A B A B, in short bursts within one run, and only
// ratios of neighbouring bursts count: a machine's mood changes more between two runs than most changes to a program do. Servers
// are compared only after both gave the same rows to each query. And in the open loop latency counts from the moment a request was due,
// not from when a connection was free for it, so a server that stalls pays for all requests it held up.
package load
