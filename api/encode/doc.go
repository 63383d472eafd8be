// Package encode chooses the content coding of a body and compresses it. It knows bytes and fragments, no HTTP and no column.
//
// # Three ways to compress
//
// A Table compresses bodies of one table in one output format. Which way it goes follows from the rows that a query selected:
//
//   - Stored: rows that are neighbours. The table is cut into blocks of 128 rows, each compressed once, when first asked for, and kept; at both ends of
//     a run, into blocks of 32. A body is one gzip member, or one zstd frame, of the rows in front of its first block, the blocks, and the rows
//     behind: several members or frames are cut off behind the first by curl, Chromium, Firefox and httpx.
//   - Pieces: any other rows. The renderer tells which fragments the text consists of, and a fragment that stood within the window is a
//     reference, without a search. What is new is compared with the row before, field by field (matcher.go). The literals and matches are
//     written as DEFLATE with a code for each 16 K sequences, or as zstd with tables for as many.
//   - Whole: the rendered body through klauspost's encoders: gzip level 1, zstd's default. For tables of free text, on which a trial finds that
//     pieces are a quarter larger, and for bodies that are no table's (AppendGzip, AppendZstd).
//
// # Why any block may follow any other
//
// gzip: a stored block refers back to at most 32 rows in front of it, and is used only where these stand in front of it in the body; it ends with an
// empty block that is not compressed, hence with a whole byte. CRCs are put together from those of the blocks (crc.go).
//
// zstd: the same, and since a block may also name the last three distances of the one in front by rank, each part is decoded behind a
// foreign block when it is made (zstd_proof.go), and sent as it is if that does not give its text.
//
// # Who imports whom
//
// This package states what it wants of a renderer (Rows) and imports none, so it is tested on rows made up for the purpose; api/render
// imports it, makes a Table for each of its forms, and hands the pieces over.
//
// # Tried
//
//   - Stored blocks of 64 rows, as measured on prototypes: half as much to encode at the ends of a page, but 14 % more bytes than 128 rows
//     (events-like table of the benchmark, 10,000 rows); 256 rows save another 6 % and cost twice as much at the ends.
//   - One size of stored blocks: 39 µs for a page in one run and 100 for one in three (gzip; a copy of the plain body took 98); with the small blocks at the
//     ends 31 and 58.
//   - Stored blocks without the 32 rows in front: 32 % more bytes (gzip level 6), 26 % (zstd fastest).
//   - Level 9 for stored blocks: 10 to 18 % fewer bytes, four times the time of level 6, paid by the first request.
//   - zstd's default level for stored blocks with rows in front: 3 % fewer bytes for twice the time.
//   - A code trained per table over the classes of filters, in place of a code for each 16 K sequences: not needed. A page has two to four such
//     blocks, building their codes takes under 3 % of the time, and no class can be one that the training missed.
//   - Looking how far the match in hand goes on into every fragment that has a place of its own to refer to: as many bytes, a fifth more time. It is
//     done for short ones only, whose difference is a digit or two.
//   - Whole bodies by klauspost's zstd for scattered rows too: on nine of the ten biggest tables of a generated catalog, 10,000 rows from pieces take 0.45 to
//     0.7 of the time and 0.7 to 1.05 of the bytes.
//   - Comparing short new fragments at both ends instead of field by field: a quarter more bytes, since two numbers mostly differ in a record, not one.
//   - Multi-member gzip: see above.
package encode
