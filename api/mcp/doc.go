// Package mcp answers agents by the Model Context Protocol: six tools and a few resources over the
// interface that everybody else has. A tool asks plain requests of an Asker, the server itself or a
// replica elsewhere, so that no figure, sum or search has a second definition here, and the answer
// names the request that gives the same. tools.json declares the tools.
//
// What this package adds is what an agent needs beside a number: the exact total, unit, level,
// period, coverage, age and licence; what exists nearest where nothing does; and after a refusal
// the call that is right. Cells are data: signs that no reader sees are escaped.
//
// # Tried
//
// Tools over browse.Source, as pages are made: it has no header fields and no types of values, and
// a command over a remote replica would have needed a second way to each answer.
package mcp
