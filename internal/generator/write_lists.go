package generator

import (
	"slices"
	"strings"
)

func (w *world) writeLists(dir string) ([]manifestEntry, error) {
	var entries []manifestEntry
	for role := range strings.FieldsSeq("location pcodes org org-type sector market commodity currency") {
		l := &line{ends: "\n"}
		if role == "location" {
			l.ends = "\r\n"
		}
		l.row(csvHeaders[role]...)
		for _, cells := range w.list(role) {
			l.row(cells...)
		}
		if role == "market" {
			w.putMarkets(l)
		}
		done, err := writeWhole(dir, "reference/"+role+".csv", l.buf)
		if err != nil {
			return nil, err
		}
		entries = append(entries, manifestEntry{Role: role, Path: done.path, Size: done.size, SHA256: done.sha256})
	}
	return entries, nil
}

func yes(b bool) string {
	if b {
		return "Y"
	}
	return ""
}

// list is the rows of a reference file.
func (w *world) list(role string) (rows [][]string) {
	add := func(cells ...string) { rows = append(rows, cells) }
	switch role {
	case "location":
		for i, c := range w.taxonomy {
			if c.id == 0 {
				add(itoa(i+1), "", "", "", "", "", c.iso2, c.iso3, c.preferred, "", "", "", "", "", "1974-01-01")
			} else {
				add(slices.Concat([]string{
					itoa(i + 1), c.m49, yes(c.plan), yes(c.appeal), c.iso2, c.iso3, "", "", c.preferred, c.un,
				}, c.classes, []string{c.start.String()})...)
			}
		}
	case "pcodes":
		for _, c := range w.codes {
			add(c.iso3, itoa(c.level), c.code, c.name, c.parent, c.start.String())
		}
	case "org":
		for _, o := range w.orgs {
			add(o.acronym, o.name, o.kind, o.kindName)
		}
	case "org-type":
		for _, t := range orgTypes[:len(orgTypes)-builtIn] {
			add(t.code, t.name, "Made up, as this sentence is.", "16/03/2017")
		}
	case "sector":
		for i, s := range sectors[:len(sectors)-builtIn] {
			add(itoa(i+1), s.name, s.code, "Cluster")
		}
	case "commodity":
		for _, c := range w.commodities {
			add(c.category, c.name, c.code)
		}
	case "currency":
		for _, c := range currencies {
			add(c.code, c.name)
		}
	}
	return rows
}

func (w *world) putMarkets(l *line) {
	columns := bind(csvHeaders["market"], putCSV, nil)
	src := w.packages.source("food-prices", 0)
	for i, m := range w.markets {
		r := row{at: m.at, market: m, src: src}
		if i%9 == 4 {
			r.warning = warnings[0]
		}
		l.put(columns, &r)
	}
	l.put(columns, &row{
		at: w.nowhere(), market: &market{code: "1", name: "A market of no country"}, src: src,
		fault: errorTexts[0],
	})
}

// write writes the package_show answer of each dataset, of all or of those that rows refer
// to.
func (p *packages) write(dir string, all bool) error {
	for _, d := range p.datasets {
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
