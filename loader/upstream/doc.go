// Package upstream brings a catalog from where it is published (a CKAN site, an HTTP mirror, a
// bucket) into a local directory of the layout that the loader reads. After that, a load from the
// network is a load from a disk.
//
// Files are kept once, in a content-addressed cache (objects/<sha256>). Its index has for each
// resource the id, last_modified, size and ETag with which it was read. A sync asks the catalog
// once what there is, downloads what has changed by these, checks each download as a load would,
// links the objects into a new tree, and writes catalog.json last. For a file that cannot be
// fetched, or that its check refuses, the last good copy is used and reported as stale; a file
// without a copy is refused, and the rest goes on.
//
// The files, each of which uses those below it:
//
//	sync.go                            a sync: lists, fetches, makes the tree
//	tree.go sync_packages.go           the tree; the packages that rows name
//	fetch_files.go check.go            downloads and their check
//	dir.go tree_source.go ckan_source.go ckan.go
//	source.go                          what a kind of source offers; the state of a file
//	cache.go                           the copies
package upstream
