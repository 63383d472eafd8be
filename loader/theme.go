package loader

import (
	"regexp"
	"slices"
)

// theme declares one table and everything the loader has to know about it: what a row holds, which
// files its rows come from and how they are read, the dump of the incumbent's view, where the files
// are published, and how the table stands in the list of available data. Sources, views,
// availability and the inputs of a CKAN site are derived from these literals, so each fact is
// written once.
type theme struct {
	table *table

	// role names the theme's files: the folder of a data theme, the file in reference/ of a list.
	// Empty for tables that the loader makes from others.
	role      string
	published published // where a CKAN site has the files

	// steps read a row of these files. Nil for the lists of places, which have readers of their own
	// (places.go).
	steps []step

	// checks look at what the steps have set, and keep the row. They also check dumps.
	checks []step

	// joinedBy are the columns by which steps of other themes look up rows of this one; nil when no
	// theme does.
	joinedBy []string

	view view

	// category and subcategory are what the list of available data calls a data theme; both are
	// empty for reference lists. They follow the path of the table's endpoint, except for rainfall,
	// which the incumbent lists under another name.
	category, subcategory string
	places                []placeGroup // of a data theme: the groups that hold its places
}

// published says where a CKAN site publishes the files of a role: the dataset, and which of its CSV
// resources count.
type published struct {
	dataset  string
	named    string // regular expression that resource names match; empty matches all
	first    bool   // only the first resource that matches
	optional bool   // the loader has a copy of its own
}

// placeGroup is a group of columns that holds a place; prefix is that of its columns.
type placeGroup struct{ group, prefix string }

var (
	inPlace       = []placeGroup{{group: "place"}}
	inMarket      = []placeGroup{{group: "market"}}
	betweenPlaces = []placeGroup{{group: "origin", prefix: "origin_"}, {group: "asylum", prefix: "asylum_"}}
)

// themes are all themes, in the order in which manifests and reports list their tables.
var themes = slices.Concat(
	metadataThemes, coordinationThemes, affectedThemes, foodThemes, climateThemes, geographyThemes)

// dataThemes are the themes of the data endpoints.
var dataThemes = slices.DeleteFunc(slices.Clone(themes), func(th *theme) bool { return th.category == "" })

// tables are the tables of a snapshot.
var tables = func() []*table {
	var all []*table
	for _, th := range themes {
		if th.table.order == nil {
			th.table.order = th.table.key
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

// headers are the columns that files of the theme must have, and those that are used when they are
// there.
func (th *theme) headers() (wanted, optional []string) {
	wanted, optional = headersOfSteps(th.steps)
	return wanted, append(optional, unreadHeaders...)
}

// Input is a role whose files a CKAN site publishes.
type Input struct {
	Role     string
	Dataset  string         // name of the CKAN dataset
	Named    *regexp.Regexp // what names of its resources match; nil matches all
	First    bool           // only the first CSV resource that matches
	Optional bool           // the loader has a copy of its own
}

// Inputs are the roles that a CKAN site publishes, data themes first.
func Inputs() []Input {
	var inputs []Input
	for _, th := range slices.Concat(dataThemes, metadataThemes) {
		p := th.published
		if p.dataset == "" {
			continue
		}
		in := Input{Role: th.role, Dataset: p.dataset, First: p.first, Optional: p.optional}
		if p.named != "" {
			in.Named = regexp.MustCompile(p.named)
		}
		inputs = append(inputs, in)
	}
	return inputs
}
