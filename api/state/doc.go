// Package state holds the snapshots that a server answers from: which is current, which replaced
// ones are kept, who reads them, and what memory they need.
//
// The files, each of which uses those below it:
//
//	readiness.go provisional.go  whether there is something to serve; months that are not final
//	fault.go                     answers that are errors, and what is logged of them
//	release.go                   a snapshot replaces another one, and the room that this needs
//	state.go snapshots.go        what a server serves; snapshots in use, and those retained
//	heads.go change.go           heads of lists; what a snapshot changed
//	memory.go                    the parts of the memory limit, and what snapshots need of it
//	options.go                   what an operator sets
//	sources.go bind.go           sources of tables; tables that answer
//	countries.go                 the list of countries
//	adder.go selection.go        what sums need; options of indexes
package state
