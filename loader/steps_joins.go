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

// readOrg sets an organisation, found by acronym and name (several organisations share an acronym).
// Its type is that of the list; the file's own description is not used.
func readOrg() step {
	return listJoin{
		role: "org", key: []string{"org_acronym", "org_name"},
		columns: []string{"org_type_code", "org_type_description"},
		from:    []string{"org_type_code", "org_type_description"},
	}.step()
}

// readSector sets a sector, found by its code. The name of an unknown code is null, or with own the
// name in the file.
func readSector(own bool) step {
	return listJoin{
		role: "sector", key: []string{"sector_code"},
		columns: []string{"sector_name"}, from: []string{"name"}, own: own,
	}.step()
}

// readCommodity sets a commodity, found by its code. Its name and category are those of the list,
// or those of the file when the list lacks it.
func readCommodity() step {
	return listJoin{
		role: "commodity", key: []string{"commodity_code"},
		columns: []string{"commodity_name", "commodity_category"}, from: []string{"name", "category"}, own: true,
	}.step()
}

// listJoin declares a group that a list describes. The group has the name of the list's role.
type listJoin struct {
	role          string
	key           []string // headers by which the list has the row, and columns of the same names
	columns, from []string // columns that are set from these columns of the list
	own           bool     // what the list lacks is read from the file; otherwise it is null
}

func (l listJoin) step() step {
	s := step{wanted: l.key, joins: l.role, optional: l.columns}
	headers := slices.Concat(l.key, l.columns)
	s.bind = func(f *sourceReader) rowStep {
		list, k := f.refs.joins[l.role], f.newKey(f.rows.group(l.role), headers...)
		keyCells, columns := k.vectors(l.key, 0), k.vectors(l.columns, len(l.key))
		var key []byte
		return once(k, func() *rowFault {
			if fault := k.readAll(keyCells); fault != nil {
				return fault
			}
			key = key[:0]
			for i := range l.key {
				key = keyOf(key, k.cell(i))
			}
			if row, ok := list.find(key); ok {
				if wrong := list.nameElsewhere(l.from[0], row, l.columns[0], k.cell(len(l.key))); wrong != "" {
					return f.file.csv.fault(otherName, wrong)
				}
				for i, c := range columns {
					from := list.rows.column(l.from[i])
					c.to.copyFrom(from, row)
					if own := k.cell(c.at); i > 0 && l.own && len(own) > 0 && string(own) != from.text(row) {
						f.odd(notAsListed, fmt.Sprintf("%s: %s, not %q", c.header, quoted(own), from.text(row)))
					}
				}
				return nil
			}
			if l.own {
				if fault := k.readAll(columns); fault != nil {
					return fault
				}
			} else {
				for _, c := range columns {
					c.to.setNull()
				}
			}
			var names []string
			for i := range l.key {
				names = append(names, quoted(k.cell(i)))
			}
			f.odd(unknownListed, l.role+": "+strings.Join(names, ", "))
			return nil
		})
	}
	return s
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
