package odata

import (
	"slices"
	"strconv"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/state"
)

// Clients do not ask a server to group or add up: Power Query never does, whatever the server can.
// So there are sets of headline figures, and of sums that the checks of sums allow. Each is made of
// requests that a client could send, once a snapshot.

// question is a question whose answers are records of a computed set.
type question struct {
	ask    *contract.Question
	first  string // the value of a field before those of the answers; empty without it
	fields int    // how many fields of the answers tell records apart
}

// table is records that were computed.
type table struct {
	of      *set
	columns []column // of all properties but the key
	keys    []string
}

// column is the values of a property. Most values occur often: each is kept once, so that
// a $filter is asked of a value and not of each record that has it (match.go).
type column struct {
	codes  []uint32          // positions in the lists below, by record
	cells  []string          // distinct values, as JSON
	values []value           // the same
	seen   map[string]uint32 // codes by cell; nil once all records are there
}

func (t *table) len() int { return len(t.keys) }

// put appends a value of a property, and returns it.
func (t *table) put(at int, v aggregate.Value, cell []byte) *value {
	c := &t.columns[at]
	code, known := c.seen[string(cell)]
	if !known {
		code = uint32(len(c.cells))
		c.cells = append(c.cells, string(cell))
		c.values = append(c.values, t.of.Properties[at].valueOf(v))
		c.seen[c.cells[code]] = code
	}
	c.codes = append(c.codes, code)
	return &c.values[code]
}

// add adds the records of an answer.
func (t *table) add(q *question, found list.Valued) {
	var cell []byte
	for i := range found.Len() {
		var key []string
		if q.first != "" {
			t.put(0, aggregate.Value{Kind: aggregate.Text, Text: q.first}, render.AppendJSONText(nil, q.first))
			key = append(key, q.first)
		}
		before := len(key)
		for f := range found.Fields() {
			cell = list.AppendOne(cell[:0], found, i, f)
			v := t.put(before+f, found.Value(i, f), cell)
			switch {
			case f >= q.fields:
			case v.kind == text:
				key = append(key, v.text)
			default:
				key = append(key, strings.Trim(string(cell), `"`))
			}
		}
		t.keys = append(t.keys, strings.Join(key, "|"))
	}
}

// records are some records of a table: a page of those that pass a filter.
type records struct {
	*table
	rows  []uint32
	total int
}

func (r *records) Len() int   { return len(r.rows) }
func (r *records) Total() int { return r.total }
func (r *records) AppendCell(dst []byte, record, field int, _ bool) []byte {
	c := &r.columns[field]
	return append(dst, c.cells[c.codes[r.rows[record]]]...)
}

// sum is a set of sums: one aggregate of a list.
type sum struct{ name, title, list, query string }

// period groups by the period as it is published.
const period = "reference_period_start,reference_period_end"

// sums are right to add up: a test asks that none is refused.
var sums = []sum{
	{
		"conflict_events_by_country_month", "Conflict events and deaths by country, kind and month", "conflict-events",
		"admin_level=coarsest&group_by=location_code,location_name,event_type,admin_level," + period +
			"&measures=sum:events,sum:fatalities,count",
	},
	{
		"funding_by_country_year", "Money asked for and received by country and year", "funding",
		"group_by=location_code,location_name,year&measures=sum:requirements_usd,sum:funding_usd,count",
	},
	{
		"refugees_by_asylum_country", "Refugees and others by country of asylum and year",
		"refugees-persons-of-concern",
		"gender=all&age_range=all&group_by=asylum_location_code,asylum_location_name,population_group," + period +
			"&measures=sum:population,count",
	},
	{
		"refugees_by_origin_country", "Refugees and others by country of origin and year",
		"refugees-persons-of-concern",
		"gender=all&age_range=all&group_by=origin_location_code,origin_location_name,population_group," + period +
			"&measures=sum:population,count",
	},
	{
		"needs_by_country_sector", "People in need, targeted and reached by country and sector, newest edition",
		"humanitarian-needs",
		"admin_level=coarsest&latest=edition&everybody=true" +
			"&group_by=location_code,location_name,sector_code,sector_name,population_status" +
			"&measures=sum:population,count",
	},
	{
		"food_security_by_country_phase", "People by country and phase of food insecurity, newest edition",
		"food-security",
		"admin_level=coarsest&latest=edition&ipc_type=current&group_by=location_code,location_name,ipc_phase" +
			"&measures=sum:population_in_phase,count",
	},
}

// groupsSet is the set of the groups of countries.
const groupsSet = "groups"

// addGroups adds the groups of a snapshot.
func (t *table) addGroups(all []contract.CountryGroup) {
	for i := range all {
		for _, code := range all[i].Members {
			for at, cell := range []string{all[i].Slug, all[i].Kind, all[i].Name, code} {
				t.put(at, aggregate.Value{Kind: aggregate.Text, Text: cell}, render.AppendJSONText(nil, cell))
			}
			t.keys = append(t.keys, all[i].Slug+"|"+code)
		}
	}
}

const aboutComputedKey = "What the record is about: stays the same from load to load."

// computedSets are the sets that are not rows of lists.
func (s *Service) computedSets() (all []*set) {
	figures := &set{
		Name: "figures", title: "Headline figures by country",
		About: "The figures of people, money and risk that are asked for most, each with the request that gives it.",

		Properties: []property{{Name: "figure", kind: text, About: "Which figure it is."}},
	}
	endpoints := contract.FigureEndpoints[contract.HAPINames][1:]
	figures.addFields(endpoints[0].Fields, &endpoints[0])
	for i := range endpoints {
		e := &endpoints[i]
		figures.made = append(figures.made, question{contract.Ask(e, contract.Figures), e.Headline.Name, 1})
	}
	counts := &set{
		Name: "record_counts", title: "Records by list and country",
		About: "How many records each list has of a country.",
		Properties: []property{
			{Name: "list", kind: text, About: "The set of the list."},
			{Name: contract.CountryParam, kind: text, About: "The country."},
			{Name: "count", kind: integer, About: "How many records there are."},
		},
	}
	for _, of := range s.sets {
		if of.indexOf(contract.CountryParam) >= 0 {
			byCountry := contract.Ask(of.endpoint, contract.Aggregate).GroupBy(contract.CountryParam)
			counts.made = append(counts.made, question{byCountry, of.Name, 1})
		}
	}
	groups := &set{
		Name: groupsSet, title: "Groups of countries, a record for each country of each",
		About: "Join it with other sets by the country to filter them by groups, or add up by them.",
		Properties: []property{
			{Name: contract.GroupParam, kind: text, About: "The slug of the group, as in a $filter of other sets."},
			{Name: "kind", kind: text, About: "What kind of group it is."},
			{Name: "name", kind: text, About: "The group's name."},
			{Name: contract.CountryParam, kind: text, About: "A country of the group."},
		},
	}
	all = []*set{figures, counts, groups}
	for i := range sums {
		all = append(all, s.sumSet(&sums[i]))
	}
	for _, of := range all {
		of.Properties = withKey(of.Properties, aboutComputedKey)
		of.addGroups()
	}
	return all
}

// addFields adds fields of a list as properties.
func (s *set) addFields(fields []contract.Field, e *contract.Endpoint) {
	for i := range fields {
		s.Properties = append(s.Properties, propertyOf(&fields[i], e.Texts().Meaning(fields[i].Name)))
	}
}

// sumSet is the set of a sum.
func (s *Service) sumSet(of *sum) *set {
	endpoints := contract.EndpointsIn(contract.HAPINames)
	at := slices.IndexFunc(endpoints, func(e contract.Endpoint) bool { return e.Contract().Name() == of.list })
	e := &endpoints[at]
	made := &set{
		Name: of.name, title: of.title,
		About: "Made of " + e.SetName() + " with " + of.query + "; sums that would count twice are not offered.",
	}
	r, err := contract.Read(contract.PlanOf(e, contract.Aggregate), of.query)
	if err != nil {
		panic(err) // it is ours
	}
	made.made = []question{{&r.Question, "", len(r.Question.Groups)}}
	made.addFields(r.Question.AggregateFields(), e)
	return made
}

// tableOf is the table of a set, made once a snapshot.
func (s *Service) tableOf(v *state.Served, of *set) (*table, error) {
	return list.MadeOf(v, of, func() (*table, error) {
		t := &table{of: of, columns: make([]column, len(of.Properties)-1)}
		for i := range t.columns {
			t.columns[i].seen = map[string]uint32{}
		}
		for i := range of.made {
			q := &of.made[i]
			err := s.lists.QueryAll(v, q.ask, func(found list.Valued) { t.add(q, found) })
			if err != nil {
				return nil, err
			}
		}
		if of.Name == groupsSet {
			t.addGroups(v.Bound.Groups.All)
		}
		for i := range t.columns {
			t.columns[i].seen = nil
		}
		return t, nil
	})
}

// answerComputed answers with records of a set that is computed.
func (a *request) answerComputed() error {
	return a.service.lists.Computed(a.ctx, a.state, func(v *state.Served) error {
		t, err := a.service.tableOf(v, a.of)
		if err != nil {
			return err
		}
		if err := a.filter.resolve(v.Bound.Groups); err != nil {
			return err
		}
		found := &records{table: t}
		find := func(pause func() error) error { return a.find(found, pause) }
		if err := list.InTurns(a.ctx, find); err != nil {
			return err
		}
		return a.send(found, v.Id, v.Bound.Groups.Digest)
	})
}

// find finds the records of a page.
func (a *request) find(found *records, pause func() error) (err error) {
	matches := func(record int) verdict { return verdictOf(a.key == "" || found.keys[record] == a.key) }
	if a.filter != nil {
		if matches, err = found.matches(a.filter, new(int), pause); err != nil {
			return err
		}
	}
	var rows []uint32
	for i := range found.len() {
		if i%recordsPerPause == 0 {
			if err := pause(); err != nil {
				return err
			}
		}
		if matches(i) == yes {
			rows = append(rows, uint32(i))
		}
	}
	switch found.total = len(rows); {
	case a.key != "" && found.total == 0:
		return list.NotFound("%s has no record with the key %s", a.of.Name, list.Quoted(a.key))
	case a.order != nil && found.total > mostChosen:
		return (&choice{of: a.of}).tooMany(strconv.Itoa(found.total))
	case a.order != nil:
		a.of.sort(rows, a.order, func(property int, row uint32) value {
			c := &found.columns[property]
			return c.values[c.codes[row]]
		})
	}
	rows = rows[min(a.skip, uint64(len(rows))):]
	found.rows = rows[:min(len(rows), a.limit())]
	return nil
}

// send answers with the records of a page.
func (a *request) send(found *records, state, groups string) error {
	contentType, pieces := a.form.contentType(), found.Len()+2
	piece := func(dst []byte, i int) []byte {
		return a.piece(dst, found, i, func(i int) string { return found.keys[found.rows[i]] }, state)
	}
	if a.onlyCount {
		contentType, pieces = "text/plain", 1
		piece = func(dst []byte, _ int) []byte { return strconv.AppendInt(dst, int64(found.total), 10) }
	}
	content, err := list.InPieces(a.ctx, append(a.meaning(), state+groups...), pieces, piece)
	if err == nil {
		err = a.service.sender.Send(a.ctx, contentType, content)
	}
	h := &a.ctx.Response.Header
	a.service.sender.SetPolicy(h, a.varies())
	if a.preferred {
		h.Set("Preference-Applied", "odata.maxpagesize="+strconv.Itoa(a.pageSize))
	}
	return err
}
