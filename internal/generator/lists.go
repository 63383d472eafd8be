package generator

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
)

//go:embed currencies.txt
var currenciesText string

//go:embed org_types.txt
var orgTypesText string

//go:embed sectors.txt
var sectorsText string

// The vocabularies that rows refer to. The last four entries of the first two are not in the
// published lists: loaders have them built in.
var (
	orgTypes   = pairsOf(orgTypesText)
	sectors    = pairsOf(sectorsText)
	currencies = pairsOf(currenciesText)
)

func pairsOf(text string) (all []pair) {
	for line := range strings.Lines(text) {
		code, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all = append(all, pair{code, name})
	}
	return all
}

const builtIn = 4 // entries at the end of both vocabularies that are not in the lists

// oddOrgs are organisations whose names are hard to write as CSV, or whose acronyms are not unique.
var oddOrgs = []*org{
	{"JRS", "Joint Relief Society", "437", ""},
	{"JRS", "Jeunes pour la Réinsertion Sociale", "441", ""},
	{"AÇÃO", "Ação, “Água” e Vida; São Tomé", "441", ""},
	{"NOUR", "جمعية النور للإغاثة", "441", ""},
	{"援助", "北山援助会", "443", ""},
	{"\"Q\"", "The \"Quoted\" Group, Inc.", "444", ""},
	{"LINES", "Two Lines\nof a Name", "443", ""},
	{"BLANKS ", " Blank before and after ", "443", ""},
	{"No type yet", "An organisation without a type", "", ""},
	{"", "An organisation without an acronym", "446", ""},
	{"WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", strings.Repeat("Long name ", 51) + "ok", "443", ""},
	{"P%", "100%_sure\\ly", "504", ""},
	{"wfp-like", "World Food Pretence", "447", ""},
}

func (w *world) inventOrgs(r *random) {
	kinds := map[string]string{}
	for _, k := range orgTypes {
		kinds[k.code] = k.name
	}
	seen := map[pair]bool{}
	add := func(o *org) {
		if k := (pair{o.acronym, o.name}); !seen[k] {
			seen[k] = true
			o.kindName = kinds[o.kind]
			w.orgs = append(w.orgs, o)
		}
	}
	for _, o := range oddOrgs {
		add(&org{o.acronym, o.name, o.kind, ""})
	}
	for i, k := range orgTypes { // every type occurs
		acronym, name := orgName(r)
		add(&org{fmt.Sprintf("%s%d", acronym, i), name, k.code, ""})
	}
	for len(w.orgs) < w.sizes.orgs {
		acronym, name := orgName(r)
		kind := "441"
		if r.chance(45) {
			kind = orgTypes[r.below(len(orgTypes)-builtIn)].code
		}
		if r.chance(1) {
			kind = ""
		}
		if seen[pair{acronym, name}] {
			name += fmt.Sprintf(" %d", len(w.orgs))
		}
		add(&org{acronym, name, kind, ""})
	}
}

func (w *world) inventCommodities(r *random) {
	for i := range w.sizes.commodities {
		base := foodBases[i%len(foodBases)]
		name := base + foodKinds[i/len(foodBases)%len(foodKinds)]
		if n := i / (len(foodBases) * len(foodKinds)); n > 0 {
			name = fmt.Sprintf("%s no. %d", name, n+1)
		}
		w.commodities = append(w.commodities, &commodity{
			categories[i%len(categories)], name, itoa(50 + i*7 + r.below(7)),
			cmp.Or(foodMeasures[i%len(foodBases)], "KG"), 0.4 + 3*r.unit(),
		})
	}
}

func (w *world) inventMarkets(r *random) {
	places := append([]*place(nil), w.traps...)
	seconds := w.someOf(w.sizes.markets, 2, func(*location) bool { return true })
	for i := range w.sizes.markets {
		m := &market{code: itoa(101 + i*3 + r.below(3))}
		switch {
		case i < len(places):
			m.at = places[i]
		case i%15 == 3:
			m.at = w.national[w.deep[i/15%len(w.deep)].id-1]
		case i%15 == 7:
			l := w.deep[i/15%len(w.deep)]
			m.at = w.first[l.units1[i%len(l.units1)].id-1]
		default:
			m.at = seconds[i*7919%len(seconds)]
		}
		l := m.at.location()
		m.name = l.language.place(r)
		if m.at.level == "0" {
			m.name = "National Average"
		} else if r.chance(97) {
			// The search has its own random numbers: all else is the same however long it is.
			m.lat, m.lon = placeIn(&random{state: r.next() ^ r.next()>>1}, l.iso3)
		}
		switch i {
		case 3:
			m.name = "سوق النور"
		case 4:
			m.name = `Marché "central", nº 1`
		case 5:
			m.name = " Kariba Street "
			m.lat, m.lon = trim(-90, 0), trim(180, 0)
		}
		w.markets = append(w.markets, m)
	}
}
