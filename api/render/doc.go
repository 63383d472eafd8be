// Package render turns rows of a segment into the bytes of a page: JSON records and CSV lines (contract.md section 9).
//
// A Renderer has a Form for each output format. A form is a plan of pieces for each row: neighbouring fields of one group are one fragment a
// tuple, escaped and with the key names and separators around them, a coded column is one fragment a code, and a number without a
// dictionary is written by digit tables. Rows are rendered 64 at a time: for each piece the codes of all 64 are unpacked and looked up in one
// sweep, then the texts are copied row by row. No record is ever made, nothing is reflected on, and no float is printed: an ordinary decimal's
// digits are those of the shortest float64 (see snapshot.Dec).
//
// Fragments are built when first used, 128 codes at a time, and then stay: a snapshot opens without paying for them, and costs memory only
// for what is asked for. Their sum is bounded by the number of tuples; 30,000 places take about 8 MB in JSON and 4 MB in CSV.
//
// Lifetime: a Renderer reads its segment's memory and must not be used after the segment's Close. What it appends is a copy.
//
// # Where the time goes
//
// 10,000 rows of JSON, full-scale generated catalog, in microseconds of processor time on a virtual machine; copying as many bytes takes 150 to 220:
//
//	                      neighbours   scattered   of that, for neighbours
//	conflict events              245         365   copying texts 60 %, looking them up 25 %
//	food prices                  385         650
//	refugees                     385         530   copying 50 %, integers 21 %, unpacking and looking up 20 %
//	operational presence         455         600   copying 70 %, mostly names from beyond the second cache
//	rainfall                     760       1,050   three decimals 50 %: unpacking 10 %, digits 20 %, placing them 20 %
//
// Sending a body of 3.8 MB over loopback takes another 500 to 750, of whatever memory it comes from.
//
// # Tried
//
//   - Looking up and appending piece by piece within the row: 36 ns a row where the sweep by columns takes 30 (events-like table of the benchmark).
//   - memmove for every text: texts up to 64 bytes by moves of a fixed size save 4 ns a row.
//   - Digits counted and written left to right: right-aligned in cells of 32 bytes, with the next key already behind them, three decimals take 93 ns
//     a row instead of 125. Eight digits by multiplications, without a loop, save another quarter: a loop's end is guessed wrong too often.
//   - Bodies as a whole, in a buffer for each of eight connections: 424 microseconds for 10,000 rows of events and 1,136 of prices, where parts of
//     128 KB take 236 and 460. The memory of the bodies does not fit the cache; the lengths, which must be told first, cost a third of rendering
//     where rows are scattered and next to nothing where they are neighbours. Sent over loopback, more system calls take most of that back: 0.82 to
//     1.06 of the processor time of whole bodies. What remains is memory: 0.2 MB a client instead of 4 to 6.
//   - Whole rows rendered ahead: no gain where rows are neighbours and 3.4 times slower where they are scattered, for 34 times the memory (prototype).
//   - Moves of 64 bytes, one after the other, for texts of up to 384: a fifth slower than memmove.
//   - Parts of 256 KB to 1 MB: no difference to 128 KB in the server's processor time.
//   - Building with a profile of the benchmarks: nothing that the server's processor time shows, for 25 seconds more of building. With GOAMD64=v3: 3 to 5 %,
//     but then older machines cannot run the program.
package render
