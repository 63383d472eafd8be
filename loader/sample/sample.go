// Package sample embeds a small catalog, so that the program serves data without any other file.
// Its country codes, names, currencies, regions and income levels are facts; all places below them,
// all organisations and every figure are made up by internal/generator and mean nothing. It has
// every kind of row that a loader must get right, and every value of every enum.
package sample

import (
	"embed"
	"io/fs"
)

//go:embed all:catalog
var files embed.FS

// FS is the sample, rooted at the catalog: catalog.json, reference/, packages/ and a folder for
// each role.
var FS = root()

func root() fs.FS {
	sub, err := fs.Sub(files, "catalog")
	if err != nil {
		panic(err) // the name above is not the name of the folder
	}
	return sub
}
