// Package snapshot keeps tables as files that are read in place.
//
// A table in memory (TableData) becomes a segment, one file, by WriteSegment; format.go has the picture of its bytes and Dump prints them.
// OpenSegment maps a segment and gives its columns. Package store keeps the segments of whole snapshots in a directory.
//
// # Lifetimes and sharing
//
// A Segment never changes once it is open, so any number of goroutines may share it without locks. What it hands out (strings, Packed, Postings,
// the bytes of bitmaps) are views into its mapping: they cost no memory and no copy, and they are gone with Close. Using one afterwards
// is a fault of the program, as reading unmapped memory ends it; so whoever swaps snapshots closes the old one when its last reader is done.
// Snapshots can share a segment: Acquire adds a reference, Close gives one up.
// Files are replaced by renaming, never written in place, so a mapping keeps the content it was opened with; a program that cuts a mapped
// file short ends those that read it.
//
// # Memory
//
// The memory of a segment is its pages in the page cache, which the kernel can drop and read again; on the heap are a few hundred
// bytes a column. All of the file is read once when it is opened, for the checksums. Nothing is ever allocated in proportion to what a file
// claims, only to what is in it.
//
// # Trust
//
// Bytes come from outside: any at all give a segment or ErrCorrupt (FuzzReadSegment). Opening checks every checksum, and that each offset,
// length, width, code, scale and start lies within its bounds, that dictionaries ascend and that texts are UTF-8, so that no accessor can
// go astray. Two things are left to Segment.Verify, as they take a pass over all rows: that postings agree with the codes of rows, and
// that nothing is in a dictionary that no row has. The inside of a bitmap is checked when it is read (Containers).
// Positions and codes that a caller passes are its own responsibility, as with a slice.
//
// # Tried
//
// Not taken: codes that never fall stored as runs alone, found by a sample every 64 rows. It saves what packing takes (1.7 to 2.4 bytes a row
// of one group), but a value then costs 1.2 to 6 ns in sequence and 3 to 40 ns at random instead of 0.7 (runs of 300 to 8 rows), and At
// is no longer inlined.
//
// Not taken: mapping with MAP_POPULATE, or a switch for it. Opening 12 million rows (143 MB) was no faster in four of four pairs, as the checksums touch all
// pages in order anyway: all are there before the first request. It and MADV_POPULATE_READ take 22 ms of CPU where touching takes 18, and neither they nor
// MADV_WILLNEED are faster when the bytes come from a disk.
//
// Taken: roaring as the writer of postings. A writer of our own was 1.5 times as fast (180 against 275 ms of CPU for the 175,000
// bitmaps of a catalog at full size), which is 1 to 2 % of a load; it is not worth a second writer of the same form.
//
// Not taken: roaring's Validate before FrozenView. It compares each run of a container with every later one, so that verifying a
// store of 137 MB took 3.1 s of CPU, and hostile bytes could make it far more. Containers checks the same in one pass: 0.95 s.
//
// Taken: bounds of codes checked on packed words, all values of a load at once, by looking for carries: 0.1 to 0.5 ns a code of 3
// to 28 bits where the plain loop takes 1.4. Taken: unpacking two or four values a load without an inner loop: 0.4 ns a value up to 14 bits, against 0.3 to
// 0.6 with one, and half the time for short runs of 16.
package snapshot
