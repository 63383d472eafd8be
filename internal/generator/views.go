package generator

import (
	"slices"
	"sort"
	"strings"
	"time"
)

// WriteViews writes the view dumps of the same world: what a database holds after all joins. Rows
// are in the order in which a loader reads the files, without those that it drops.
func WriteViews(dir string, o Options) ([]Count, error) {
	some, err := o.themes()
	if err != nil {
		return nil, err
	}
	w := newWorld(o)
	loaded, err := time.Parse(time.RFC3339, SnapshotTime)
	if err != nil {
		return nil, err
	}
	v := &views{world: w, dir: dir, compress: o.Compress, loaded: loaded.Format("2006-01-02 15:04:05")}
	counts := make([]Count, len(some))
	available := make([]map[availability]bool, len(some))
	var jobs []func() error
	for i, t := range some {
		jobs = append(jobs, func() error {
			counts[i].Role = t.role
			available[i] = map[availability]bool{}
			return v.writeTheme(t, &counts[i], available[i])
		})
	}
	if err := inParallel(o.workers(), jobs); err != nil {
		return nil, err
	}
	if err := v.writeLists(some, available); err != nil {
		return nil, err
	}
	return counts, writeManifest(dir, manifest{Format: 1, CatalogURL: CatalogURL, SnapshotTime: SnapshotTime})
}

type views struct {
	*world
	dir      string
	compress bool
	loaded   string
}

// availability is a row of the data-availability view: a unit of a level for which a theme has
// data. In national themes unit is nil. In the poverty theme, which uses the first level only, it
// is the placeholder below the first-level unit.
type availability struct {
	location *location
	unit     *admin2
	level    int
}

func (v *views) begin(view, header string) (*stream, error) {
	out, err := create(v.dir, view+"_view.csv", v.compress)
	if err != nil {
		return nil, err
	}
	s := &stream{out: out, line: line{psql: true, ends: "\n"}}
	s.header(header)
	return s, nil
}

func (s *stream) finish() error {
	s.flush(true)
	_, err := s.out.close()
	if s.err != nil {
		return s.err
	}
	return err
}

func (v *views) writeTheme(t *theme, c *Count, available map[availability]bool) error {
	columns := bind(viewHeaders[t.view], putView)
	for i := range columns {
		columns[i].name = viewName(t.view, columns[i].name)
	}
	s, err := v.begin(t.view, joinNames(columns))
	if err != nil {
		return err
	}
	var last availability
	emit := func(r *row) {
		c.Rows++
		switch {
		case r.fault != "":
			c.Marked++
			return
		case r.duplicate:
			c.Duplicates++
			return
		}
		c.Kept++
		r.src.mark()
		for _, a := range r.availability(t.view) {
			if a != last { // rows of a unit follow each other
				available[a] = true
				last = a
			}
		}
		for i := range columns {
			s.cell()
			columns[i].put(&s.line, r)
		}
		s.end()
		s.flush(false)
	}
	// A loader reads the files of a theme in the order of their names.
	files := t.files(v.world)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		f.rows(emit)
	}
	return s.finish()
}

func joinNames(columns []column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ",")
}

// mark records that a kept row refers to a resource and its dataset.
func (r *resource) mark() {
	if !r.used.Load() {
		r.used.Store(true)
		r.dataset.used.Store(true)
	}
}

func (r *row) availability(view string) []availability {
	switch {
	case r.asylum != nil && r.asylum != r.home:
		return []availability{{location: r.home}, {location: r.asylum}}
	case r.home != nil:
		return []availability{{location: r.home}}
	case view == "poverty_rate":
		return []availability{{r.location(), r.at.admin1().connector, r.at.trueLevel1()}}
	}
	return []availability{{r.location(), r.at.unit, r.at.trueLevel()}}
}

func (v *views) writeLists(some []*theme, available []map[availability]bool) error {
	for _, list := range []struct {
		view, header string
		fill         func(*stream)
	}{
		{
			"location", "id,code,name,from_cods,has_hrp,in_gho,reference_period_start,reference_period_end",
			v.viewLocations,
		},
		{"admin1", "id,location_ref,code,name,is_unspecified,from_cods,reference_period_start,reference_period_end," +
			ofLocation, v.viewAdmin1},
		{"admin2", "id,admin1_ref,code,name,is_unspecified,from_cods,reference_period_start,reference_period_end," +
			"admin1_code,admin1_name," +
			"admin1_is_unspecified,location_ref," + ofLocation, v.viewAdmin2},
		{"dataset", "hdx_id,hdx_stub,title,hdx_provider_stub,hdx_provider_name", v.viewDatasets},
		{"resource", "hdx_id,dataset_hdx_id,name,format,update_date,is_hxl,download_url,hapi_updated_date," +
			"dataset_hdx_stub,dataset_title," +
			"dataset_hdx_provider_stub,dataset_hdx_provider_name", v.viewResources},
		{"org_type", "code,description", func(s *stream) { s.pairs(v.orgTypes) }},
		{"org", "acronym,name,org_type_code,org_type_description", v.viewOrgs},
		{"sector", "code,name", func(s *stream) { s.pairs(v.sectors) }},
		{"currency", "code,name", func(s *stream) { s.pairs(v.currencies) }},
		{"wfp_commodity", "code,category,name", v.viewCommodities},
		{"wfp_market", "", v.viewMarkets},
		{"data_availability", "id,category,subcategory,location_name,location_code,admin1_name,admin1_code," +
			"admin2_name,admin2_code," +
			"admin_level,hapi_updated_date", func(s *stream) { v.viewAvailability(s, some, available) }},
	} {
		header := list.header
		if header == "" {
			columns := bind(viewHeaders[list.view], putView)
			for i := range columns {
				columns[i].name = viewName(list.view, columns[i].name)
			}
			header = joinNames(columns)
		}
		s, err := v.begin(list.view, header)
		if err != nil {
			return err
		}
		list.fill(s)
		if err := s.finish(); err != nil {
			return err
		}
	}
	return nil
}

const ofLocation = "location_code,location_name,has_hrp,in_gho"

// cells writes a line, one function per cell. nil is a null cell.
func (s *stream) cells(puts ...func()) {
	for _, put := range puts {
		s.cell()
		if put != nil {
			put()
		}
	}
	s.end()
	s.flush(false)
}

func (s *stream) t(v string) func()    { return func() { s.text(v) } }
func (s *stream) n(v int) func()       { return func() { s.int(v) } }
func (s *stream) b(v bool) func()      { return func() { s.flag(v, "t", "f") } }
func (s *stream) d(v day) func()       { return func() { s.time(v, midnight) } }
func (s *stream) null(v string) func() { return func() { s.nullable(v) } }

func (s *stream) pairs(all []pair) {
	for _, p := range all {
		s.row(p.code, p.name)
	}
}

func (v *views) viewLocations(s *stream) {
	for _, l := range v.locations {
		s.cells(s.n(l.id), s.t(l.iso3), s.t(l.name), s.b(true), s.b(l.plan), s.b(l.appeal), s.d(l.start), nil)
	}
}

func (v *views) viewAdmin1(s *stream) {
	for _, u := range v.admin1 {
		l := u.location
		s.cells(s.n(u.id), s.n(l.id), s.t(u.code), s.t(u.name), s.b(u.unspecified), s.b(true), s.d(u.start), nil,
			s.t(l.iso3), s.t(l.name), s.b(l.plan), s.b(l.appeal))
	}
}

func (v *views) viewAdmin2(s *stream) {
	for _, u := range v.admin2 {
		a := u.parent
		l := a.location
		s.cells(s.n(u.id), s.n(a.id), s.t(u.code), s.t(u.name), s.b(u.unspecified), s.b(true), s.d(u.start), nil,
			s.t(a.code), s.t(a.name), s.b(a.unspecified), s.n(l.id), s.t(l.iso3), s.t(l.name), s.b(l.plan),
			s.b(l.appeal))
	}
}

func (v *views) viewDatasets(s *stream) {
	for _, d := range v.datasets {
		if d.always || d.used.Load() {
			s.row(d.id, d.name, d.title, d.provider, d.publisher)
		}
	}
}

func (v *views) viewResources(s *stream) {
	for _, d := range v.datasets {
		for _, r := range d.resources {
			if !r.used.Load() {
				continue
			}
			updated := strings.Replace(r.modified[:len("2006-01-02T15:04:05")], "T", " ", 1)
			s.cells(s.t(r.id), s.t(d.id), s.t(r.name), s.t(strings.ToLower(r.format)), s.t(updated),
				s.b(r.check.tagged()), s.t(r.url), s.t(v.loaded),
				s.t(d.name), s.t(d.title), s.t(d.provider), s.t(d.publisher))
		}
	}
}

func (v *views) viewOrgs(s *stream) {
	for _, o := range v.orgs {
		s.cells(s.t(o.acronym), s.t(o.name), s.null(o.kind), s.null(o.kindName))
	}
}

func (v *views) viewCommodities(s *stream) {
	for _, c := range v.commodities {
		s.row(c.code, c.category, c.name)
	}
}

func (v *views) viewMarkets(s *stream) {
	columns := bind(viewHeaders["wfp_market"], putView)
	for _, m := range v.markets {
		r := row{at: m.at, market: m}
		for i := range columns {
			s.cell()
			columns[i].put(&s.line, &r)
		}
		s.end()
	}
}

func (v *views) viewAvailability(s *stream, some []*theme, available []map[availability]bool) {
	id := 0
	for i, t := range some {
		all := make([]availability, 0, len(available[i]))
		for a := range available[i] {
			all = append(all, a)
		}
		sort.Slice(all, func(i, j int) bool { return all[i].before(all[j]) })
		for _, a := range all {
			id++
			var name1, code1, name2, code2 string
			if a.unit != nil {
				name1, code1, name2, code2 = a.unit.parent.name, a.unit.parent.code, a.unit.name, a.unit.code
			}
			if t.view == "poverty_rate" {
				name2, code2 = "", ""
			}
			s.cells(s.n(id), s.t(t.category), s.t(t.subcategory), s.t(a.location.name), s.t(a.location.iso3),
				s.t(name1), s.t(code1),
				s.t(name2), s.t(code2), s.n(a.level), s.t(v.loaded))
		}
	}
}

func (a availability) before(b availability) bool {
	if a.location != b.location {
		return a.location.id < b.location.id
	}
	if a.unit != b.unit {
		return a.unit.id < b.unit.id
	}
	return a.level < b.level
}
