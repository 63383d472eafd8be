// Package render turns rows of a segment into the bytes of a page: JSON records, which NDJSON
// has one a line, and CSV lines (contract section 9). docs/measurements/render.md has what it costs
// and what was tried.
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
// The files, each of which uses those below it:
//
//	workbook.go sheet.go excel.go records.go
//	packed.go memory.go body.go length.go rows.go stream.go
//	subset.go points.go form.go copy.go csv.go copy_*.go batch.go plan.go field.go entities.go
//	number.go json.go time.go dialect.go
//	render.go fragments.go             the renderer of a segment and its texts
package render
