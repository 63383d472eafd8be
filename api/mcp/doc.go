// Package mcp answers agents by the Model Context Protocol: six tools and a few resources over the
// interface that everybody else has. A tool asks the lists what plain requests ask, so that no
// figure, sum or search has a second definition here, and the answer names the request that gives
// the same. tools.json declares the tools. Forward sends messages to a replica elsewhere.
//
// What this package adds is what an agent needs beside a number: the exact total, unit, level,
// period, coverage, age and licence; what exists nearest where nothing does; and after a refusal
// the call that is right. Cells are data: signs that no reader sees are escaped.
//
// The files, each of which uses those below it:
//
//	forward.go lines.go http.go server.go  the two transports; messages
//	figure.go lists.go about.go resources.go find.go  tools and resources
//	arguments.go refusal.go messages.go answer.go call.go
package mcp
