package generator

import "strings"

// writeLists writes the reference files.
func (w *world) writeLists(dir string) ([]manifestEntry, error) {
	var entries []manifestEntry
	for _, list := range []struct {
		role string
		fill func(*line)
	}{
		{"location", w.putLocations},
		{"pcodes", w.putCodes},
		{"org", w.putOrgs},
		{"org-type", w.putOrgTypes},
		{"sector", w.putSectors},
		{"market", w.putMarkets},
		{"commodity", w.putCommodities},
		{"currency", w.putCurrencies},
	} {
		l := &line{ends: "\n"}
		if list.role == "location" {
			l.ends = "\r\n"
		}
		list.fill(l)
		written, err := writeWhole(dir, "reference/"+list.role+".csv", l.buf)
		if err != nil {
			return nil, err
		}
		entries = append(entries, manifestEntry{
			Role: list.role, Path: written.Path, Size: written.Bytes,
			SHA256: written.SHA256,
		})
	}
	return entries, nil
}

func (l *line) header(names string) { l.row(strings.Split(names, ",")...) }

func yes(b bool) string {
	if b {
		return "Y"
	}
	return ""
}

func (d day) String() string { return string(appendDay(nil, d)) }

func (w *world) putLocations(l *line) {
	l.header("ID,m49 numerical code,Has HRP,In GHO,ISO 3166-1 Alpha 2-Codes,ISO 3166-1 Alpha 3-Codes,x Alpha2 " +
		"codes,x Alpha3 codes," +
		"Preferred Term,M49 English,Reference Period Start")
	for i, c := range w.taxonomy {
		if c.id == 0 {
			l.row(itoa(i+1), "", "", "", "", "", c.iso2, c.iso3, c.preferred, "", "1974-01-01")
			continue
		}
		l.row(itoa(i+1), c.m49, yes(c.plan), yes(c.appeal), c.iso2, c.iso3, "", "", c.preferred, c.un, c.start.String())
	}
}

func (w *world) putCodes(l *line) {
	l.header("Location,Admin Level,P-Code,Name,Parent P-Code,Valid from date")
	for _, c := range w.codes {
		l.row(c.iso3, itoa(c.level), c.code, c.name, c.parent, c.start.String())
	}
}

func (w *world) putOrgs(l *line) {
	l.header("acronym,name,org_type_code,org_type_description")
	for _, o := range w.orgs {
		l.row(o.acronym, o.name, o.kind, o.kindName)
	}
}

func (w *world) putOrgTypes(l *line) {
	l.header("HR.info ID,Preferred Term,Scope,Date Added (dd/mm/yyyy)")
	for _, t := range w.orgTypes[:len(w.orgTypes)-builtIn] {
		l.row(t.code, t.name, "Made up, as this sentence is.", "16/03/2017")
	}
}

func (w *world) putSectors(l *line) {
	l.header("HRinfo ID,Preferred Term,ACRONYM,Group Type")
	for i, s := range w.sectors[:len(w.sectors)-builtIn] {
		l.row(itoa(i+1), s.name, s.code, "Cluster")
	}
}

func (w *world) putMarkets(l *line) {
	columns := bind(csvHeaders["market"], putCSV)
	l.header(csvHeaders["market"])
	put := func(r *row) {
		for i := range columns {
			l.cell()
			columns[i].put(l, r)
		}
		l.end()
	}
	src := w.source("food-prices", 0)
	for i, m := range w.markets {
		r := row{at: m.at, market: m, src: src}
		if i%9 == 4 {
			r.warning = warnings[0]
		}
		put(&r)
	}
	put(&row{
		at: w.nowhere(), market: &market{code: "1", name: "A market of no country"}, src: src,
		fault: errorTexts[0],
	})
}

func (w *world) putCommodities(l *line) {
	l.header("category,name,code")
	for _, c := range w.commodities {
		l.row(c.category, c.name, c.code)
	}
}

func (w *world) putCurrencies(l *line) {
	l.header("code,name")
	for _, c := range w.currencies {
		l.row(c.code, c.name)
	}
}

// writePackages writes the package_show answer of each dataset, of all or of those that rows refer
// to.
func (w *world) writePackages(dir string, all bool) error {
	for _, d := range w.datasets {
		if !all && !d.always && !d.used.Load() {
			continue
		}
		text, err := d.packageJSON()
		if err != nil {
			return err
		}
		if _, err := writeWhole(dir, "packages/"+d.name+".json", text); err != nil {
			return err
		}
	}
	return nil
}
