package generator

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
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
	var jobs errgroup.Group
	jobs.SetLimit(o.workers())
	for i, t := range some {
		jobs.Go(func() error {
			counts[i].Role = t.role
			available[i] = map[availability]bool{}
			return v.writeTheme(t, &counts[i], available[i])
		})
	}
	if err := jobs.Wait(); err != nil {
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

func (v *views) begin(view string) (*stream, error) {
	out, err := create(v.dir, view+"_view.csv", v.compress)
	if err != nil {
		return nil, err
	}
	s := &stream{out: out, line: line{psql: true, ends: "\n"}}
	s.row(viewHeaders[view]...)
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
	columns := bindView(t.view)
	s, err := v.begin(t.view)
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
		s.put(columns, r)
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
	for view, fill := range map[string]func(*stream){
		"location":          v.viewLocations,
		"admin1":            v.viewAdmin1,
		"admin2":            v.viewAdmin2,
		"dataset":           v.viewDatasets,
		"resource":          v.viewResources,
		"org_type":          func(s *stream) { s.pairs(orgTypes) },
		"org":               v.viewOrgs,
		"sector":            func(s *stream) { s.pairs(sectors) },
		"currency":          func(s *stream) { s.pairs(currencies) },
		"wfp_commodity":     v.viewCommodities,
		"wfp_market":        v.viewMarkets,
		"data_availability": func(s *stream) { v.viewAvailability(s, some, available) },
	} {
		s, err := v.begin(view)
		if err != nil {
			return err
		}
		fill(s)
		if err := s.finish(); err != nil {
			return err
		}
	}
	return nil
}

// null is a cell that is null. psql writes an empty text in another way.
const null = "\x00"

// cells writes a line.
func (s *stream) cells(texts ...string) {
	for _, text := range texts {
		s.cell()
		if text != null {
			s.text(text)
		}
	}
	s.end()
	s.flush(false)
}

// flag is a boolean as psql writes it.
func flag(b bool) string { return [...]string{"f", "t"}[b2i(b)] }

func atMidnight(d day) string { return d.String() + midnight }

func (s *stream) pairs(all []pair) {
	for _, p := range all {
		s.cells(p.code, p.name)
	}
}

func (v *views) viewLocations(s *stream) {
	for _, l := range v.locations {
		s.cells(itoa(l.id), l.iso3, l.name, flag(true), flag(l.plan), flag(l.appeal), atMidnight(l.start), null)
	}
}

func (v *views) viewAdmin1(s *stream) {
	for _, u := range v.admin1 {
		l := u.location
		s.cells(itoa(u.id), itoa(l.id), u.code, u.name, flag(u.unspecified), flag(true), atMidnight(u.start), null,
			l.iso3, l.name, flag(l.plan), flag(l.appeal))
	}
}

func (v *views) viewAdmin2(s *stream) {
	for _, u := range v.admin2 {
		a := u.parent
		l := a.location
		s.cells(itoa(u.id), itoa(a.id), u.code, u.name, flag(u.unspecified), flag(true), atMidnight(u.start), null,
			a.code, a.name, flag(a.unspecified), itoa(l.id), l.iso3, l.name, flag(l.plan), flag(l.appeal))
	}
}

func (v *views) viewDatasets(s *stream) {
	for _, d := range v.datasets {
		if d.always || d.used.Load() {
			s.cells(d.id, d.name, d.title, d.provider, d.publisher)
		}
	}
}

func (v *views) viewResources(s *stream) {
	for _, d := range v.datasets {
		for _, r := range d.resources {
			if r.used.Load() {
				updated := strings.Replace(r.modified[:len("2006-01-02T15:04:05")], "T", " ", 1)
				s.cells(r.id, d.id, r.name, strings.ToLower(r.format), updated, flag(r.check.tagged()), r.url, v.loaded,
					d.name, d.title, d.provider, d.publisher)
			}
		}
	}
}

func (v *views) viewOrgs(s *stream) {
	for _, o := range v.orgs {
		s.cells(o.acronym, o.name, cmp.Or(o.kind, null), cmp.Or(o.kindName, null))
	}
}

func (v *views) viewCommodities(s *stream) {
	for _, c := range v.commodities {
		s.cells(c.code, c.category, c.name)
	}
}

func (v *views) viewMarkets(s *stream) {
	columns := bindView("wfp_market")
	for _, m := range v.markets {
		s.put(columns, &row{at: m.at, market: m})
	}
}

func (v *views) viewAvailability(s *stream, some []*theme, available []map[availability]bool) {
	id := 0
	for i, t := range some {
		for _, a := range slices.SortedFunc(maps.Keys(available[i]), availability.compare) {
			id++
			var name1, code1, name2, code2 string
			if a.unit != nil {
				name1, code1, name2, code2 = a.unit.parent.name, a.unit.parent.code, a.unit.name, a.unit.code
			}
			if t.view == "poverty_rate" {
				name2, code2 = "", ""
			}
			s.cells(itoa(id), t.category(), t.subcategory(), a.location.name, a.location.iso3, name1, code1, name2,
				code2, itoa(a.level), v.loaded)
		}
	}
}

func (a availability) compare(b availability) int {
	units := 0
	if a.unit != nil && b.unit != nil {
		units = a.unit.id - b.unit.id
	}
	return cmp.Or(a.location.id-b.location.id, units, a.level-b.level)
}
