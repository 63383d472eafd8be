// Package catalog makes a catalog that looks like the real one and is entirely made up: a world of places, organisations,
// markets and packages, and thirteen themes of rows about it. Country codes, names and currencies are facts; every place below
// them, every code and every figure is drawn from a seeded generator.
//
// The same world is written in two forms. Write makes the directory catalog that a loader reads: standardised CSV files whose
// codes may be stale, wrong or missing, as they are in life. WriteViews makes the dumps of a database that has all joins
// done. The generator decides first which unit a row belongs to and then what the CSV shows of it, so the views need no code that
// resolves anything: they print what is true, the CSV prints what a provider sent, and a loader of both must arrive at the same
// records.
//
// Scale 0 is the sample: small, and holding every trap. Scale 1 has about twelve million rows with the cardinalities of the real
// catalog. Every scale holds the rows of the traps, so that nothing is easier because there is more of it.
package generator
