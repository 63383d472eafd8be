// Package columnar writes rows of a segment as files of columns. It handles columns and row ids,
// and not what they are about.
//
// A Field says which column of the segment becomes which column of the output. Rows says which rows
// are written: ascending ranges of row ids. Values are read column by column, straight from the
// packed codes and numbers, some thousands of rows at a time (index.Batch), so memory does not grow
// with the number of rows. Arrow streams also keep the tuple numbers and ranges of one record
// batch, which has a million rows at most.
//
// # Types
//
// The type of an output column follows from the kind of the segment's column alone, never from its
// values, so that the schema stays the same from load to load:
//
//	Text, Enum   string, as a dictionary
//	Bool         boolean
//	Int          64-bit integer
//	Decimal      64-bit float: that of the shortest digits, which are those of the decimal
//	Time         microseconds since 1970 without a zone
//	two Decimal  a point in WKB, of a latitude and a longitude (Field.Lon)
//
// Only the width of the indices of Arrow dictionaries depends on how many texts the column of the
// segment has.
//
// # Arrow
//
// Arrow streams are written here and not by arrow-go, which does not know the length of a stream
// before its body. A DataFrame of a million conflict events then takes 1.7 to 2.6 times as long
// (pandas, over loopback, November 2026), see docs/measurements/columnar.md.
//
// # Nulls
//
// Every output column may have nulls: rows of a segment can have nulls where none are expected, and
// one such cell must not keep a table from being written.
//
// The files, each of which uses those below it:
//
//	arrow.go arrow_messages.go arrow_columns.go parquet.go
//	order.go parquet_schema.go points.go field.go
package columnar
