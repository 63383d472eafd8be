package loader

import (
	"fmt"
	"slices"
	"strings"

	"hdqs/schema"
	"hdqs/snapshot"
)

// readOrgType sets the type of a listed organisation: the code from its row, the description from
// the list of types.
func readOrgType() step {
	const header, described, role = "org_type_code", "org_type_description", "org-type"
	return step{
		wanted: []string{header}, optional: []string{described}, joins: role,
		bind: func(f *sourceReader) rowStep {
			types, at, ownAt := f.refs.joins[role], f.file.csv.position(header), f.file.csv.position(described)
			code, description := f.rows.column(header), f.rows.column(described)
			var key []byte
			return func() *rowFault {
				cell := f.file.csv.cell(at)
				if why := code.read(cell); why != "" {
					return code.fault(f.file.csv, why, header, cell)
				}
				key = keyOf(key[:0], cell)
				if row, ok := types.find(key); ok && len(cell) > 0 {
					wrong := types.nameElsewhere("description", row, described, f.file.csv.cell(ownAt))
					if wrong != "" {
						return f.file.csv.fault(otherName, wrong)
					}
					description.copyFrom(types.rows.column("description"), row)
					f.compareListed(described, f.file.csv.cell(ownAt), types.rows.column("description").text(row))
					return nil
				}
				description.setNull()
				if len(cell) > 0 {
					f.odd(unknownListed, header+": "+quoted(cell))
				}
				return nil
			}
		},
	}
}

// readListed sets a group that a list describes, which has the name of the list's role. The row of
// the list is found by its key: that of an organisation has acronym and name, as several share an
// acronym. What the list lacks is null where that is allowed, and else read from the file.
func readListed(role string, group []schema.Column) step {
	described := schema.Of(role)
	var key, columns, from []string // headers and columns of the key, other columns, those of the list
	own := false                    // what the list lacks is read from the file
	for _, c := range group {
		name := c.Name
		if described.Column(name) == nil {
			name = strings.TrimPrefix(name, role+"_")
		}
		if slices.Contains(described.Key, name) {
			key = append(key, c.Name)
			continue
		}
		columns, from, own = append(columns, c.Name), append(from, name), !c.Null
	}
	s := step{wanted: key, joins: role, optional: columns}
	headers := slices.Concat(key, columns)
	s.bind = func(f *sourceReader) rowStep {
		list, k := f.refs.joins[role], f.newKey(f.rows.group(role), headers...)
		keyCells, columns := k.vectors(key, 0), k.vectors(columns, len(key))
		var listed []byte
		return once(k, func() *rowFault {
			if fault := k.readAll(keyCells); fault != nil {
				return fault
			}
			listed = listed[:0]
			for i := range key {
				listed = keyOf(listed, k.cell(i))
			}
			if row, ok := list.find(listed); ok {
				if wrong := list.nameElsewhere(from[0], row, columns[0].header, k.cell(len(key))); wrong != "" {
					return f.file.csv.fault(otherName, wrong)
				}
				for i, c := range columns {
					from := list.rows.column(from[i])
					c.to.copyFrom(from, row)
					f.compareListed(c.header, k.cell(c.at), from.text(row))
				}
				return nil
			}
			if own {
				if fault := k.readAll(columns); fault != nil {
					return fault
				}
			} else {
				for _, c := range columns {
					c.to.setNull()
				}
			}
			var names []string
			for i := range key {
				names = append(names, quoted(k.cell(i)))
			}
			f.odd(unknownListed, role+": "+strings.Join(names, ", "))
			return nil
		})
	}
	return s
}

// compareListed counts a row that says something else than the list of which it has the code.
func (f *sourceReader) compareListed(header string, cell []byte, listed string) {
	if len(cell) > 0 && string(cell) != listed {
		f.odd(notAsListed, fmt.Sprintf("%s: %s, not %q", header, quoted(cell), listed))
	}
}

// marketOwn are a row's own columns of a market.
var marketOwn = []string{"market_name", "lat", "lon"}

// readMarket sets a market, found by its code: place, name and position are those of the list,
// whatever the row says. The row's own are used for a market that the list lacks.
func readMarket() step {
	return step{
		wanted: []string{"market_code"}, optional: slices.Concat(unit2Headers, marketOwn),
		joins: "market", bind: bindMarket,
	}
}

// bindMarket looks up a market unless its code and place, or all its cells, have been seen before.
func bindMarket(f *sourceReader) rowStep {
	csv, markets, g := f.file.csv, f.refs.joins["market"], f.rows.group("market")
	listed := f.newKey(g, "market_code", "location_code", "admin1_code", "admin2_code", "market_name", "lat", "lon")
	unlisted := f.newKey(g, slices.Concat(placeKey, []string{"market_code"}, marketOwn)...)
	place, own := f.newPlaceColumns(unlisted), unlisted.vectors(marketOwn, len(placeKey)+1)
	code := g.column("market_code")
	readCode := func() *rowFault {
		if why := code.read(listed.cell(0)); why != "" {
			return code.fault(csv, why, "market_code", listed.cell(0))
		}
		return nil
	}
	readOwn := f.placed(unlisted, func() (*placeNote, *rowFault) {
		if fault := readCode(); fault != nil {
			return nil, fault
		}
		note, fault := place.set()
		if fault == nil {
			fault = unlisted.readAll(own)
		}
		if fault == nil {
			f.odd(unknownListed, "market: "+quoted(listed.cell(0)))
		}
		return note, fault
	})
	var key []byte
	return func() *rowFault {
		if listed.known() {
			return nil
		}
		key = keyOf(key[:0], listed.cell(0))
		row, ok := markets.find(key)
		if !ok {
			return readOwn()
		}
		if fault := readCode(); fault != nil {
			return fault
		}
		copyMarket(g, markets.rows, row)
		country, named := g.column("location_code").text(g.n), listed.cell(1)
		wrong := f.refs.units.codeElsewhere(f.refs.units.countryOf[country], listed.cell(2), listed.cell(3))
		if len(named) > 0 && string(named) != country {
			wrong = fmt.Sprintf("location_code %s, but market_code %s is of %s",
				quoted(named), quoted(listed.cell(0)), country)
		}
		if wrong != "" {
			return csv.fault(otherCountry, wrong)
		}
		if wrong = markets.nameElsewhere("name", row, "market_name", listed.cell(4)); wrong != "" {
			return csv.fault(otherName, wrong)
		}
		f.compareListed("market_name", listed.cell(4), markets.rows.column("name").text(row))
		for i, name := range []string{"lat", "lon"} {
			v, own := markets.rows.column(name), listed.cell(5+i)
			d, ok := snapshot.ParseDec(string(own))
			if ok && !v.isNull(row) && d.Float() != v.float(row) {
				f.odd(notAsListed, fmt.Sprintf("%s: %s, not %g", name, quoted(own), v.float(row)))
			}
		}
		listed.add()
		return nil
	}
}

// copyMarket sets place, name and position of a market from its row in the list.
func copyMarket(to *tuples, markets *tableBuilder, row int) {
	from := markets.group("place")
	tuple := int(from.codes[row])
	for _, name := range schema.UnitColumns {
		to.column(name).copyFrom(from.column(name), tuple)
	}
	to.column("market_name").copyFrom(markets.column("name"), row)
	to.column("lat").copyFrom(markets.column("lat"), row)
	to.column("lon").copyFrom(markets.column("lon"), row)
}

// readIDs sets the resource that a row names, and counts the row for it. A row that names none
// counts for the file's own resource.
func readIDs() step {
	return step{optional: []string{"dataset_hdx_id", "resource_hdx_id"}, bind: func(f *sourceReader) rowStep {
		csv, to := f.file.csv, f.rows.column("resource_catalog_id")
		datasetAt, resourceAt := csv.position("dataset_hdx_id"), csv.position("resource_hdx_id")
		return func() *rowFault {
			dataset, resource := csv.cell(datasetAt), csv.cell(resourceAt)
			if len(resource) == 0 {
				dataset, resource = f.file.dataset, f.file.resource
				f.file.ownUsed++
			}
			if why := to.read(resource); why != "" {
				return to.fault(csv, why, "resource_hdx_id", resource)
			}
			f.row.use = f.useOf(dataset, resource)
			if f.row.use.unknown && f.strict {
				return csv.cellFault(unknownResource, "resource_hdx_id", resource)
			}
			return nil
		}
	}}
}

// newJoinTable finds rows of a list by their key, the last of each, and adds the built-in rows.
func newJoinTable(th *theme, rows *tableBuilder) *joinTable {
	t := &joinTable{rows: rows, at: make(map[string]int, rows.rows)}
	columns := make([]*vector, len(th.table.key))
	for i, name := range th.table.key {
		columns[i] = rows.column(name)
	}
	var key []byte
	for row := range rows.rows {
		key = key[:0]
		for _, v := range columns {
			key = keyOf(key, []byte(v.text(row)))
		}
		t.at[string(key)] = row
	}
	for _, extra := range builtInRows[th.role] {
		key = keyOf(key[:0], []byte(extra[0]))
		if _, listed := t.at[string(key)]; listed {
			continue
		}
		t.at[string(key)] = rows.rows
		rows.own[0].setString(extra[0])
		rows.own[1].setString(extra[1])
		rows.commit()
	}
	return t
}

// builtInRows are added to a list unless it has their code: the incumbent's own additions.
var builtInRows = map[string][][2]string{
	"org-type": {{"501", "Civil Society"}, {"502", "Observer"}, {"503", "Development Programme"}, {"504", "Local NGO"}},
	"sector": {
		{"Cash", "Cash programming"},
		{"Hum", "Humanitarian assistance (unspecified)"},
		{"Multi", "Multi-sector (unspecified)"},
		{"Intersectoral", "Intersectoral"},
	},
}
