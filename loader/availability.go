package loader

import (
	"encoding/binary"

	"hdqs/snapshot"
)

// dataTheme tells under which names a data table stands in the list of what there is, and which of its groups are places. It follows the
// path of the table's endpoint, except for rainfall, which the incumbent lists under another name than its path.
type dataTheme struct {
	table, category, subcategory string
	places                       []placeGroup
}

// placeGroup is a group that tells a place; prefix is that of its columns.
type placeGroup struct{ group, prefix string }

var (
	inPlace       = []placeGroup{{group: "place"}}
	betweenPlaces = []placeGroup{{group: "origin", prefix: "origin_"}, {group: "asylum", prefix: "asylum_"}}
)

var dataThemes = []dataTheme{
	{"humanitarian_needs", "affected-people", "humanitarian-needs", inPlace},
	{"idps", "affected-people", "idps", inPlace},
	{"refugees", "affected-people", "refugees-persons-of-concern", betweenPlaces},
	{"returnees", "affected-people", "returnees", betweenPlaces},
	{"rainfall", "climate", "hazards-rainfall", inPlace},
	{"conflict_event", "coordination-context", "conflict-events", inPlace},
	{"funding", "coordination-context", "funding", inPlace},
	{"national_risk", "coordination-context", "national-risk", inPlace},
	{"operational_presence", "coordination-context", "operational-presence", inPlace},
	{"food_price", "food-security-nutrition-poverty", "food-prices-market-monitor", []placeGroup{{group: "market"}}},
	{"food_security", "food-security-nutrition-poverty", "food-security", inPlace},
	{"poverty_rate", "food-security-nutrition-poverty", "poverty-rate", inPlace},
	{"population", "geography-infrastructure", "baseline-population", inPlace},
}

// available is one entry of what there is: that a theme has rows about a place, from some resource. Units are those stored, without
// regard to what providers call them; a level that the theme does not have is empty.
type available struct {
	theme                      *dataTheme
	locationCode, locationName string
	code1, name1, code2, name2 string
	level                      int64
	resource                   string
}

// availableIn lists what a table holds, each entry once. It only reads data, so tables may be listed at the same time; a table that is no
// theme's holds nothing.
func availableIn(data *snapshot.TableData) []available {
	var list []available
	for i := range dataThemes {
		theme := &dataThemes[i]
		if theme.table != data.Name {
			continue
		}
		seen := map[available]bool{}
		for _, place := range theme.places {
			for _, a := range theme.availableAt(data, place) {
				if !seen[a] {
					seen[a] = true
					list = append(list, a)
				}
			}
		}
	}
	return list
}

// availableAt goes through the rows once; rows are mostly like the one before, so few pairs of place and resource are looked up.
func (th *dataTheme) availableAt(data *snapshot.TableData, place placeGroup) []available {
	var group *snapshot.GroupData
	for i := range data.Groups {
		if data.Groups[i].Name == place.group {
			group = &data.Groups[i]
		}
	}
	resources := columnData(data.Columns, "resource_catalog_id")
	var list []available
	seen := map[uint64]bool{}
	last := ^uint64(0)
	for row, tuple := range group.Codes {
		pair := uint64(tuple)<<32 | uint64(resources.Codes[row])
		if pair == last {
			continue
		}
		last = pair
		if !seen[pair] {
			seen[pair] = true
			a := th.availablePlace(group.Columns, place.prefix, int(tuple))
			a.resource = textAt(resources, row)
			list = append(list, a)
		}
	}
	return list
}

func (th *dataTheme) availablePlace(columns []snapshot.ColumnData, prefix string, tuple int) available {
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

// columnData finds a column, nil when there is none of that name.
func columnData(columns []snapshot.ColumnData, name string) *snapshot.ColumnData {
	for i := range columns {
		if columns[i].Name == name {
			return &columns[i]
		}
	}
	return nil
}

// textAt is the text at a position, "" for null and for a column that is not there.
func textAt(c *snapshot.ColumnData, i int) string {
	if c == nil || c.Codes[i] == snapshot.NullCode {
		return ""
	}
	return c.Values[c.Codes[i]]
}

// availabilityTable makes the table of what there is out of the entries of all themes. updated tells when a resource was last read in a new
// form; entries that differ in nothing but their resource become one when these times are equal.
func availabilityTable(entries []available, updated func(resource string) int64) *snapshot.TableData {
	a := newTableBuilder(tableNamed("data_availability"))
	category, subcategory, date := a.column("category"), a.column("subcategory"), a.column("api_updated_date")
	places := a.group("place")
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
		key = appendTexts(key[:0], e.locationCode, e.locationName, e.code1, e.name1, e.code2, e.name2)
		key = append(key, byte(e.level))
		tuple, ok := places.find(key)
		if !ok {
			places.column("location_code").setString(e.locationCode)
			places.column("location_name").setString(e.locationName)
			setPlace.setAt(place{code1: e.code1, name1: e.name1, code2: e.code2, name2: e.name2}, int(e.level))
			tuple = places.add(key)
		}
		places.set(tuple)
		a.commit()
	}
	data, _ := a.finish(true)
	return data
}

// appendTexts appends texts so that different lists of them give different bytes.
func appendTexts(key []byte, texts ...string) []byte {
	for _, s := range texts {
		key = binary.AppendUvarint(key, uint64(len(s)))
		key = append(key, s...)
	}
	return key
}
