// Package site answers with pages for people and crawlers: the reference, pages of records, what is
// served and what changed.
package site

import (
	"hdqs/api/files"
	"hdqs/api/find"
	"hdqs/api/list"
	"hdqs/api/state"
)

// Site answers with pages about what its files and lists serve.
type Site struct {
	State  *state.State
	Lists  *list.Lists
	Files  *files.Files
	finder *find.Finder
	drawn  pictures
}

// New returns the pages about files and their lists.
func New(f *files.Files) *Site {
	return &Site{State: f.State, Lists: f.Lists, Files: f, finder: find.New(f.Lists)}
}
