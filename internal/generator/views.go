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

// writeLists writes the dumps of what rows refer to.
func (v *views) writeLists() error {
	views := "location admin1 admin2 dataset resource org_type org sector currency wfp_commodity wfp_market"
	for view := range strings.FieldsSeq(views) {
		s, err := v.begin(view, viewHeaders[view])
		if err != nil {
			return err
		}
		v.list(view, s)
		if _, err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// flag is a boolean as psql writes it.
func flag(b bool) string { return [...]string{"f", "t"}[b2i(b)] }

func atMidnight(d day) string { return d.String() + midnight }

// list writes the rows of a dump.
func (v *views) list(view string, s *stream) {
	w := v.world
	switch view {
	case "location":
		for _, l := range w.locations {
			s.row(itoa(l.id), l.iso3, l.name, flag(true), flag(l.plan), flag(l.appeal), atMidnight(l.start), null)
		}
	case "admin1":
		for _, u := range w.admin1 {
			l := u.location
			s.row(itoa(u.id), itoa(l.id), u.code, u.name, flag(u.unspecified), flag(true), atMidnight(u.start), null,
				l.iso3, l.name, flag(l.plan), flag(l.appeal))
		}
	case "admin2":
		for _, u := range w.admin2 {
			a := u.parent
			l := a.location
			s.row(itoa(u.id), itoa(a.id), u.code, u.name, flag(u.unspecified), flag(true), atMidnight(u.start), null,
				a.code, a.name, flag(a.unspecified), itoa(l.id), l.iso3, l.name, flag(l.plan), flag(l.appeal))
		}
	case "dataset":
		for _, d := range w.packages.datasets {
			if d.always || d.used.Load() {
				s.row(d.id, d.name, d.title, d.provider, d.publisher)
			}
		}
	case "resource":
		v.resources(s)
	case "org":
		for _, o := range w.orgs {
			s.row(o.acronym, o.name, cmp.Or(o.kind, null), cmp.Or(o.kindName, null))
		}
	case "wfp_commodity":
		for _, c := range w.commodities {
			s.row(c.code, c.category, c.name)
		}
	case "wfp_market":
		columns := bindView(view, viewHeaders[view], nil)
		for _, m := range w.markets {
			s.put(columns, &row{at: m.at, market: m})
		}
	}
	for _, p := range map[string][]pair{"org_type": orgTypes, "sector": sectors, "currency": currencies}[view] {
		s.row(p.code, p.name)
	}
}

func (v *views) resources(s *stream) {
	for _, d := range v.world.packages.datasets {
		for _, r := range d.resources {
			if r.used.Load() {
				updated := strings.Replace(r.modified[:len("2006-01-02T15:04:05")], "T", " ", 1)
				s.row(r.id, d.id, r.name, strings.ToLower(r.format), updated, flag(r.check.tagged()), r.url, v.loaded,
					d.name, d.title, d.provider, d.publisher)
			}
		}
	}
}
