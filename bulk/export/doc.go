// Package export makes the bulk files of a snapshot.
//
// Each table becomes Parquet files and, as one file each, CSV in zstd and in gzip. The Parquet
// files have the columns of the interface's records, in the contract's names, and a point where a
// record has a latitude and a longitude. A table of more than a million rows has one Parquet file
// for each country. The CSV files have the bytes that the interface would send, with one header
// line.
//
// If they are asked for, there are Parquet files in the layout that OCHA publishes as well: by
// level, with the names of HDX HAPI and times as text.
//
// # Unchanged tables
//
// The files of a table depend on its rows and on how they are written. The manifest has a digest of
// each: that of the segment, and the layout, a digest of the columns, their meanings and
// layoutVersion. If both are those of a table in an earlier manifest, its files are used again,
// after their content has been checked.
//
// # One member, one frame
//
// A gzip file is one member and a zstd file one frame: several clients stop at the end of the first
// one without an error, and so lose rows. They can be read from the start only. Parquet files are
// there for reading parts.
package export
