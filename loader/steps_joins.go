package loader

// joinTable is a list that other sources look up: its rows by the cells of its key.
type joinTable struct {
	rows *tableBuilder
	at   map[string]int // key cells, each followed by 0xff -> row; the last row of a key counts
}

// listOf is the list of a role, nil when the catalog has none.
func (f *sourceReader) listOf(role string) *joinTable {
	f.lists[role] = true
	return f.load.lists[role]
}

// find looks a key up that a tupleKey or keyOf made.
func (l *joinTable) find(key []byte) (row int, ok bool) {
	if l == nil {
		return 0, false
	}
	row, ok = l.at[string(key)]
	return row, ok
}

// keyOf appends the key of these cells.
func keyOf(key []byte, cells ...[]byte) []byte {
	for _, c := range cells {
		key = append(append(key, c...), 0xff)
	}
	return key
}

// readOrgType takes the type of a listed organisation: the code from its row, the description from the list of types.
func readOrgType() step {
	return step{wants: []string{"org_type_code"}, optional: []string{"org_type_description"}, bind: func(f *sourceReader) func() reason {
		code, description, at := f.rows.column("org_type_code"), f.rows.column("org_type_description"), f.csv.position("org_type_code")
		types := f.listOf("org-type")
		var key []byte
		return func() reason {
			cell := f.csv.cell(at)
			if why := code.read(cell); why != "" {
				return f.fail(why, "org_type_code", cell)
			}
			key = keyOf(key[:0], cell)
			if row, ok := types.find(key); ok && len(cell) > 0 {
				description.copyFrom(types.rows.column("description"), row)
				return ""
			}
			description.setNull()
			if len(cell) > 0 {
				f.report.odd(f.fault(unknownListed, "org_type_code: "+quoted(cell)))
			}
			return ""
		}
	}}
}

// readOrg takes an organisation by acronym and name (an acronym alone is no key: several organisations share one). Its type is that of the
// list; the file's own description is not used.
func readOrg() step {
	wants := []string{"org_acronym", "org_name"}
	return step{wants: wants, optional: []string{"org_type_description"}, bind: func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group("org"), wants...)
		acronym, name := k.group.column("org_acronym"), k.group.column("org_name")
		code, description := k.group.column("org_type_code"), k.group.column("org_type_description")
		orgs := f.listOf("org")
		return func() reason {
			if k.known() {
				return ""
			}
			if why := acronym.read(k.cell(0)); why != "" {
				return f.fail(why, "org_acronym", k.cell(0))
			}
			if why := name.read(k.cell(1)); why != "" {
				return f.fail(why, "org_name", k.cell(1))
			}
			if row, ok := orgs.find(k.key); ok {
				code.copyFrom(orgs.rows.column("org_type_code"), row)
				description.copyFrom(orgs.rows.column("org_type_description"), row)
			} else {
				code.setNull()
				description.setNull()
				f.report.odd(f.fault(unknownListed, "org: "+quoted(k.cell(0))+", "+quoted(k.cell(1))))
			}
			k.add()
			return ""
		}
	}}
}

// readSector takes a sector by its code. An unknown code has a null name where the table allows it; else the file's own name stands
// in, under the header own.
func readSector(own string) step {
	optional := []string{"sector_name"}
	return step{wants: []string{"sector_code"}, optional: optional, bind: func(f *sourceReader) func() reason {
		headers := []string{"sector_code"}
		if own != "" {
			headers = append(headers, own)
		}
		k := f.newKey(f.rows.group("sector"), headers...)
		code, name := k.group.column("sector_code"), k.group.column("sector_name")
		sectors := f.listOf("sector")
		var key []byte
		return func() reason {
			if k.known() {
				return ""
			}
			if why := code.read(k.cell(0)); why != "" {
				return f.fail(why, "sector_code", k.cell(0))
			}
			key = keyOf(key[:0], k.cell(0))
			row, ok := sectors.find(key)
			switch {
			case ok:
				name.copyFrom(sectors.rows.column("name"), row)
			case name.nullable:
				name.setNull()
			default:
				if why := name.read(k.cell(1)); why != "" {
					return f.fail(why, own, k.cell(1))
				}
			}
			if !ok {
				f.report.odd(f.fault(unknownListed, "sector: "+quoted(k.cell(0))))
			}
			k.add()
			return ""
		}
	}}
}

// readCommodity takes a commodity by its code. Its name and category are those of the list; when that lacks it, of the file.
func readCommodity() step {
	headers := []string{"commodity_code", "commodity_name", "commodity_category"}
	return step{wants: headers[:1], optional: headers[1:], bind: func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group("commodity"), headers...)
		code, name, category := k.group.column(headers[0]), k.group.column(headers[1]), k.group.column(headers[2])
		commodities := f.listOf("commodity")
		var key []byte
		return func() reason {
			if k.known() {
				return ""
			}
			if why := code.read(k.cell(0)); why != "" {
				return f.fail(why, headers[0], k.cell(0))
			}
			key = keyOf(key[:0], k.cell(0))
			if row, ok := commodities.find(key); ok {
				name.copyFrom(commodities.rows.column("name"), row)
				category.copyFrom(commodities.rows.column("category"), row)
				k.add()
				return ""
			}
			for i, v := range []*vector{name, category} {
				if why := v.read(k.cell(i + 1)); why != "" {
					return f.fail(why, headers[i+1], k.cell(i+1))
				}
			}
			f.report.odd(f.fault(unknownListed, "commodity: "+quoted(k.cell(0))))
			k.add()
			return ""
		}
	}}
}

// readMarket takes a market by its code: place, name and position are those of the list, whatever the row says. The row's own stand
// in for a market that the list lacks.
func readMarket() step {
	own := []string{"market_name", "lat", "lon"}
	optional := append(append(append([]string{}, unit2Headers...), unitIgnored...), own...)
	return step{wants: []string{"market_code"}, optional: optional, bind: func(f *sourceReader) func() reason {
		g := f.rows.group("market")
		listed := f.newKey(g, "market_code")
		unlisted := f.newKey(g, append(append(append([]string{}, unit2Headers...), "market_code"), own...)...)
		setOwn := f.unit2Setter(unlisted)
		markets := f.listOf("market")
		code := g.column("market_code")
		return func() reason {
			if listed.known() {
				return ""
			}
			row, ok := markets.find(listed.key)
			if !ok && unlisted.known() {
				f.noteUnknown(unlisted)
				return ""
			}
			if why := code.read(listed.cell(0)); why != "" {
				return f.fail(why, "market_code", listed.cell(0))
			}
			if ok {
				f.copyMarket(g, markets.rows, row)
				listed.add()
				return ""
			}
			if why := setOwn(); why != "" {
				return why
			}
			for i, name := range own {
				cell := unlisted.cell(len(unit2Headers) + 1 + i)
				if why := g.column(name).read(cell); why != "" {
					return f.fail(why, name, cell)
				}
			}
			f.report.odd(f.fault(unknownListed, "market: "+quoted(listed.cell(0))))
			unlisted.add()
			f.noteUnknown(unlisted)
			return ""
		}
	}}
}

// copyMarket sets place, name and position of a market from its row in the list.
func (f *sourceReader) copyMarket(g *tuples, markets *tableBuilder, row int) {
	from := markets.group("place")
	tuple := int(from.codes[row])
	for _, c := range unitColumns {
		g.column(c.name).copyFrom(from.column(c.name), tuple)
	}
	g.column("market_name").copyFrom(markets.column("name"), row)
	g.column("lat").copyFrom(markets.column("lat"), row)
	g.column("lon").copyFrom(markets.column("lon"), row)
}

// readIDs takes the source that a row names, and counts the row for it. A row without one counts for the file's own.
func readIDs() step {
	return step{optional: []string{"dataset_hdx_id", "resource_hdx_id"}, bind: func(f *sourceReader) func() reason {
		v := f.rows.column("resource_catalog_id")
		dataset, resource := f.csv.position("dataset_hdx_id"), f.csv.position("resource_hdx_id")
		return func() reason {
			d, r := f.csv.cell(dataset), f.csv.cell(resource)
			if len(r) == 0 {
				d, r = f.ownDataset, f.ownResource
				f.ownUsed++
			}
			if why := v.read(r); why != "" {
				return f.fail(why, "resource_hdx_id", r)
			}
			if f.useSource(d, r); f.use.unknown && f.load.opts.StrictResources {
				return f.fail(unknownResource, "resource_hdx_id", r)
			}
			return ""
		}
	}}
}
