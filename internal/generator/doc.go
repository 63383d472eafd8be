// Package generator writes catalogs that look like the real one and are entirely made up: a world
// of places, organisations, markets and packages, and themes with rows about it: those of the
// public lists, and of any other list of package schema a few rows that follow from its columns.
// Country codes, names, regions, income levels and currencies are real (ISO 3166-1, UN M49, World
// Bank, ISO 4217). Every place below them, every code and every figure is drawn from a seeded
// generator.
//
// The same world is written in two forms. Write makes the directory catalog that a loader reads:
// standardised CSV files whose codes may be stale, wrong or missing, as in the real ones.
// WriteViews makes the dumps of a database in which all joins are done. The generator first decides
// which unit a row belongs to, and then what the CSV shows of it. So the views need no code that
// resolves codes: they print the truth, the CSV prints what a provider sent, and a loader must make
// the same segments of both, byte for byte. The whole-program test of this package checks that.
//
// Traps are rows that are hard to load: stale codes, one code at two levels, names in other
// scripts. Scale 0 is the sample that the program embeds, small but with every trap. Scale 1 has
// about twelve million rows, with the cardinalities of the real catalog. Every scale holds all
// traps, so a large catalog is not easier than a small one. The small catalog (Options.Small) has a
// few rows of each theme and one trap in six: it is for tests of faults, which load a catalog many
// times.
//
// The command generate writes them:
//
//	go run ./cmd/generate catalog --scale 1 --gzip --out DIR # twelve million rows, 170 MB
//	go run ./cmd/generate views --scale 1 --gzip --out DIR   # the same world as view dumps
//
// The same options give the same bytes on any number of cores.
//
// The files, each of which uses those below it:
//
//	write.go write_lists.go views.go   the two forms of a world
//	traps.go                           rows that are hard to load
//	themes_*.go themes.go output.go edits.go columns_view.go
//	lists.go outlines.go columns_csv.go line.go row.go place.go
//	people.go world.go scale.go words.go packages.go random.go number.go day.go
package generator
