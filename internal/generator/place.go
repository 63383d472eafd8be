package generator

// place is where a row is: what a CSV shows of it, and the unit it belongs to.
type place struct {
	iso3         string // the CSV's location_code
	pa1, pa2     string // names as the provider sent them
	code1, name1 string // as matched upstream
	code2, name2 string
	level        string // the CSV's admin_level, which loaders must ignore
	wrongFlags   bool   // the CSV's flags are the opposite of the country's

	unit *admin2
}

// admin1 is the first-level unit of a place: the parent of its unit.
func (p *place) admin1() *admin1 { return p.unit.parent }

func (p *place) location() *location { return p.unit.parent.location }

// trueLevel is the admin_level of a record at this place.
func (p *place) trueLevel() int {
	switch {
	case p.pa2 != "" || !p.unit.unspecified:
		return 2
	case p.pa1 != "" || !p.unit.parent.unspecified:
		return 1
	}
	return 0
}

// showPlaces makes the ordinary place of every location and unit, and the trap places.
func (w *world) showPlaces() {
	r := newRandom(w.seed, "places")
	for _, l := range w.locations {
		w.national = append(w.national, &place{iso3: l.iso3, level: "0", unit: l.unspecified})
	}
	w.first = make([]*place, len(w.admin1))
	for i, u := range w.admin1 {
		if u.unspecified {
			continue
		}
		w.first[i] = &place{
			iso3: u.location.iso3, pa1: asSent(r, u.name), code1: u.code, name1: u.name, level: "1",
			unit: u.connector,
		}
	}
	w.second = make([]*place, len(w.admin2))
	for i, u := range w.admin2 {
		if u.unspecified || u.parent.unspecified {
			continue
		}
		l := u.parent.location
		p := &place{
			iso3: l.iso3, pa1: w.first[u.parent.id-1].pa1, pa2: asSent(r, u.name), level: "2",
			code1: u.parent.code, name1: u.parent.name, code2: u.code, name2: u.name, unit: u,
		}
		switch {
		case u.name == "": // known by its provider's name
			p.pa2 = "Nameless"
		case r.chance(2):
			p.pa1, p.pa2 = "", "" // only the matched names were sent
		case (l.iso3 == "NGA" || l.iso3 == "CMR") && r.chance(20):
			// The CSV names another first-level unit than the parent of the second-level one.
			other := pick(r, l.units1)
			p.code1, p.name1, p.pa1 = other.code, other.name, other.name
		}
		w.second[i] = p
	}
	for i, p := range w.showTraps() {
		if i%w.sizes.trapStep == 0 {
			w.traps = append(w.traps, p)
		}
	}
}

// placesOf returns the places of a location's units of a level.
func (w *world) placesOf(l *location, level int) []*place {
	var all []*place
	switch level {
	case 0:
		all = append(all, w.national[l.id-1])
	case 1:
		for _, u := range l.units1 {
			all = append(all, w.first[u.id-1])
		}
	case 2:
		for _, u := range l.units2 {
			if p := w.second[u.id-1]; p != nil {
				all = append(all, p)
			}
		}
	}
	return all
}

func hasPlan(l *location) bool { return l.plan }

// someOf returns at most n places of a level, the same share of each country that fits.
func (w *world) someOf(n, level int, fits func(*location) bool) []*place {
	var all []*place
	for _, l := range w.deep {
		if fits(l) {
			all = append(all, w.placesOf(l, level)...)
		}
	}
	if len(all) <= n {
		return all
	}
	some := make([]*place, 0, n)
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}
