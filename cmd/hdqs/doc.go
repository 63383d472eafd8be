// Command hdqs builds snapshots of humanitarian data from a catalog and serves them from memory.
// Most files of this package are one command each. The commands read flags, wire the other packages
// together, and turn errors into messages and exit codes.
//
// The files, each of which uses those below it:
//
//	main.go manual.go                  the list of commands, signals, exit codes
//	mcp.go query.go inspect.go collect.go build.go export.go boundaries.go status.go check.go
//	serve.go answers.go publish.go verify.go mirror.go accesslog.go not_found.go metrics.go
//	listen.go load.go figures.go catalog.go diff.go store.go version.go flags.go keygen.go
//	usage_errors.go output.go systemd.go   what is printed; notices to systemd
package main
