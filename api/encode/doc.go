// Package encode chooses the content coding of a body and compresses it. It handles bytes and
// fragments; it depends on no HTTP and no columns.
//
// Of gzip and zstd with equal weight gzip is chosen, since its rows are copied (Negotiate). zstd is
// always the whole body through klauspost's encoder. What was measured and tried is in
// docs/measurements/encode.md.
//
// # Four ways to make gzip
//
// A Table compresses bodies of one table in one output format. The rows that a query selected
// decide how:
//
//   - Stored: neighbouring rows. The table is divided into blocks of 128 rows. Each is compressed
//     when it is first requested, and cached. At both ends of a run of rows, blocks of 32 are used.
//     A body is one member: the rows before the first block, the blocks, and the rows after the
//     last one. Several members would be simpler, but curl, Chromium, Firefox and httpx stop after
//     the first.
//   - Copied: rows of filtered pages of which a few follow each other in the table: a year of a
//     place, the places of a country. Row blocks (row_blocks.go) are 32 rows each, encoded with
//     nothing but the row before, in one code. So any run of their rows can be copied bit by bit
//     after the row before it, which is encoded from pieces (copied.go). They are made when first
//     requested, and cached with the stored blocks while there is room. A table has none where they
//     make bodies larger: where most texts repeat some earlier row's, and not that of the row
//     before.
//   - Pieces: all other rows. The renderer says which fragments the text consists of, so nothing is
//     searched for. A fragment that equals the previous row's extends the current match. One that
//     occurred within the window becomes a match. A new one becomes an edit of the previous row's
//     text, computed field by field and cached for the next time that the one follows the other
//     (matcher.go, batch.go, edit.go). DEFLATE is written immediately, in a code that all bodies of
//     the table start with; from 1,024 rows on, one batch in 64 is counted to see whether another
//     code is shorter (deflate.go).
//   - Whole: the rendered body through klauspost's gzip level 1. This is for tables of free text,
//     where a sample from pieces is more than 25 % larger, and for bodies that are not rows of a
//     table (AppendGzip, AppendZstd).
//
// # Why any block may follow any other
//
// A stored block refers back to at most 32 rows, and is used only where these precede it in the
// body. It ends with an empty uncompressed block, and so on a byte boundary. The CRC of the body is
// combined from those of the blocks (crc.go).
//
// # Imports
//
// This package declares what it needs of a renderer (Rows) and imports none, so its tests use
// made-up rows. Package api/render imports it and makes a Table for each of its forms.
//
// The files, each of which uses those below it:
//
//	table.go                           the choice for a body
//	stored_blocks.go deflate_stored.go stored blocks
//	copied.go row_blocks.go batch.go deflate.go counts.go matcher.go edit.go
//	block_header.go code.go sized_blocks.go rows.go crc.go stream.go whole.go negotiate.go
//	block.go huffman.go bits.go        bits of DEFLATE
package encode
