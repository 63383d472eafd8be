// Package encode chooses the content coding of a body and compresses it. It handles bytes and
// fragments; it depends on no HTTP and no columns.
//
// # Four ways to compress
//
// A Table compresses bodies of one table in one output format. The rows that a query selected
// decide how:
//
//   - Stored: neighbouring rows. The table is divided into blocks of 128 rows. Each is compressed
//     when it is first requested, and cached. At both ends of a run of rows, blocks of 32 are used.
//     A body is one gzip member or one zstd frame: the rows before the first block, the blocks, and
//     the rows after the last one. Several members or frames would be simpler, but curl, Chromium,
//     Firefox and httpx stop after the first.
//   - Copied: rows of filtered pages in gzip, of which a few follow each other in the table: a year
//     of a place, the places of a country. Row blocks (row_blocks.go) are 32 rows each, encoded
//     with nothing but the row before, in one code. So any run of their rows can be copied bit by
//     bit after the row before it, which is encoded from pieces (copied.go). They are made when
//     first requested, and cached with the stored blocks while there is room. A table has none
//     where they make bodies larger: where most texts repeat some earlier row's, and not that of
//     the row before.
//   - Pieces: all other rows. The renderer says which fragments the text consists of, so nothing is
//     searched for. A fragment that equals the previous row's extends the current match. One that
//     occurred within the window becomes a match. A new one becomes an edit of the previous row's
//     text, computed field by field and cached for the next time that the one follows the other
//     (matcher.go, batch.go, edit.go). Both codings share these steps and the resulting ops.
//     DEFLATE is written immediately, in a code that all bodies of the table start with; from 1,024
//     rows on, one batch in 64 is counted to see whether another code is shorter (deflate.go). zstd
//     gathers ops into groups of blocks, each group with codes of its own (zstd_writer.go,
//     zstd_tables.go); stored blocks may lie between them. As it has no checksum, only the text of
//     literals is rendered (sparse.go).
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
// # Bodies that refer to another body
//
// A Delta (delta.go) is zstd too, with another body as its dictionary, in dcz (RFC 9842). Its
// caller knows which rows are in both, and gives only the rows that differ, each with a similar old
// one. So its cost does not depend on the text that both have: 10,000 rows of which 1 % differ take
// about 30 blocks, as the format demands, with 100 to 200 sequences in all.
//
// # Imports
//
// This package declares what it needs of a renderer (Rows) and imports none, so its tests use
// made-up rows. Package api/render imports it and makes a Table for each of its forms.
//
// # Where the time goes
//
// Rows that are copied, and the same from pieces, in microseconds of CPU time without HTTP and
// finding the rows, in turns (seven rounds, Intel Xeon, two busy cores); the ratios are to plain
// rendering in parts and to Tier Whole. The pages are those of bench/mixes/targets.txt.
//
//	                          100 rows               1,000 rows               10,000 rows
//	                     pieces copied  ÷ plain  pieces copied  ÷ plain  pieces copied  ÷ whole
//	conflict events        10.1    3.7     1.46      96     28     1.03   1,217    435     0.15
//	food prices            14.8    2.5     0.58     157     14     0.28   1,677    156     0.03
//	rainfall               25.8    9.0     1.22     263     78     0.96   3,055  1,288     0.18
//	refugees               11.4    1.9     0.63     112     11     0.33   1,227    105     0.03
//	operational presence   19.5      –     5.2      229      –     5.8    2,797      –     0.50
//
// A run costs about 0.5 µs, for looking up two rows, encoding one and copying the others. Runs of
// conflict events have 12 rows, of rainfall 9, of food prices and refugees 100. Making a row block
// takes 15 to 55 µs, and its rows take 29 to 47 bytes each. The bytes of bodies are those of gzip
// level 1, times 0.8 to 1.25; from pieces 0.7 to 1.1, since they have matches with earlier rows
// than the one before. Of 1,241 pages of all lists, one has more with copied rows, 1.39 (2.7 KB).
//
// Row blocks are no help for operational presence (and for needs): 1.8 pieces of each row are
// matches with an earlier row. Without them a body takes 2.1 times the bytes, for three quarters of
// the time, as runs have 2.9 rows. From pieces, 1,000 rows have 2,862 pieces that differ, which
// become 1,757 matches with their last occurrence, 634 cached edits, 133 new ones and 338
// that continue a match: 4,995 ops with 22,000 literals, 18,000 of them in 547 ops. Of 229 µs,
// rendering is 22 %, the CRC 9 %, finding out what differs 8 %, matching 23 %, writing 31 % (those
// 547 ops 15 %). For a ratio of 1.3, comparing, matching and writing may take 12 ns for each
// op; they take 32.
//
// What follows is about pieces alone, and was measured before there were row blocks.
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
// A piece that differs takes 10 to 15 ns, a match with the literals after it 7 ns. A mispredicted
// branch takes 17 ns there, so the number of mispredicted branches matters more than the number of
// instructions.
//
// The same on an Intel Xeon (Sapphire Rapids, two cores shared with much other load): gzip of
// 10,000 filtered rows in microseconds, its parts in percent of a profile, and its ratio to
// rendering the page and compressing it whole (Tier Whole, klauspost's gzip level 1), in turns.
//
//	                       gzip   looking up   copying   CRC   matching   bits   counting   ratio
//	conflict events       1,480           15         9     6         39     19          7    0.43
//	food prices           1,870           22        14    10         30     14          3    0.29
//	rainfall              3,500           27        11     7         37     14          1    0.40
//	refugees              1,380           20         7     7         37     18          6    0.33
//	operational presence  3,350            5        10     5         48     23          1    0.49
//
// Since then pieces are encoded with fewer branches, bodies are counted later, the start of their
// first block is made once for a table, and more literals are written at a time. Old and new in
// turns on pages that filters leave (15 rounds, the same machine, all cores busy): 100 rows take
// 0.84 to 0.96 of the time, 1,000 rows 0.80 to 0.96, 10,000 rows 0.87 to 0.99. Their ratio to Whole
// is 0.45 to 0.55, 0.31 to 0.42 and 0.31 to 0.52. Pages of 1 and 10 rows of conflict events, which
// show the fixed cost, went from 1.8 to 1.5 and from 4.6 to 3.5 µs without their rendering.
//
// So a ratio of 0.25 is out of reach of an encoder that only leaves something out. The CRC of a
// body could be combined from those of its fragments, and the text of matches left out as in zstd.
// That saves at most copying and CRC, 19 to 63 ns of a row. But a row has four to eight different
// texts, and moving the CRC before each along by its length takes 3.2 ns with tables for 20
// lengths, and 4.5 ns for 150: 13 to 36 ns, to which come a CRC for each number and its lookup for
// each fragment. What is left is less than a tenth, so the text is written and its CRC computed.
//
// Bit strings made once for each fragment, in one code for all bodies of the table, would not help
// either. Per row of 10,000 filtered ones:
//
//	                       pieces that differ  their bytes  matches with the  ops  body  gzip 1
//	                       from the row before              last occurrence
//	conflict events                       1.4          115               1.0  2.4   8.0     8.4
//	food prices                           2.0          112               0.0  3.1  13.9    18.2
//	rainfall                              4.3          204               1.0  5.4  28.8    34.0
//	refugees                              1.8           98               1.0  2.1   8.4    12.0
//	operational presence                  2.8          205               1.8  4.8  27.3    23.6
//	needs                                 4.2          186               2.3  4.9  19.5    21.6
//
// As literals, at four to five bits a byte, the pieces alone would take three to eight times the
// bytes of gzip level 1; the target is at most 1.3 times. As edits they do have their literals as
// bits, made once for a code and kept with the edits: 83 to 99 % of ops are written without reading
// the text. The others are matches, whose distances depend on the rows between. Even without any
// time for matching, rendering, the CRC and writing ops would take 57 % of the time, a ratio of 0.2
// to 0.3. So pieces do not reach 0.25 this way either.
//
// # zstd and gzip
//
// CPU time of whole requests in microseconds, and bytes of their bodies, at scale 1: medians of
// nine rounds in which two servers without body cache, before and after zstd got its present form,
// answered in turns (Intel Xeon, two cores shared with other load, which makes single figures
// uncertain by 10 %).
//
//	                                 microseconds                  bytes
//	                             gzip   zstd before  after     gzip  zstd before   after
//	location-list                  88           126    113    4,908        4,513   4,510
//	admin2-of-country             118           132    112    4,461        3,774   3,771
//	org-substring                  56            68     60    1,881        1,877   1,968
//	availability-of-country        44            62     63    2,472        2,116   2,111
//	presence-country-sector        91           101     73    3,382        2,905   2,968
//	presence-page                  80           132    106  183,927      208,248  254,890
//	conflict-country-dates-10k  1,473         1,859  1,415   77,353       49,454  49,525
//	conflict-limit-100             47            42     38    1,325          827     813
//	conflict-unfiltered-10k        38            45     33   90,154       50,619  53,554
//	conflict-deep-offset           32            51     34    9,536        5,716   5,878
//	conflict-csv-10k               38            57     29   66,031       43,516  48,080
//	conflict-scattered-10k      1,860         2,298  1,763   81,030       54,694  54,604
//	conflict-three-filters        171           213    191    9,692        5,077   5,082
//	prices-country-10k            576         7,484    466  127,394       94,421  78,028
//	prices-market-commodity        80           126     70    3,386        2,476   2,227
//	prices-unfiltered-10k          54            79     35  138,743       99,215  86,618
//	rainfall-unit-dates            86           106     78    3,233        2,697   2,620
//	rainfall-three-filters        399           481    381   29,148       21,487  21,621
//	rainfall-unfiltered-10k        82           130     64  263,979      265,440  215,502
//	refugees-origin-dates         259           336    253   11,325        9,041   8,999
//	refugees-10k                   40            63     29   85,904       78,886  65,285
//	needs-category-range        4,428         5,469  4,317  195,253      169,410  169,537
//	population-country-gender     195           246    193   10,878        8,358   8,324
//	foodsec-phase-country         158           205    163    8,185        6,753   6,740
//	conflict-run                   50            58     38   90,694       50,775  53,967
//	prices-run                     76           110     61  137,979       97,439  84,868
//	rainfall-run                  129           200    108  270,502      264,707  214,887
//	refugees-run                   52            86     39   86,321       79,157  65,507
//	presence-run                   84           155    112  184,585      209,702  256,267
//	rainfall-three-runs           187           297    143  291,118      264,421  208,074
//	conflict-scattered          1,828         2,431  1,761   81,030       54,694  54,604
//	prices-scattered            2,412         7,192  2,433  140,467      105,279  90,719
//	rainfall-scattered          4,246         5,817  4,406  304,867      224,203  224,882
//	refugees-scattered          1,602         2,117  1,553   87,321       60,894  60,952
//	presence-scattered          4,150        16,852  3,627  272,575      169,844  221,884
//
// Before, zstd counted codes for each 16 K sequences in three passes, built a Huffman code for each
// 128 KB of text, compressed whole bodies of tables whose sample was more than 10 % larger from
// pieces (food prices and operational presence), and passed rows beside stored blocks through
// klauspost's encoder, decoding the result as proof. Now it takes about the time of gzip or less:
// it computes no CRC, which makes up for its second pass over the sequences. Stored pages of
// operational presence are the exception: their zstd blocks are 39 % larger than the gzip blocks,
// which klauspost's search for repetitions makes small, and copying and sending them takes longer.
//
// The table is from before the text of matches was left out (sparse.go). That takes a tenth off the
// zstd of filtered pages, without HTTP: 1,000 rows take 0.78 to 0.87 of the time of gzip, and 1.04
// for rainfall.
//
// Since then gzip copies rows (row_blocks.go), and zstd makes codes for the rows between several
// stored blocks at once: 9,260 prices in 18 runs take 0.8 of the time before. Whole requests in
// microseconds, in turns (ten rounds, Intel Xeon, two cores with a load of 18). "Writing" is the
// part of zstd, by a profile, that gathers sequences and literals, makes codes and writes both.
//
//	                             gzip   zstd  ratio  writing  writing ÷ gzip
//	conflict-country-dates-10k    220  1,060    5.3      390             1.8
//	prices-country-10k            249    273   1.06      130             0.5
//	needs-category-range        3,580  3,710   1.06    1,040             0.3
//	conflict-scattered            734  1,530    2.2      460             0.6
//	prices-scattered              249  2,100    8.1      740             3.0
//	rainfall-scattered          2,130  4,370    2.2    1,710             0.8
//	refugees-scattered            157  1,170    7.3      420             2.7
//	presence-scattered          3,390  3,100   0.91        –               –
//
// Rows of zstd cannot be copied bit by bit: the bits of a sequence depend on the state that all
// sequences after it in the block have led to. Sequences could be kept instead, which would save
// finding and rendering the rows and all matching, but not the writing. So three of the pages would
// still take 1.8 to 3.0 times the time of gzip, and all would lose their matches with rows before
// the last one, as in gzip, where bodies became 1.03 to 1.27 times as long, but for prices (0.95).
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
//   - One zstd code per table as the first of every body, kept while it is within 4 % of the best:
//     it mostly lacks a symbol, and for 100 prices the sequences take 328 bytes in place of 142.
//   - One group for all rows between stored blocks, in place of one for each 3 K literals: a few
//     percent less time, but 1.3 % more bytes for 18 runs of prices instead of 1.0 %, because codes
//     for rows that differ have longer descriptions, and each run needs one.
//   - Up to eight literals in the op itself for zstd, and not in the text: no difference (ten
//     rounds in turns, four tables).
//   - zstd codes made for blocks 1, 4, 16 and so on of a body and used for the next ones, without
//     gathering groups: the same time, and 3 to 32 % more bytes, since codes must have symbols for
//     what is still to come.
//   - New DEFLATE codes for each 16 K sequences in place of keeping a code while it is good: 1 to 3
//     % fewer bytes, but all sequences are gathered, counted and read again, which takes 10 % of
//     the time.
//   - Counting the first 64 rows of every body to choose its first code: twice the time for 100
//     rows of conflict events, a tenth to a fifth more for other tables. Now the first code is made
//     from runs of 12 rows, which filtered pages look like, instead of neighbours and single rows:
//     100 rows of conflict events take 10 % more bytes, of other tables 2 to 4 % fewer. A new code
//     later forgets the first code's counts, which makes 10,000 rows 3 to 11 % smaller.
//   - Counting a body after 256 rows and then every 2,048, in place of after 1,024 rows and then
//     every 4,096: up to 6 % fewer bytes for 1,000 rows and 2 % for 10,000, but a tenth to a fifth
//     more time for 1,000 rows, since the code and the bits of all cached edits are made for a few
//     hundred rows. First codes from every second to every thirty-second row instead of neighbours:
//     up to 15 % more bytes, except for rainfall (2 % fewer).
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
//   - One dictionary a table for pages that a client has not seen, of 128 rows from all over the
//     table (klauspost's default level): 8 to 27 % fewer bytes for 100 rows of the big tables, 0.2
//     to 0.3 KB each, 23 to 45 % for resources, datasets and locations. The dictionary is 20 to 190
//     KB of text, so it pays after dozens of such pages.
//   - Leaving out the look-up of cached edits for numbers, and a copy of each lane's texts next to
//     what says where it changes: no difference (25 rounds in turns, eight tables).
//   - Writing the literals of an op by a store of their own, in place of a branch on whether they
//     fit beside the match: 4 % slower (operational presence).
//   - One code for bodies with and without copied rows, made from rows that are encoded as in row
//     blocks: 3 to 8 % more bytes where there are none. Made from pieces: up to 8 % more bytes
//     where there are some.
//   - Multi-member gzip: see above.
package encode
