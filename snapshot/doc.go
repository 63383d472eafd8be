// Package snapshot stores tables in files that are read in place.
//
// WriteSegment encodes a table in memory (TableData) as a segment, one file. format.go has the
// layout of its bytes, and Dump prints them. OpenSegment maps a segment and returns its columns.
// Package store keeps the segments of whole snapshots in a directory.
//
// # Lifetimes and sharing
//
// A Segment never changes once it is open, so any number of goroutines may share it without locks.
// What it returns (strings, Packed, Postings, bitmaps) are views into its mapping. They cost no
// memory and no copy, and must not be used after Close: reading unmapped memory ends the program.
// So a program that replaces a snapshot closes the old one after its last reader. Several snapshots
// can share a segment: Acquire adds a reference, Close gives one up. Files are replaced by renaming
// and never written in place, so a mapping keeps its content.
//
// Another program may still write to a mapped file, or make it shorter. A read beyond the end is a
// memory fault, which ends the program, unless the goroutine has called debug.SetPanicOnFault and
// recovers (Guard, FaultAddress). Other changes are noticed by Recheck. A segment whose bytes may
// have changed is marked (MarkSuspect) and replaced by another one: from its file, or from the same
// bytes (Reread).
//
// # Memory
//
// The memory of a segment is its pages in the page cache, which the kernel can drop and read again.
// On the heap are a few hundred bytes a column. Opening reads the whole file once, for the
// checksums. No allocation is proportional to a number that a file claims, only to its size.
//
// # Trust
//
// Files come from outside: any bytes give a segment or ErrCorrupt (FuzzReadSegment). Opening checks
// every checksum; that each offset, length, width, code, scale and start is within its bounds; that
// dictionaries ascend; and that texts are UTF-8. So no accessor can go out of bounds. Two checks
// need a pass over all rows and are left to Segment.Verify: that postings agree with the codes of
// rows, and that each value of a dictionary occurs. The bytes of a bitmap are checked when it is
// read (Containers). Positions and codes passed by a caller must be valid, as with a slice.
//
// # Tried
//
// Not taken: storing codes that never fall as runs alone, found by a sample every 64 rows. It saves
// the packed codes (1.7 to 2.4 bytes a row of one group). But a value then takes 1.2 to 6 ns in
// sequence and 3 to 40 ns at random instead of 0.7 ns (runs of 300 to 8 rows), and At is no longer
// inlined.
//
// Not taken: mapping with MAP_POPULATE, or an option for it. Opening 12 million rows (143 MB) was
// no faster in four of four pairs of runs, since the checksums touch all pages in order anyway. It
// and MADV_POPULATE_READ take 22 ms of CPU where touching the pages takes 18. Neither they nor
// MADV_WILLNEED are faster when the bytes come from a disk.
//
// Taken: roaring as the writer of postings. A writer of our own was 1.5 times as fast (180 against
// 275 ms of CPU for the 175,000 bitmaps of a catalog at full size). The difference is at most 2 %
// of the CPU of a load, which is not worth a second writer of the same form. It is largest for
// random codes, where roaring allocates a container for every few rows: BenchmarkWriteSegment takes
// 1.23 times the CPU.
//
// Not taken: roaring's Validate before FrozenView. It compares each run of a container with every
// later one. Verifying a store of 137 MB took 3.1 s of CPU with it, and hostile bytes can make it
// take much longer. Containers checks the same in one pass: 0.95 s.
//
// Taken: checking the bounds of codes on packed words, all values of a load at once, by their
// carries. A code of 3 to 28 bits takes 0.1 to 0.5 ns, in a plain loop 1.4 ns.
//
// Taken: unpacking two or four values of a load without an inner loop. A value of up to 14 bits
// takes 0.4 ns, with an inner loop 0.3 to 0.6 ns, and runs of 16 values take half the time.
package snapshot
