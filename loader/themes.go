package loader

import (
	"cmp"
	"slices"

	"hdqs/loader/catalogfile"
)

// themes are all themes, in the order in which manifests and reports list their tables.
var themes = slices.Concat(
	metadataThemes, coordinationThemes, affectedThemes, foodThemes, climateThemes, geographyThemes)

// dataThemes are the themes of the data endpoints.
var dataThemes = slices.DeleteFunc(slices.Clone(themes), func(th *theme) bool { return th.category == "" })

var tables = func() []*table {
	var all []*table
	for _, th := range themes {
		if th.table.order == nil {
			th.table.order = th.table.key
		}
		if th.category != "" {
			th.subcategory = cmp.Or(th.subcategory, th.role)
			if th.places == nil {
				th.places = inPlace
			}
		}
		all = append(all, th.table)
	}
	return all
}()

// tableNamed finds the declaration of a table. An unknown name is a programming error.
func tableNamed(name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	panic("loader: no table named " + name)
}

// dataTheme finds the data theme of a role, nil when there is none.
func dataTheme(role string) *theme {
	for _, th := range dataThemes {
		if th.role == role {
			return th
		}
	}
	return nil
}

// IsDataRole reports whether a role is that of a data theme.
func IsDataRole(role string) bool { return dataTheme(role) != nil }

// Inputs are the roles that a CKAN site publishes, data themes first.
func Inputs() []Input {
	var inputs []Input
	for _, th := range slices.Concat(dataThemes, metadataThemes) {
		if in := th.published; in.Dataset != "" {
			in.Role = th.role
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// headersOf are the columns that the files of a role must have, and those that they may have.
func headersOf(role string) (wanted, optional []string, ok bool) {
	switch role {
	case catalogfile.LocationRole:
		return locationHeaders, nil, true
	case catalogfile.UnitRole:
		return unitHeaders, nil, true
	}
	i := slices.IndexFunc(themes, func(th *theme) bool { return th.role == role && role != "" })
	if i < 0 {
		return nil, nil, false
	}
	wanted, optional = themes[i].headers()
	return wanted, optional, true
}

// AllRoles names every role where roles are listed.
const AllRoles = "all"

// Roles are the roles that losses can be allowed for.
func Roles() []string {
	roles := []string{catalogfile.PackageRole}
	for _, th := range themes {
		if th.role != "" {
			roles = append(roles, th.role)
		}
	}
	return roles
}

func roleOf(table string) string {
	for _, th := range themes {
		if th.table.name == table && th.role != "" {
			return th.role
		}
	}
	if table == "admin2" {
		return catalogfile.UnitRole
	}
	return catalogfile.PackageRole
}

// tablesOf are the tables that a source concerns: the one that its path names, or those that are
// made from its role.
func tablesOf(role, path string) (names []string) {
	for _, th := range themes {
		switch name := th.table.name; {
		case name == path:
			return []string{name}
		case roleOf(name) == role && name != availabilityName:
			names = append(names, name)
		}
	}
	return names
}
