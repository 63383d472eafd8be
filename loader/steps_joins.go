package loader

import "slices"

// joinTable is a reference list that rows of other files are joined with: its rows, found by their
// key cells.
type joinTable struct {
	rows *tableBuilder
	at   map[string]int // key cells, each followed by 0xff -> row; of rows with one key the last
}

// joiner is a step that looks rows of a list up.
type joiner interface {
	step
	joins() (role string)
}

// joins are the roles of the lists that rows of the theme are joined with.
func (th *theme) joins() []string {
	var roles []string
	for _, s := range th.steps {
		if j, ok := s.(joiner); ok {
			roles = append(roles, j.joins())
		}
	}
	return roles
}

// joinTable finds the list that a step looks up, nil when the catalog has none.
func (f *sourceReader) joinTable(s joiner) *joinTable { return f.refs.joins[s.joins()] }

// find looks up a key that keyOf or a tupleKey made.
func (t *joinTable) find(key []byte) (row int, ok bool) {
	if t == nil {
		return 0, false
	}
	row, ok = t.at[string(key)]
	return row, ok
}

// keyOf appends the key of these cells.
func keyOf(key []byte, cells ...[]byte) []byte {
	for _, c := range cells {
		key = append(append(key, c...), 0xff)
	}
	return key
}

// readOrgType sets the type of a listed organisation: the code from its row, the description from
// the list of types.
func readOrgType() step {
	return orgTypeStep{names{wanted: []string{"org_type_code"}, optional: []string{"org_type_description"}}}
}

type orgTypeStep struct{ names }

func (orgTypeStep) joins() string { return "org-type" }

func (s orgTypeStep) bind(f *sourceReader) rowStep {
	return &orgTypeRow{
		f: f, types: f.joinTable(s), at: f.file.csv.position("org_type_code"),
		code: f.rows.column("org_type_code"), description: f.rows.column("org_type_description"),
	}
}

type orgTypeRow struct {
	f                 *sourceReader
	types             *joinTable
	at                int
	code, description *vector
	key               []byte
}

// Row reads the code and looks its description up.
func (s *orgTypeRow) Row() *rowFault {
	cell := s.f.file.csv.cell(s.at)
	if why := s.code.read(cell); why != "" {
		return s.f.file.csv.cellFault(why, "org_type_code", cell)
	}
	s.key = keyOf(s.key[:0], cell)
	if row, ok := s.types.find(s.key); ok && len(cell) > 0 {
		s.description.copyFrom(s.types.rows.column("description"), row)
		return nil
	}
	s.description.setNull()
	if len(cell) > 0 {
		s.f.odd(unknownListed, "org_type_code: "+quoted(cell))
	}
	return nil
}

// readOrg sets an organisation, found by acronym and name (several organisations share an acronym).
// Its type is that of the list; the file's own description is not used.
func readOrg() step {
	return orgStep{names{wanted: []string{"org_acronym", "org_name"}, optional: []string{"org_type_description"}}}
}

type orgStep struct{ names }

func (orgStep) joins() string { return "org" }

func (s orgStep) bind(f *sourceReader) rowStep {
	k := f.newKey(f.rows.group("org"), s.wanted...)
	return &orgRow{
		f: f, orgs: f.joinTable(s), key: k, own: k.vectors(s.wanted, 0),
		code: k.group.column("org_type_code"), description: k.group.column("org_type_description"),
	}
}

type orgRow struct {
	f                 *sourceReader
	orgs              *joinTable
	key               *tupleKey
	own               []keyCell
	code, description *vector
}

// Row looks the organisation up unless its cells have been seen before.
func (s *orgRow) Row() *rowFault {
	if s.key.known() {
		return nil
	}
	if fault := s.key.readAll(s.own); fault != nil {
		return fault
	}
	if row, ok := s.orgs.find(s.key.key); ok {
		s.code.copyFrom(s.orgs.rows.column("org_type_code"), row)
		s.description.copyFrom(s.orgs.rows.column("org_type_description"), row)
	} else {
		s.code.setNull()
		s.description.setNull()
		s.f.odd(unknownListed, "org: "+quoted(s.key.cell(0))+", "+quoted(s.key.cell(1)))
	}
	s.key.add()
	return nil
}

// readSector sets a sector, found by its code. The name of an unknown code is null where the table
// allows that; otherwise it is the file's own name, under the header own.
func readSector(own string) step {
	return sectorStep{names{wanted: []string{"sector_code"}, optional: []string{"sector_name"}}, own}
}

type sectorStep struct {
	names
	own string
}

func (sectorStep) joins() string { return "sector" }

func (s sectorStep) bind(f *sourceReader) rowStep {
	headers := slices.Clone(s.wanted)
	if s.own != "" {
		headers = append(headers, s.own)
	}
	k := f.newKey(f.rows.group("sector"), headers...)
	return &sectorRow{
		f: f, sectors: f.joinTable(s), key: k, own: s.own,
		code: k.group.column("sector_code"), name: k.group.column("sector_name"),
	}
}

type sectorRow struct {
	f          *sourceReader
	sectors    *joinTable
	key        *tupleKey
	own        string
	code, name *vector
	joinKey    []byte
}

// Row looks the sector up unless its cells have been seen before.
func (s *sectorRow) Row() *rowFault {
	k, csv := s.key, s.f.file.csv
	if k.known() {
		return nil
	}
	if why := s.code.read(k.cell(0)); why != "" {
		return csv.cellFault(why, "sector_code", k.cell(0))
	}
	s.joinKey = keyOf(s.joinKey[:0], k.cell(0))
	row, ok := s.sectors.find(s.joinKey)
	switch {
	case ok:
		s.name.copyFrom(s.sectors.rows.column("name"), row)
	case s.name.nullable:
		s.name.setNull()
	default:
		if why := s.name.read(k.cell(1)); why != "" {
			return csv.cellFault(why, s.own, k.cell(1))
		}
	}
	if !ok {
		s.f.odd(unknownListed, "sector: "+quoted(k.cell(0)))
	}
	k.add()
	return nil
}

// readCommodity sets a commodity, found by its code. Its name and category are those of the list,
// or those of the file when the list lacks it.
func readCommodity() step {
	return commodityStep{names{
		wanted: []string{"commodity_code"}, optional: []string{"commodity_name", "commodity_category"},
	}}
}

type commodityStep struct{ names }

func (commodityStep) joins() string { return "commodity" }

func (s commodityStep) bind(f *sourceReader) rowStep {
	k := f.newKey(f.rows.group("commodity"), slices.Concat(s.wanted, s.optional)...)
	return &commodityRow{
		f: f, commodities: f.joinTable(s), key: k,
		code: k.group.column("commodity_code"), own: k.vectors(s.optional, 1),
	}
}

type commodityRow struct {
	f           *sourceReader
	commodities *joinTable
	key         *tupleKey
	code        *vector
	own         []keyCell // name and category
	joinKey     []byte
}

// Row looks the commodity up unless its cells have been seen before.
func (s *commodityRow) Row() *rowFault {
	k := s.key
	if k.known() {
		return nil
	}
	if why := s.code.read(k.cell(0)); why != "" {
		return s.f.file.csv.cellFault(why, "commodity_code", k.cell(0))
	}
	s.joinKey = keyOf(s.joinKey[:0], k.cell(0))
	if row, ok := s.commodities.find(s.joinKey); ok {
		s.own[0].to.copyFrom(s.commodities.rows.column("name"), row)
		s.own[1].to.copyFrom(s.commodities.rows.column("category"), row)
		k.add()
		return nil
	}
	if fault := k.readAll(s.own); fault != nil {
		return fault
	}
	s.f.odd(unknownListed, "commodity: "+quoted(k.cell(0)))
	k.add()
	return nil
}

// marketOwn are a row's own columns of a market.
var marketOwn = []string{"market_name", "lat", "lon"}

// readMarket sets a market, found by its code: place, name and position are those of the list,
// whatever the row says. The row's own are used for a market that the list lacks.
func readMarket() step {
	return marketStep{names{
		wanted: []string{"market_code"}, optional: slices.Concat(unit2Headers, unitIgnored, marketOwn),
	}}
}

type marketStep struct{ names }

func (marketStep) joins() string { return "market" }

func (s marketStep) bind(f *sourceReader) rowStep {
	g := f.rows.group("market")
	unlisted := f.newKey(g, slices.Concat(unit2Headers, []string{"market_code"}, marketOwn)...)
	return &marketRow{
		f: f, markets: f.joinTable(s), group: g, code: g.column("market_code"),
		listed: f.newKey(g, "market_code"), unlisted: unlisted,
		place: f.newUnit2Columns(unlisted), own: unlisted.vectors(marketOwn, len(unit2Headers)+1),
	}
}

type marketRow struct {
	f                *sourceReader
	markets          *joinTable
	group            *tuples
	code             *vector
	listed, unlisted *tupleKey // the tuple's key: the code alone, or everything that the row says
	place            *unit2Columns
	own              []keyCell
}

// Row looks the market up unless its code, or all its cells, have been seen before.
func (s *marketRow) Row() *rowFault {
	if s.listed.known() {
		return nil
	}
	row, ok := s.markets.find(s.listed.key)
	if !ok && s.unlisted.known() {
		s.f.notePlace(s.unlisted.code)
		return nil
	}
	if why := s.code.read(s.listed.cell(0)); why != "" {
		return s.f.file.csv.cellFault(why, "market_code", s.listed.cell(0))
	}
	if ok {
		s.copyListed(row)
		s.listed.add()
		return nil
	}
	code, fault := s.place.set()
	if fault == nil {
		fault = s.unlisted.readAll(s.own)
	}
	if fault != nil {
		return fault
	}
	s.f.odd(unknownListed, "market: "+quoted(s.listed.cell(0)))
	s.unlisted.add()
	s.f.addUnlisted(s.unlisted.code, code)
	s.f.notePlace(s.unlisted.code)
	return nil
}

// copyListed sets place, name and position of a market from its row in the list.
func (s *marketRow) copyListed(row int) {
	markets := s.markets.rows
	from := markets.group("place")
	tuple := int(from.codes[row])
	for _, c := range unitColumns {
		s.group.column(c.name).copyFrom(from.column(c.name), tuple)
	}
	s.group.column("market_name").copyFrom(markets.column("name"), row)
	s.group.column("lat").copyFrom(markets.column("lat"), row)
	s.group.column("lon").copyFrom(markets.column("lon"), row)
}

// readIDs sets the resource that a row names, and counts the row for it. A row that names none
// counts for the file's own resource.
func readIDs() step {
	return idsStep{names{optional: []string{"dataset_hdx_id", "resource_hdx_id"}}}
}

type idsStep struct{ names }

func (s idsStep) bind(f *sourceReader) rowStep {
	csv := f.file.csv
	return &idsRow{
		f: f, to: f.rows.column("resource_catalog_id"),
		dataset: csv.position("dataset_hdx_id"), resource: csv.position("resource_hdx_id"),
	}
}

type idsRow struct {
	f                 *sourceReader
	to                *vector
	dataset, resource int
}

// Row reads both ids.
func (s *idsRow) Row() *rowFault {
	f := s.f
	dataset, resource := f.file.csv.cell(s.dataset), f.file.csv.cell(s.resource)
	if len(resource) == 0 {
		dataset, resource = f.file.dataset, f.file.resource
		f.file.ownUsed++
	}
	if why := s.to.read(resource); why != "" {
		return f.file.csv.cellFault(why, "resource_hdx_id", resource)
	}
	f.row.use = f.useOf(dataset, resource)
	if f.row.use.unknown && f.strict {
		return f.file.csv.cellFault(unknownResource, "resource_hdx_id", resource)
	}
	return nil
}
