// Package figures computes records that are not rows: aggregates, which are refused where a sum
// would be wrong, facets, and what changed between two snapshots.
//
// The files, each of which uses those below it:
//
//	facets.go                            counts by value
//	changes_write.go changes.go          records that differ between two snapshots
//	history.go kept_make.go              what figures were before; the figures of a publication
//	series.go                            figures over time
//	headlines.go kept.go                 headline figures as records; figures that are kept
//	headline_extent.go                   what they are a part of
//	headline_values.go headline_read.go  their values; the rows that they are made of
//	aggregate.go                         figures of groups
//	hints.go excess.go                   what an answer takes in; sums that are too large
//	country_groups.go coverage.go        groups of countries; places with figures
//	suggest.go                           the question to ask instead of a wrong one
//	additivity.go levels.go              why a sum is wrong: rows that overlap, places in places
//	groups.go                            what is found in the groups of a request
//	sources.go checker.go                answers of lists, with their sources; a request to check
package figures
