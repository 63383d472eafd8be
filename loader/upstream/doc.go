// Package upstream brings a catalog from where it is published (a CKAN site, an HTTP mirror, a
// bucket) into a local directory of the layout that the loader reads, so that a load from the
// network and a load from a disk are one and the same afterwards.
//
// Files lie once in a content-addressed cache (objects/<sha256>) whose index remembers, for each
// resource, under which id, last_modified and size it was read, and with which ETag. A sync asks
// the catalog once what there is, downloads what its key says is new, links the objects into a
// fresh tree and writes catalog.json last. What cannot be read is taken from the last good copy and
// called stale; without a copy it is refused, and the rest goes on.
package upstream
