// Package bulk keeps whole tables of snapshots as files that other programs read: Parquet, and CSV
// in gzip and zstd.
//
// # In a store
//
// The files lie in the folder bulk of a store:
//
//	bulk/data/<folder>/<sha256>.<extension>   a file, named by its content
//	bulk/snapshots/<snapshot>.json            the manifest of a snapshot's files
//	bulk/snapshots/<snapshot>.sig             its signature, where manifests are signed
//
// Files are shared by snapshots, written in one step and never replaced. The manifest is written
// last, so whoever finds it finds its files. It gives each file a path that says what is in it,
// such as conflict_event/location_code=AFG/part-0.parquet, and the place in the store follows from
// path and digest (File.Name).
//
// # Catalogs
//
// Documents describes the files of a manifest to readers of catalogs: STAC, Frictionless,
// Croissant.
package bulk
