package generator

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// countriesText has a line for each country: ISO 3166-1 codes, UN M49 code, whether it has a plan
// (H) or an appeal (G), the UN M49 code of its smallest region, the World Bank's income level, the
// ISO 4217 code of its currency, and its name. A - is nothing.
//
//go:embed countries.txt
var countriesText string

// regionsText has the UN M49 regions: code, region, sub-region and intermediate region. Antarctica
// is in none.
//
//go:embed regions.txt
var regionsText string

var regions = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(regionsText) {
		code, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		all[code] = strings.Split(names, "|")
	}
	return all
}()

var incomes = map[string]string{"L": "Low", "M": "Lower middle", "U": "Upper middle", "H": "High"}

// world holds everything that rows refer to.
type world struct {
	seed  uint64
	sizes sizes

	taxonomy  []*location // every row of the list, also those without an ISO code
	locations []*location
	byCode    map[string]*location
	codes     []codeLine // the list of p-codes, line by line
	admin1    []*admin1  // ids in this order
	admin2    []*admin2
	deep      []*location               // locations with units below them, those with a plan first
	hosts     map[*location][]*location // of each of these: the other locations, the nearest first

	orgs        []*org
	commodities []*commodity
	markets     []*market
	packages    packages

	national []*place // of each location
	first    []*place // of each admin1 except placeholders
	second   []*place // of each admin2 except placeholders
	traps    []*place // trap places, each different from all other places
}

type pair struct{ code, name string }

// location is a row of the country taxonomy. A row without an ISO code is no location and has id 0.
type location struct {
	id            int
	iso3, iso2    string
	m49           string
	name          string   // as printed
	preferred, un string   // the two columns that name is made of
	plan, appeal  bool     // has_hrp and in_gho
	classes       []string // region, sub-region, intermediate region and income level; empty: in none
	start         day
	condition     condition
	currency      string
	language      language
	units1        []*admin1
	units2        []*admin2
	unspecified   *admin2 // of rows without a unit
}

type admin1 struct {
	id          int
	code, name  string
	location    *location
	start       day
	unspecified bool
	connector   *admin2
	units       []*admin2
	crowd       crowd
}

type admin2 struct {
	id          int
	code, name  string
	parent      *admin1
	start       day
	unspecified bool
	crowd       crowd
}

// codeLine is a line of the list of p-codes.
type codeLine struct {
	iso3               string
	level              int
	code, name, parent string
	start              day
}

type org struct {
	acronym, name, kind, kindName string
}

type commodity struct {
	category, name, code string
	measure              string  // in which most markets sell it
	dollars              float64 // what one costs, more or less
}

type market struct {
	at         *place
	code, name string
	lat, lon   number
}

func newWorld(o Options) *world {
	w := &world{seed: o.Seed, sizes: sized(o), byCode: map[string]*location{}}
	w.packages = packages{seed: o.Seed, byName: map[string]*dataset{}}
	w.readCountries()
	w.inventUnits()
	w.numberUnits()
	populate(w)
	findHosts(w)
	w.showPlaces()
	w.inventOrgs(newRandom(w.seed, "orgs"))
	w.inventCommodities(newRandom(w.seed, "commodities"))
	w.inventMarkets(newRandom(w.seed, "markets"))
	w.packages.invent(w.deep)
	return w
}

// uncoded are rows of the taxonomy without an ISO code, by the country that they follow. They get
// no id.
var uncoded = map[string]*location{
	"KOR": {iso3: "XKX", iso2: "XK", preferred: "Kosovo"},
	"NPL": {iso3: "ANT", iso2: "AN", preferred: "Netherlands Antilles"},
	"BWA": {iso3: "AZO", preferred: "Azores Islands"},
}

func (w *world) readCountries() {
	for i, line := range strings.Split(strings.TrimSpace(countriesText), "\n") {
		f := strings.SplitN(line, " ", 8)
		if only := w.sizes.countries; len(only) > 0 && !slices.Contains(only, f[0]) {
			continue
		}
		l := &location{
			id: len(w.locations) + 1, iso3: f[0], iso2: f[1], m49: f[2], name: f[7], preferred: f[7], un: f[7],
			plan: f[3] == "H", appeal: f[3] != "-", start: date(1974, 1, 1), currency: f[6],
			classes:  slices.Concat(regions[f[4]], []string{incomes[f[5]]}),
			language: language(hashOf(w.seed, f[0]) % uint64(len(wordLists["first"]))),
		}
		switch {
		case l.iso3 == "TWN":
			l.un = "" // printed by its preferred term
		case l.iso3 == "CIV":
			l.preferred = "Cote d'Ivoire" // printed by its United Nations name
		case i%4 == 0:
			l.start = date(1975+i%40, 1+i%12, 1+i%28)
		}
		w.locations = append(w.locations, l)
		w.byCode[l.iso3] = l
		w.taxonomy = append(w.taxonomy, l)
		if s, ok := uncoded[l.iso3]; ok {
			w.taxonomy = append(w.taxonomy, s)
		}
	}
}

// inventUnits makes the list of p-codes: by country, in each country the first level before the
// second.
func (w *world) inventUnits() {
	r := newRandom(w.seed, "units")
	for _, plan := range []int{2, 1, 0} {
		for _, l := range w.locations {
			if b2i(l.plan)+b2i(l.appeal) == plan && len(w.deep) < w.sizes.deepCountries {
				w.deep = append(w.deep, l)
			}
		}
	}
	ecuador := w.byCode["ECU"]
	if !slices.Contains(w.deep, ecuador) { // its units are a trap
		w.deep = append(w.deep, ecuador)
	}
	share := map[*location]float64{}
	var planned, others, plans float64
	for _, l := range w.deep {
		share[l] = 0.15 + r.unit()*r.unit()
		if l.plan {
			share[l] = 0.5 + r.unit()
			planned += share[l]
			plans++
		} else {
			share[l] *= r.unit() * 2
			others += share[l]
		}
	}
	// Countries with a plan have 0.16 of the units of the real list.
	ofPlans := min(0.84, 1.26*plans/float64(len(w.deep)))
	for _, l := range w.locations {
		if share[l] == 0 {
			w.codes = append(w.codes, trapCodes[l.iso3]...)
			continue
		}
		part := (1 - ofPlans) * share[l] / others
		if l.plan {
			part = ofPlans * share[l] / planned
		}
		w.inventCountry(r, l, max(2, int(float64(w.sizes.admin1)*part+0.5)),
			max(3, int(float64(w.sizes.admin2)*part+0.5)))
		w.codes = append(w.codes, trapCodes[l.iso3]...)
	}
}

func (w *world) inventCountry(r *random, l *location, firsts, seconds int) {
	valid := date(2016+r.below(9), 1+r.below(12), 1+r.below(28))
	digits := 2
	if l.iso3 == "NGA" || firsts > 99 {
		digits = 3
	}
	codes := make([]string, firsts)
	for i := range codes {
		codes[i] = fmt.Sprintf("%s%0*d", l.iso2, digits, i+1)
		w.codes = append(w.codes, codeLine{l.iso3, 1, codes[i], l.language.place(r), l.iso3, valid})
	}
	// One first-level unit in six has no units below it, as in the real list.
	var parents []string
	for i, code := range codes {
		if i == 0 || !r.chance(17) {
			parents = append(parents, code)
		}
	}
	for i := range seconds {
		parent := i * len(parents) / seconds
		number := i - (parent*seconds+len(parents)-1)/len(parents) + 1
		code := parents[parent] + fmt.Sprintf("%0*d", digits, number)
		w.codes = append(w.codes, codeLine{l.iso3, 2, code, l.language.place(r), parents[parent], valid})
	}
}

// numberUnits turns the list of p-codes into units with the incumbent's ids. In each level the
// units come first, in file order, then the placeholders ("connectors"): those of the first level
// in location order, those of the second by the ids of the first.
func (w *world) numberUnits() {
	byCode := map[string]*admin1{}
	for _, c := range w.codes {
		l, known := w.byCode[c.iso3]
		if c.level != 1 || !known {
			continue
		}
		u := &admin1{id: len(w.admin1) + 1, code: c.code, name: c.name, location: l, start: c.start}
		byCode[c.code] = u
		l.units1 = append(l.units1, u)
		w.admin1 = append(w.admin1, u)
	}
	for _, l := range w.locations {
		u := &admin1{
			id: len(w.admin1) + 1, code: l.iso3 + "-XXX", name: "UNSPECIFIED", location: l, start: l.start,
			unspecified: true,
		}
		byCode[u.code] = u
		w.admin1 = append(w.admin1, u)
	}
	for _, c := range w.codes {
		parent := byCode[c.parent]
		if c.code == orphanCode {
			parent = byCode["SSD-XXX"]
		}
		if c.level != 2 || parent == nil {
			continue // a second-level unit without a first-level parent is skipped
		}
		u := &admin2{id: len(w.admin2) + 1, code: c.code, name: c.name, parent: parent, start: c.start}
		parent.units = append(parent.units, u)
		parent.location.units2 = append(parent.location.units2, u)
		w.admin2 = append(w.admin2, u)
	}
	for _, a := range w.admin1 {
		a.connector = &admin2{
			id: len(w.admin2) + 1, code: a.code + "-XXX", name: "UNSPECIFIED", parent: a,
			start: a.start, unspecified: true,
		}
		w.admin2 = append(w.admin2, a.connector)
		if a.unspecified {
			a.location.unspecified = a.connector
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func itoa(n int) string { return strconv.Itoa(n) }
