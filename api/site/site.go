// Package site answers with pages for people and crawlers: the reference, pages of records, what is
// served and what changed.
package site

import (
	"runtime"

	"hdqs/api/files"
	"hdqs/api/wire"
)

// Site answers with pages about what its files and lists serve.
type Site struct {
	*files.Files
	Pages *wire.Gate // of records
}

// New returns the pages about files and their lists.
func New(f *files.Files) *Site { return &Site{Files: f, Pages: NewPageGate(runtime.GOMAXPROCS(0))} }
