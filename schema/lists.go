package schema

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Lists are all lists, in the order of the specification.
var Lists = complete(metadata, coordination, affected, food, climate, geography)

// complete fills in what the literals leave out.
func complete(groups ...[]*List) []*List {
	all := slices.Concat(groups...)
	for _, l := range all {
		name := path.Base(l.Path)
		l.Table = cmp.Or(l.Table, strings.ReplaceAll(name, "-", "_"))
		if l.Data() {
			l.Source.Role = cmp.Or(l.Source.Role, name)
			l.Source.Dataset = cmp.Or(l.Source.Dataset, "hdx-hapi-"+l.Source.Role)
			l.Source.Subcategory = cmp.Or(l.Source.Subcategory, l.Source.Role)
		}
		if l.Record == nil {
			l.Record = defaultRecord(l.Columns)
		}
		for _, c := range l.Columns { // records go on as they did
			if c.Added && !c.Hidden && !slices.Contains(l.Record, c.Name) {
				l.Record = append(slices.Clone(l.Record), c.Name)
			}
		}
		if l.Key == nil {
			l.Key = defaultKey(l.Order)
		}
	}
	return all
}

// Of finds the list of a table, nil without one.
func Of(table string) *List {
	at := slices.IndexFunc(Lists, func(l *List) bool { return l.Table == table })
	if at < 0 {
		return nil
	}
	return Lists[at]
}
