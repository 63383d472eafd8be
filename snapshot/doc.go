// Package snapshot stores tables in files whose bytes are also their form in memory.
//
// docs/measurements/snapshot.md has what was tried.
//
// WriteSegment encodes a table in memory (TableData) as a segment, one file. format.go has the
// layout of its bytes, and Dump prints them. OpenSegment reads a segment and returns its columns.
// Package store keeps the segments of whole snapshots in a directory. WriteDelta describes a
// segment by an earlier one of the table, and DeltaApplier makes it again: delta.go says how. For a
// load that changes 1 % of all rows that is 0.4 % of the bytes, for one more name 0.06 %.
//
// The files, each of which uses those below it:
//
//	verify.go dump.go                      the checks of all rows; the bytes in words
//	delta_make.go delta_apply.go delta.go  a segment described by an earlier one
//	writer.go encode_decimal.go            a table becomes a segment; decimals
//	encode.go                              columns, with a dictionary or without
//	encode_postings.go freezer.go          postings: of a load, of a replica
//	nulls.go                               columns that are not in the file
//	open.go column.go                      a segment is read and checked; its columns
//	numbers.go postings.go frozen.go       numbers, postings and the bitmaps in them
//	dictionary.go                          distinct values, in order
//	directory.go format.go                 the layout of the bytes
//	raw.go range.go packed.go              packed numbers: many at once, in a range, one by one
//	file.go reading.go memory_*.go         a whole file into memory, and its checksums
//	segment.go table.go decimal.go         what others see: segments, tables to write, decimals
//
// # Lifetimes and sharing
//
// A Segment never changes once it is open, so any number of goroutines may share it without locks.
// What it returns (strings, Packed, Postings, bitmaps) are views into its memory. They cost no
// copy, and must not be used after Close: reading memory that was given back ends the program. So a
// program that replaces a snapshot closes the old one after its last reader. Several snapshots can
// share a segment: Acquire adds a reference, Close gives one up.
//
// # Memory
//
// OpenSegment reads the whole file into memory of its own, checks the checksums there, and closes
// the file. Whatever another program or the disk does to the file later changes nothing: the bytes
// that were checked are the ones that are read. The memory has the length of the file and is not in
// the Go heap, so that Close gives it back at once, and the collector has nothing to scan. On the
// heap are a few hundred bytes a column. No allocation is proportional to a number that a file
// claims, only to its size.
//
// # Trust
//
// Files come from outside: any bytes give a segment or ErrCorrupt (FuzzReadSegment). Opening checks
// every checksum; that each offset, length, width, code, scale and start is within its bounds; that
// dictionaries ascend; and that texts are UTF-8. So no accessor can go out of bounds. Two checks
// need a pass over all rows and are left to Segment.Verify: that postings agree with the codes of
// rows, and that each value of a dictionary occurs. The bytes of a bitmap are checked when it is
// read (Containers). Positions and codes passed by a caller must be valid, as with a slice.
package snapshot
