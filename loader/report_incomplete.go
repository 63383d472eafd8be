package loader

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hdqs/loader/catalogfile"
)

// Incomplete lists the tables that made the load partial, each with what it lacks, such as
// "funding (refused)". Files that belong to no table are listed by path.
func (r *Report) Incomplete() []string {
	lacks := map[string][]string{}
	note := func(role, path, what string) {
		for _, table := range r.tablesOf(role, path) {
			if !slices.Contains(lacks[table], what) {
				lacks[table] = append(lacks[table], what)
			}
		}
	}
	dropped := map[string]int{} // by role
	for _, f := range r.Resources {
		dropped[f.Role] += f.Rows.Dropped
		if len(f.Faults) > 0 {
			note(f.Role, f.Path, "fault in a file")
		}
	}
	for _, s := range r.Refused {
		note(s.Role, s.Path, "refused")
	}
	for _, s := range r.Stale {
		note(s.Role, s.Path, "stale")
	}
	if r.Fetched != nil {
		for _, s := range r.Fetched.Sources {
			if s.State == SourceStale || s.State == SourceRefused {
				note(s.Role, s.Path, s.State)
			}
		}
	}
	for _, role := range r.Empty {
		note(role, role, "no rows")
	}
	for _, f := range r.Fell {
		if f.matters() {
			note("", f.Table, "fewer rows")
		}
	}
	for _, role := range slices.Sorted(maps.Keys(dropped)) {
		if n := dropped[role]; n > 0 {
			note(role, role, countOf(n, "row")+" dropped")
		}
	}
	var all []string
	for table, what := range lacks {
		all = append(all, fmt.Sprintf("%s (%s)", table, strings.Join(what, ", ")))
	}
	slices.Sort(all)
	return all
}

// tablesOf returns the tables that are made from the files of a role, or the path where that is
// none.
func (r *Report) tablesOf(role, path string) (names []string) {
	for _, th := range themes {
		if th.table.name == path || th.role != "" && th.role == role {
			names = append(names, th.table.name)
		}
	}
	if len(names) == 0 && role == catalogfile.PackageRole {
		return []string{"dataset", "resource"}
	}
	if len(names) == 0 {
		return []string{cmp.Or(path, role)}
	}
	return names
}

// countOf returns a number with its noun.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
