package loader

import (
	"slices"

	"hdqs/snapshot"
)

// available is an entry of the list of available data: a theme has rows about a place, from a
// resource. Units are those stored, without regard to what providers call them; a level that the
// theme does not have is empty.
type available struct {
	theme                      *theme
	locationCode, locationName string
	code1, name1, code2, name2 string
	level                      int64
	resource                   string
}

// availableIn lists the entries of a table, each once. Only data themes have entries. It only
// reads data, so tables may be listed concurrently. A row mostly has the place and the resource of
// the one before, so few pairs are looked up.
func availableIn(data *snapshot.TableData) (list []available) {
	i := slices.IndexFunc(dataThemes, func(th *theme) bool { return th.table.name == data.Name })
	if i < 0 {
		return nil
	}
	th, resources := dataThemes[i], columnData(data.Columns, "resource_catalog_id")
	seen := map[available]bool{}
	for _, place := range th.places {
		isPlace := func(g snapshot.GroupData) bool { return g.Name == place.group }
		group := data.Groups[slices.IndexFunc(data.Groups, isPlace)]
		pairs, last := map[uint64]bool{}, ^uint64(0)
		for row, tuple := range group.Codes {
			pair := uint64(tuple)<<32 | uint64(resources.Codes[row])
			if pair == last || pairs[pair] {
				last = pair
				continue
			}
			last, pairs[pair] = pair, true
			a := th.availablePlace(group.Columns, place.prefix, int(tuple))
			a.resource = textAt(resources, row)
			if !seen[a] {
				seen[a] = true
				list = append(list, a)
			}
		}
	}
	return list
}

func (th *theme) availablePlace(columns []snapshot.ColumnData, prefix string, tuple int) available {
	textOf := func(name string) string { return textAt(columnData(columns, name), tuple) }
	a := available{
		theme: th, locationCode: textOf(prefix + "location_code"), locationName: textOf(prefix + "location_name"),
		code1: textOf("stored_admin1_code"), name1: textOf("stored_admin1_name"),
		code2: textOf("stored_admin2_code"), name2: textOf("stored_admin2_name"),
	}
	if level := columnData(columns, "admin_level"); level != nil {
		a.level = level.Ints[tuple]
	}
	return a
}

// availabilityTable makes the list of available data from the entries of each table. updated is
// when a resource was last read in a new form. Entries that differ only in their resource become
// one when these times are equal.
func availabilityTable(byTable map[string][]available, updated func(resource string) int64) *snapshot.TableData {
	var entries []available
	for _, th := range dataThemes {
		entries = append(entries, byTable[th.table.name]...)
	}
	b := newTableBuilder(tableNamed("data_availability"))
	category, subcategory, date := b.column("category"), b.column("subcategory"), b.column("api_updated_date")
	places := b.group("place")
	setPlace := newPlaceVectors(places)
	type entry struct {
		available
		updated int64
	}
	seen := make(map[entry]bool, len(entries))
	var key []byte
	for _, e := range entries {
		at := updated(e.resource)
		e.resource = ""
		if seen[entry{e, at}] {
			continue
		}
		seen[entry{e, at}] = true
		category.setString(e.theme.category)
		subcategory.setString(e.theme.subcategory)
		date.setInt(at)
		key = append(key[:0], byte(e.level))
		for _, s := range []string{e.locationCode, e.locationName, e.code1, e.name1, e.code2, e.name2} {
			key = keyOf(key, []byte(s))
		}
		places.put(key, func() {
			places.column("location_code").setString(e.locationCode)
			places.column("location_name").setString(e.locationName)
			setPlace.setAt(place{code1: e.code1, name1: e.name1, code2: e.code2, name2: e.name2}, int(e.level))
		})
		b.commit()
	}
	data, _ := b.finish(true)
	return data
}
