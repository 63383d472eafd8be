package generator

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// WriteViews writes the view dumps of the same world: what a database holds after all joins. Rows
// are in the order in which a loader reads the files, without those that it drops. There is no dump
// of the available data, which follows from the others.
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
	var jobs errgroup.Group
	jobs.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range some {
		jobs.Go(func() error {
			counts[i].Role = t.role
			return v.writeTheme(t, &counts[i])
		})
	}
	if err := jobs.Wait(); err != nil {
		return nil, err
	}
	if err := v.writeLists(); err != nil {
		return nil, err
	}
	return counts, writeManifest(dir, manifest{Format: 1, CatalogURL: CatalogURL, SnapshotTime: SnapshotTime})
}

type views struct {
	world    *world
	dir      string
	compress bool
	loaded   string
}

func (v *views) begin(view string, header []string) (*stream, error) {
	s, err := create(v.dir, view+"_view.csv", v.compress)
	if err != nil {
		return nil, err
	}
	s.psql = true
	s.row(header...)
	return s, nil
}

func (v *views) writeTheme(t *theme, c *Count) error {
	columns := bindView(t.view, t.viewHeader, t.printers)
	s, err := v.begin(t.view, t.viewHeader)
	if err != nil {
		return err
	}
	emit := func(r *row) {
		if c.addRow(r) {
			s.put(columns, r)
			s.flush(false)
		}
	}
	// A loader reads the files of a theme in the order of their names.
	files := t.filesOf(v.world)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		f.rows(emit)
	}
	_, err = s.close()
	return err
}

func (v *views) writeLists() error {
	for view, fill := range map[string]func(*stream){
		"location":      v.viewLocations,
		"admin1":        v.viewAdmin1,
		"admin2":        v.viewAdmin2,
		"dataset":       v.viewDatasets,
		"resource":      v.viewResources,
		"org_type":      func(s *stream) { s.pairs(orgTypes) },
		"org":           v.viewOrgs,
		"sector":        func(s *stream) { s.pairs(sectors) },
		"currency":      func(s *stream) { s.pairs(currencies) },
		"wfp_commodity": v.viewCommodities,
		"wfp_market":    v.viewMarkets,
	} {
		s, err := v.begin(view, viewHeaders[view])
		if err != nil {
			return err
		}
		fill(s)
		if _, err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// null is a cell that is null. psql writes an empty text in another way.
const null = "\x00"

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
	for _, l := range v.world.locations {
		s.cells(itoa(l.id), l.iso3, l.name, flag(true), flag(l.plan), flag(l.appeal), atMidnight(l.start), null)
	}
}

func (v *views) viewAdmin1(s *stream) {
	for _, u := range v.world.admin1 {
		l := u.location
		s.cells(itoa(u.id), itoa(l.id), u.code, u.name, flag(u.unspecified), flag(true), atMidnight(u.start), null,
			l.iso3, l.name, flag(l.plan), flag(l.appeal))
	}
}

func (v *views) viewAdmin2(s *stream) {
	for _, u := range v.world.admin2 {
		a := u.parent
		l := a.location
		s.cells(itoa(u.id), itoa(a.id), u.code, u.name, flag(u.unspecified), flag(true), atMidnight(u.start), null,
			a.code, a.name, flag(a.unspecified), itoa(l.id), l.iso3, l.name, flag(l.plan), flag(l.appeal))
	}
}

func (v *views) viewDatasets(s *stream) {
	for _, d := range v.world.packages.datasets {
		if d.always || d.used.Load() {
			s.cells(d.id, d.name, d.title, d.provider, d.publisher)
		}
	}
}

func (v *views) viewResources(s *stream) {
	for _, d := range v.world.packages.datasets {
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
	for _, o := range v.world.orgs {
		s.cells(o.acronym, o.name, cmp.Or(o.kind, null), cmp.Or(o.kindName, null))
	}
}

func (v *views) viewCommodities(s *stream) {
	for _, c := range v.world.commodities {
		s.cells(c.code, c.category, c.name)
	}
}

func (v *views) viewMarkets(s *stream) {
	columns := bindView("wfp_market", viewHeaders["wfp_market"], nil)
	for _, m := range v.world.markets {
		s.put(columns, &row{at: m.at, market: m})
	}
}
