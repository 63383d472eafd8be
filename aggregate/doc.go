// Package aggregate answers questions with figures: of the rows that pass the filters of a query,
// in groups, how many there are, and the sum, smallest, largest, mean, newest or number of
// different values of a column. It knows no column by name. docs/measurements/aggregate.md has what
// was tried.
//
// # From rows to groups
//
// index.Passing finds the rows, in chunks. They are read in blocks of 1,024. No row is decoded to
// text: a block has the packed codes of its rows, and tables that are made once for each code say
// what a code means.
//
// The fields to group by are sorted by where their codes come from. Fields of one column or one
// tuple dictionary are an input: each code has a digit, the number of the combination of the
// fields' values, in their order. The digits of all inputs are the key of a group, as in a number
// with several radixes. If there are few keys, a key is the position of the group in the lists of
// figures. Otherwise a hash table numbers the keys as they appear, so memory depends on the groups
// that occur.
//
//	codes of a row ──► digits ──► key ──► group ──┬──► rows, sums, values, codes of the group
//	codes or numbers of the measured column ──────┘
//
// # Runs
//
// Rows are sorted, so many codes stay the same for hundreds of rows. If those of all inputs do
// (index.Runs), rows that follow each other in one group are added together: they are counted by
// subtraction, and a sum is the difference of two prefix sums, of which there is one for every 64
// rows, and of at most 32 rows at each end.
// Extremes and different values of a run come from one pass over its codes.
//
// Where rows that pass do not follow each other, runs still give the codes of those that lie close
// together, without reading any (index.Batch).
//
// # Exact figures
//
// Numbers are added as integers with a common power of ten (numeric). Where a sum could leave 64
// bits, the integers are cut into limbs, each with a sum of its own, so that no addition carries.
// Exact texts, which fit no snapshot.Dec, are added as rationals. A sum has all its digits. A mean
// is the exact quotient of the sum and the number of values, rounded once to the nearest float64
// (to even); a quotient beyond those is rounded to 53 bits.
//
// Null is no value: it does not count in sums, means and numbers of different values, and is
// neither smallest nor largest. The sum, mean, smallest and largest of no value is null.
//
// Latest is the value in the rows of the group's newest period. If they have different values, null
// being one, it is Differ: to choose one of them, or to add them, is up to the caller, who can
// group by more fields or filter.
//
// # Memory and work
//
// A question keeps what its groups need, not its rows: 4 bytes for a count, 8 or 16 for a sum, and
// so on. There are bounds on groups and on pairs of a group and a different value. What is made of
// a column once and kept is at most what FullBytes says.
//
// The files, each of which uses those below it:
//
//	memory.go distinct.go count.go result.go answer.go keys.go
//	plan.go latest.go extreme.go state.go numeric.go
//	block.go field.go table.go parts.go value.go
//	question.go                        what is asked
package aggregate
