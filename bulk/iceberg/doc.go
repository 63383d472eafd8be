// Package iceberg writes the metadata of Apache Iceberg tables, version 2 of the format, over
// Parquet files that are already there. Engines read such a table without a catalog service, from
// the path of its metadata.
//
// A table has one Iceberg snapshot, with a tag of its name, for each state that the caller lists.
// Build is a pure function of that list: the same list gives the same bytes, and a state that is no
// longer listed is gone. Write adds the result to a directory: manifests and manifest lists under
// names that depend on their content, then v<number>.metadata.json, and last version-hint.text,
// which is the publication. Readers of the version before are not disturbed.
//
// # States with other columns
//
// Ids of columns are their positions in the Parquet files, so an id must not change its meaning. A
// state stays in the table only if its columns are the first columns of the next state, with the
// same names and types. Otherwise the history starts anew after it.
//
// # Tried
//
// Avro libraries: manifests and manifest lists are two fixed record types, which take fewer lines
// to write than to declare to a library. linkedin/goavro also puts random bytes in each file, and
// apache/iceberg-go brings the Arrow library and clients of three clouds.
//
// The files, each of which uses those below it:
//
//	expire.go verify.go update.go write.go build.go
//	manifest.go metadata.go table.go value.go avro.go
package iceberg
