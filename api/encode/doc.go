// Package encode chooses the content coding of a body and compresses it. It knows bytes and fragments, no HTTP and no column.
//
// # Three ways to compress
//
// A Table compresses bodies of one table in one output format. Which way it goes follows from the rows that a query selected:
//
//   - Stored: rows that are neighbours. The table is cut into blocks of 128 rows, each compressed once, when first asked for, and kept; at both ends of
//     a run, into blocks of 32. A body is one gzip member, or one zstd frame, of the rows in front of its first block, the blocks, and the rows
//     behind: several members or frames are cut off behind the first by curl, Chromium, Firefox and httpx.
//   - Pieces: any other rows. The renderer tells which fragments the text consists of. What is as in the row before lengthens the match in hand, a fragment
//     that stood within the window is a reference, without a search, and what is new is an edit of the row before's text, found field by field
//     and kept for the next time that the one follows on the other (matcher.go, batch.go, edit.go). DEFLATE is written at once, with a code that
//     the table's bodies start with and that is counted anew in one batch of 32 (deflate.go); zstd with tables for each 16 K sequences.
//   - Whole: the rendered body through klauspost's encoders: gzip level 1, zstd's default. For tables of free text, on which a trial finds that
//     pieces are a quarter larger (zstd: a tenth), and for bodies that are no table's (AppendGzip, AppendZstd).
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
// # Where the time goes
//
// Gzip of 10,000 scattered rows, one of twelve, in microseconds of processor time on a virtual machine that others used too, median over eight pages.
// Sweeps, differences and writing were repeated in place and so have warm caches; the rest is cold memory, samples and what is around.
//
//	                       text and CRC   sweeps   differences   writing    rest     all
//	conflict events                 490      140           180       160      80   1,050
//	food prices                     900      270           520       310     150   2,150
//	rainfall                      1,210      340           650       340      80   2,620
//	refugees                        640      170           380       180      70   1,450
//	operational presence            720      170           550       700   1,220   3,370
//
// An encoder cannot save the first column. A piece that differs takes 10 to 15 ns, a match with the literals behind it 7; a branch guessed wrong
// takes 17 ns there, so how many of them there are decides more than how much is done.
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
//   - A code for each 16 K sequences in place of one that is kept while it serves: 1 to 3 % fewer bytes, but all sequences are kept, counted and read again, a tenth of the time.
//   - A code trained per table over the classes of filters: two samples are enough to start with, the code follows what comes, and every symbol has one.
//   - A code that stays from body to body: a little better for what is asked for often, but the bytes of a body, and its length, then depend on what was asked
//     for before.
//   - Fixed Huffman codes for the few rows beside stored blocks are taken where they make them shorter; a code of their own for each was most of the time
//     of a page in three runs.
//   - Ways made for numbers of all rows of a lane in a sweep of their own, so that all pieces that differ go one way: 5 to 9 % slower than making them as
//     they come (rainfall, refugees), for the ways are written and read again.
//   - Priming the encoder behind stored blocks with the 32 rows in front: a last row suffices, for bodies that are 1 % larger.
//   - Staying with a match beyond the row before over the key of the field behind it: 1 to 2 % fewer bytes (needs, displaced people), no less time.
//   - A reference in place of two short edits: needs 10 % and refugees 4 % smaller, conflict events 4 % slower; under zstd conflict events 13 % larger.
//   - A table of codes for each two digits (code.go) in place of one for each: numbers of prices and rainfall a fifth faster. The same with the numbers
//     masked one by one was not.
//   - Whole bodies by klauspost's zstd for scattered rows too: on nine of the ten biggest tables of a generated catalog, 10,000 rows from pieces take 0.45 to
//     0.7 of the time and 0.7 to 1.05 of the bytes.
//   - Multi-member gzip: see above.
package encode
