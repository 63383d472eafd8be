// Package encode chooses the content coding of a body and compresses it. It handles bytes and
// fragments; it depends on no HTTP and no columns.
//
// # Three ways to compress
//
// A Table compresses bodies of one table in one output format. The rows that a query selected
// decide how:
//
//   - Stored: neighbouring rows. The table is divided into blocks of 128 rows. Each is compressed
//     when it is first requested, and cached. At both ends of a run of rows, blocks of 32 are used.
//     A body is one gzip member or one zstd frame: the rows before the first block, the blocks, and
//     the rows after the last one. Several members or frames would be simpler, but curl, Chromium,
//     Firefox and httpx stop after the first.
//   - Pieces: all other rows. The renderer says which fragments the text consists of, so nothing is
//     searched for. A fragment that equals the previous row's extends the current match. One that
//     occurred within the window becomes a match. A new one becomes an edit of the previous row's
//     text, computed field by field and cached for the next time that the one follows the other
//     (matcher.go, batch.go, edit.go). Both codings share these steps and the resulting ops.
//     DEFLATE is written immediately, in a code that all bodies of the table start with; one batch
//     of rows in 32 is counted to see whether another code would be shorter (deflate.go). zstd
//     gathers ops into groups of blocks, each group with codes of its own (zstd_writer.go,
//     zstd_tables.go).
//   - Whole: the rendered body through klauspost's encoders: gzip level 1; zstd's default level, or
//     its fastest for bodies below 64 KB. This is for tables of free text, where a sample of gzip
//     from pieces is more than 25 % larger, and for bodies that are not rows of a table
//     (AppendGzip, AppendZstd).
//
// # Why any block may follow any other
//
// gzip: a stored block refers back to at most 32 rows, and is used only where these precede it in
// the body. It ends with an empty uncompressed block, and so on a byte boundary. The CRC of the
// body is combined from those of the blocks (crc.go).
//
// zstd: the same, except that blocks end on byte boundaries anyway and have no CRC. A zstd block
// may also refer to the last three distances and the codes of the block before it. A stored block
// does neither: it describes its own codes, and repeats only distances that occurred within it. So
// does the first block after a stored block.
//
// # Imports
//
// This package declares what it needs of a renderer (Rows) and imports none, so its tests use
// made-up rows. Package api/render imports it and makes a Table for each of its forms.
//
// # Where the time goes
//
// Gzip of 10,000 scattered rows, one of twelve, in microseconds of CPU time on a shared virtual
// machine (AMD), median over eight pages. Sweeps, differences and writing were repeated in place
// and so had warm caches; the rest is cold memory, samples and everything else.
//
//	                       text and CRC   sweeps   differences   writing    rest     all
//	conflict events                 490      140           180       160      80   1,050
//	food prices                     900      270           520       310     150   2,150
//	rainfall                      1,210      340           650       340      80   2,620
//	refugees                        640      170           380       180      70   1,450
//	operational presence            720      170           550       700   1,220   3,370
//
// An encoder cannot save the first column. A piece that differs takes 10 to 15 ns, a match with the
// literals after it 7 ns. A mispredicted branch takes 17 ns there, so the number of mispredicted
// branches matters more than the number of instructions.
//
// The target of 900 µs for the gzip of 10,000 scattered rows of any big table is therefore out of
// reach. Text and CRC, most of it rendering (0.4 to 1.05 ms by itself, see package render), take
// 490 to 1,210 of the 900 µs, and leave less than the other steps need in every table.
//
// # Tried
//
//   - Stored blocks of 64 rows (prototypes): half the encoding at the ends of a page, but 14 % more
//     bytes than blocks of 128 rows (events-like table of the benchmark, 10,000 rows). Blocks of
//     256 rows save another 6 % and cost twice as much at the ends.
//   - Stored blocks of one size: 39 µs for a page in one run of rows and 100 µs for one in three
//     (gzip; copying the plain body took 98 µs). With small blocks at the ends it is 31 and 58 µs.
//   - Stored blocks that do not refer to the 32 rows before them: 32 % more bytes (gzip level 6),
//     26 % (zstd fastest).
//   - Level 9 for stored gzip blocks: 10 to 18 % fewer bytes in four times the time of level 6, for
//     which the first request waits.
//   - Stored zstd blocks by klauspost's encoder with the rows before as dictionary: 7 % fewer bytes
//     than from pieces for conflict events and 18 % for operational presence, but 14 % more for
//     food prices and 20 to 23 % more for refugees and rainfall. It may repeat distances of the
//     block before, so each block had to be decoded after a foreign one as proof. Its default level
//     saves 3 % for twice the time of the fastest.
//   - One set of zstd codes per table, for stored blocks and other rows alike, so that only the
//     first block of a body describes them: 19 % more bytes for conflict events, neighbouring or
//     scattered, than codes for each stored block and each group.
//   - zstd codes made for blocks 1, 4, 16 and so on of a body and used for the next ones, without
//     gathering groups: the same time, and 3 to 32 % more bytes, since codes must have symbols for
//     what is still to come.
//   - New DEFLATE codes for each 16 K sequences in place of keeping a code while it is good: 1 to 3
//     % fewer bytes, but all sequences are gathered, counted and read again, which takes 10 % of
//     the time.
//   - A first DEFLATE code trained on the typical filters of a table: two samples suffice, since
//     the code adapts and every symbol has a code.
//   - A DEFLATE code that stays from body to body: slightly better for frequent requests, but the
//     bytes of a body, and its length, then depend on earlier requests.
//   - Fixed Huffman codes for the few rows beside stored blocks are used where they are shorter: a
//     code of their own for each such part took most of the time of a page in three runs.
//   - Computing the edits of all numbers of a lane in a sweep of its own, before the pieces that
//     differ are encoded: 5 to 9 % slower than computing each when it is encoded (rainfall,
//     refugees), because the edits are written to memory and read again.
//   - Priming the encoder after stored blocks with 32 rows: the last row alone suffices, for bodies
//     that are 1 % larger.
//   - Continuing a match of an earlier row over the key of the next field, instead of returning to
//     the previous row: 1 to 2 % fewer bytes (needs, displaced people), no less time.
//   - A match in place of two short edits: needs 10 % and refugees 4 % smaller, conflict events 4 %
//     slower; in zstd, conflict events 13 % larger.
//   - A table of codes for pairs of digits (code.go) in place of one code for each digit: writing
//     the numbers of prices and rainfall takes a fifth less time. Masking the numbers one by one
//     instead gained nothing.
//   - Whole bodies by klauspost's zstd for scattered rows: on nine of the ten biggest tables of a
//     generated catalog, 10,000 rows from pieces took 0.45 to 0.7 of its time and 0.7 to 1.05 of
//     its bytes.
//   - Multi-member gzip: see above.
package encode
