package loader

import (
	"strings"

	"hdqs/schema"
)

// theme is one table and everything the loader has to know about it: what a row holds, which files
// its rows come from and how they are read, the dump of the incumbent's view, where the files are
// published, and how the table stands in the list of available data. It follows from the list that
// package schema declares.
type theme struct {
	list  *schema.List
	table *table

	// role names the theme's files: the folder of a data theme, the file in reference/ of a list.
	// Empty for tables that the loader makes from others.
	role string

	// steps read a row of these files. Nil for the lists of places, which have readers of their own
	// (lists.go).
	steps []step

	// checks look at what the steps have set, and keep the row. They also check dumps.
	checks []step

	view view

	// category and subcategory are what the list of available data calls a data theme; both are
	// empty for reference lists. They follow the path of the table's endpoint, except for rainfall,
	// which the incumbent lists under another name. A data theme without a subcategory has its role
	// as that.
	category, subcategory string
	places                []placeGroup // of a data theme: the groups that hold its places
}

// headers are the columns that files of the theme must have, and those that are used when they are
// there.
func (th *theme) headers() (wanted, optional []string) {
	wanted, optional = headersOfSteps(th.steps)
	return wanted, append(optional, unreadHeaders...)
}

// joins are the roles of the lists that rows of the theme are joined with.
func (th *theme) joins() []string {
	var roles []string
	for _, s := range th.steps {
		if s.joins != "" {
			roles = append(roles, s.joins)
		}
	}
	return roles
}

// view declares how a dump of one of the incumbent's views becomes a table. Most columns have the
// same name in both. Rows are taken as they are, in file order and with duplicates; what the checks
// would drop from a catalog is only reported.
type view struct {
	name    string            // the dump is <name>.csv, possibly compressed; "" is the table's name with _view
	renamed map[string]string // column of the table -> of the dump, where that is not the name in HAPI names
	hidden  string            // a flag of rows that the table leaves out
	needed  string            // a column whose null drops the row: no record could be printed
	assumed map[string]bool   // flags that older or newer dumps lack, and their value then
}

// placeGroup is a group of columns that holds a place; prefix is that of its columns.
type placeGroup struct{ group, prefix string }

// viewName is the name of the theme's dump.
func (th *theme) viewName() string {
	if th.view.name != "" {
		return th.view.name
	}
	return th.table.name + "_view"
}

// viewHeader is the dump's name for a column of the table.
func (th *theme) viewHeader(column string) string {
	if name, ok := th.view.renamed[column]; ok {
		return name
	}
	return schema.HAPIName(strings.TrimPrefix(column, "stored_"))
}
