// Package render turns rows of a segment into the bytes of a page: JSON records and CSV lines
// (contract.md section 9).
//
// A Renderer has a Form for each output format. A form divides a row into pieces. Neighbouring
// fields of one group are one piece, with a fragment for each tuple: its values, escaped, with key
// names and separators around them. A coded column has a fragment for each code. A number without a
// dictionary is written with tables of digits. Rows are rendered 64 at a time: for each piece, the
// codes of all 64 are unpacked and looked up in one sweep, then the texts are copied row by row. No
// record is created, nothing uses reflection, and no float is printed: the digits of a decimal are
// those of the shortest float64 (see snapshot.Dec).
//
// Fragments are built when first used, 128 codes at a time, and then stay: opening a snapshot does
// not wait for them, and they take memory only for what is requested. Their total is bounded by the
// number of tuples; 30,000 places take about 8 MB in JSON and 4 MB in CSV.
//
// Records with fewer fields have a form for each selection of fields. It has no fragments: a field
// is cut out of those of the whole record, at the positions that the encoder needs anyway. Only the
// selections that were requested last are kept, with their stored blocks.
//
// Lifetime: a Renderer reads its segment's memory and must not be used after the segment's Close.
// What it appends is a copy.
//
// # Where the time goes
//
// 10,000 rows of JSON, full-scale generated catalog, in parts, in microseconds of CPU time on a
// virtual machine with an Intel Xeon; copying as many bytes takes 280 to 440:
//
//	                      neighbours   scattered   parts of scattered
//	conflict events              265         410   copying texts 37 %, looking them up 19 %
//	food prices                  440         735
//	refugees                     350         515   copying 28 %, looking up 21 %, integers 11 %
//	operational presence         400         535
//	rainfall                     755       1,025   digits 31 %, copying 26 %, reading numbers 25 %
//
// Sending a body of 3.8 MB over loopback takes another 500 to 750, wherever it is in memory.
//
// # Tried
//
//   - Looking up and appending piece by piece within each row: 36 ns a row, where the sweep by
//     columns takes 30 (events-like table of the benchmark).
//   - memmove for every text: moves of a fixed size for texts up to 64 bytes save 4 ns a row, and
//     4 to 6 % of rendering more if the compiler does not make them calls of memmove (copy.go). The
//     same for texts of up to 256 bytes: 10 % slower for conflict events.
//   - Counting digits and writing them from left to right: right-aligned in cells of 32 bytes, with
//     the next key already after them, three decimals take 93 ns a row instead of 125. Computing
//     eight digits by multiplications, without a loop, saves another quarter: the end of a loop is
//     often mispredicted.
//   - Whole bodies, in one buffer for each of eight connections: 424 µs for 10,000 rows of events
//     and 1,136 of prices, where parts of 128 KB take 236 and 460. Whole bodies do not fit the
//     cache. Over loopback, more system calls take most of the gain back: 0.82 to 1.06 of the CPU
//     time of whole bodies.
//   - Parts of 128 KB, as was first done: of a request for rainfall, 28 % of the CPU was rendering,
//     9 % copying into the socket, and 32 % waking the client, which had read each part before the
//     next was ready. Parts of 256 KB take 0.88 to 1.05 of the CPU, of 512 KB 0.83 to 1.01, of 1 MB
//     0.90 to 1.10 (ten pages, servers in turns, Intel with 2 MB of second-level cache). An AMD
//     showed no difference. A client that does not read holds 0.6 MB instead of 0.2.
//   - Adding up the lengths of scattered rows again for each page: 205 to 511 µs for 10,000, where
//     it takes 36 to 51 to add up those that were kept.
//   - Moves of 64 bytes in a loop in assembly, with registers of 32 bytes (copy_amd64.s), in place
//     of the three ways of copy.go: rendering takes 0.70 to 0.83 of the time, with packed.go, which
//     writes numbers as they are unpacked.
//   - Choosing between moves of 32 and 64 bytes once for all texts of a piece, which leaves out a
//     branch that is hard to predict: no difference on Intel.
//   - Whole rows rendered in advance: no gain for neighbouring rows, and 3.4 times slower for
//     scattered ones, for 34 times the memory (prototype).
//   - Successive moves of 64 bytes for texts of up to 384, in Go: 20 % slower than memmove.
//   - Reading the first number of every range of a batch, in all columns, before unpacking them, so
//     that cache misses overlap: 4 to 14 % less time for gzip of conflict events in 830 ranges of
//     12 rows, no difference for few ranges, 3 to 6 % more for single rows, which are gathered. So
//     it is done for ranges only.
//   - Asking the processor for the numbers of the next 64 rows while these are rendered
//     (PREFETCHT0): no difference. They come into the cache about as fast as memory is copied.
//   - Registers of 64 bytes (AVX-512) in copy_amd64.s: 0 to 5 % less, so it is not worth a second
//     routine.
//   - Building with a profile of the benchmarks: no measurable gain in the CPU time of the server,
//     for 25 seconds more of building. With GOAMD64=v3: 3 to 5 %, but older machines cannot run the
//     program.
package render
