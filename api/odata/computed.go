package odata

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// Clients do not ask a server to group or add up: Power Query never does, whatever the server can.
// So there are sets of headline figures, and of sums that the checks of sums allow. Each is made of
// requests that a client could send, once a snapshot.

// maker makes the records of a set.
type maker func(v *state.Served) (*table, error)

// table is records that were computed.
type table struct {
	fields int
	cells  []byte // all values, as JSON
	ends   []uint32
	keys   []string
}

func (t *table) len() int { return len(t.keys) }

// cell is a value of a record.
func (t *table) cell(record, field int) []byte {
	at := record*t.fields + field
	from := uint32(0)
	if at > 0 {
		from = t.ends[at-1]
	}
	return t.cells[from:t.ends[at]]
}

// add adds the records of an answer. first, if not empty, is the value of a field before theirs.
// fields are how many of the first fields tell records apart.
func (t *table) add(first string, found list.Records, fields int) {
	own := len(found.Fields())
	for i := range found.Len() {
		var key []string
		if first != "" {
			text, _ := json.Marshal(first) // a string has no error
			t.cells = append(t.cells, text...)
			t.ends = append(t.ends, uint32(len(t.cells)))
			key = append(key, first)
		}
		for f := range own {
			from := len(t.cells)
			t.cells = found.AppendCell(t.cells, i, f, false)
			t.ends = append(t.ends, uint32(len(t.cells)))
			if f < fields {
				key = append(key, strings.Trim(string(t.cells[from:]), `"`))
			}
		}
		t.keys = append(t.keys, strings.Join(key, "|"))
	}
	t.fields = own
	if first != "" {
		t.fields++
	}
}

// records are some records of a table: a page of those that pass a filter.
type records struct {
	*table
	rows  []int
	total int
}

func (r *records) Len() int   { return len(r.rows) }
func (r *records) Total() int { return r.total }
func (r *records) AppendCell(dst []byte, record, field int, _ bool) []byte {
	return append(dst, r.cell(r.rows[record], field)...)
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

const aboutComputedKey = "What the record is about: stays the same from load to load."

// computedSets are the sets that are not rows of lists.
func (s *Service) computedSets() (all []*set) {
	figures := contract.FigureEndpoints(contract.HAPINames)
	of := &set{
		Name: "figures", title: "Headline figures by country",
		About: "The figures of people, money and risk that are asked for most, each with the request that gives it.",
	}
	of.Properties = append(of.Properties, property{Name: "figure", kind: text, About: "Which figure it is."})
	for i := range figures[1].Fields {
		f := &figures[1].Fields[i]
		of.Properties = append(of.Properties, propertyOf(f, figures[1].Meaning(f.Name)))
	}
	of.make = func(v *state.Served) (*table, error) {
		t := new(table)
		for i := range figures[1:] {
			e := &figures[i+1]
			if err := s.collect(v, e, contract.Figures, nil, e.Headline.Name, 1, t); err != nil {
				return nil, err
			}
		}
		return t, nil
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
	counts.make = func(v *state.Served) (*table, error) {
		t := new(table)
		for _, of := range s.sets {
			if of.endpoint == nil || of.indexOf(contract.CountryParam) < 0 {
				continue
			}
			query := url.Values{"group_by": {contract.CountryParam}, "measures": {"count"}}
			if err := s.collect(v, of.endpoint, contract.Aggregate, query, of.Name, 1, t); err != nil {
				return nil, err
			}
		}
		return t, nil
	}
	all = []*set{of, counts}
	for i := range sums {
		all = append(all, s.sumSet(&sums[i]))
	}
	for _, of := range all {
		of.Properties = withKey(of.Properties, aboutComputedKey)
	}
	return all
}

// sumSet is the set of a sum.
func (s *Service) sumSet(of *sum) *set {
	endpoints := contract.EndpointsIn(contract.HAPINames)
	at := slices.IndexFunc(endpoints, func(e contract.Endpoint) bool { return e.Contract().Name() == of.list })
	e := &endpoints[at]
	query, err := url.ParseQuery(of.query)
	if err != nil {
		panic(err) // it is ours
	}
	made := &set{
		Name: of.name, title: of.title,
		About: "Made of " + e.SetName() + " with " + of.query + "; sums that would count twice are not offered.",
	}
	var r contract.Request
	to := s.mount.Lists[list.ListKey{Endpoint: e, Kind: contract.Aggregate}]
	r.Scan(to.List, []byte(query.Encode()))
	if err := r.Parse(); err != nil {
		panic(err) // it is ours
	}
	fields := r.AggregateFields()
	for i := range fields {
		made.Properties = append(made.Properties, propertyOf(&fields[i], e.Meaning(fields[i].Name)))
	}
	groups := len(strings.Split(query.Get("group_by"), ","))
	made.make = func(v *state.Served) (*table, error) {
		t := new(table)
		return t, s.collect(v, e, contract.Aggregate, query, "", groups, t)
	}
	return made
}

// collect adds all records that answer a question.
func (s *Service) collect(
	v *state.Served, e *contract.Endpoint, k contract.Kind, query url.Values, first string, groups int, to *table,
) error {
	route := s.mount.Lists[list.ListKey{Endpoint: e, Kind: k}]
	return s.QueryAll(v, &route, query, func(found list.Records) { to.add(first, found, groups) })
}

// tableOf is the table of a set, made once a snapshot.
func (s *Service) tableOf(v *state.Served, of *set) (*table, error) {
	return list.MadeOf(s.Lists, v, of, func() (*table, error) { return of.make(v) })
}

// answerComputed answers with records of a set that is computed.
func (a *request) answerComputed() error {
	return a.Pass(func() error {
		v, err := a.AcquireFor(a.state)
		if err != nil {
			return err
		}
		defer v.Release(a.Log)
		t, err := a.tableOf(v, a.set)
		if err != nil {
			return err
		}
		return a.answerTable(v, t)
	}, a.Slow)
}

func (a *request) answerTable(v *state.Served, t *table) error {
	found := &records{table: t}
	limit := a.limit()
	for i := range t.len() {
		get := func(property int) value { return a.Properties[property].valueOf(t.cell(i, property)) }
		switch {
		case a.key != "" && a.key != t.keys[i], a.filter != nil && a.filter.eval(get) != yes:
			continue
		case uint64(found.total) >= a.skip && len(found.rows) < limit:
			found.rows = append(found.rows, i)
		}
		found.total++
	}
	if a.key != "" && len(found.rows) == 0 {
		return notFound("%s has no record with the key %s", a.Name, list.Quoted(a.key))
	}
	var body []byte
	contentType := a.form.contentType()
	if a.onlyCount {
		body, contentType = fmt.Appendf(nil, "%d", found.total), "text/plain"
	} else {
		body = a.write(nil, found, func(i int) string { return t.keys[found.rows[i]] }, v.Id)
	}
	a.SendPage(a.ctx, a.Service.head(contentType), body)
	h := &a.ctx.Response.Header
	h.SetCanonical(reply.NameSnapshot, []byte(v.Id))
	a.policy(h, a.varies())
	if a.preferred {
		h.Set("Preference-Applied", "odata.maxpagesize="+strconv.Itoa(a.pageSize))
	}
	return nil
}
