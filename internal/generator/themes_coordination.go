package generator

import (
	"fmt"
	"math"
	"slices"
)

var eventTypes = enum("event_type")

// conflictFiles is one file per year, sorted by event type, then month, then place. Countries
// without a plan report as a whole.
func (w *world) conflictFiles() []file {
	s := w.sizes
	units := w.someOf(s.conflictUnits, 2, hasPlan)
	rows := func(year int, emit func(*row)) {
		// Coverage grows: a fifth of the units in the first year, all in the last.
		part := 1.0
		if span := lastYear - s.conflictFrom; span > 5 {
			part = 0.2 + 0.8*float64(year-s.conflictFrom)/float64(span)
		}
		reporting := units[:int(float64(len(units))*part)]
		from, to := 1, 12
		switch year {
		case lastYear:
			to = s.conflictLast
		case s.conflictFrom:
			from = 13 - s.conflictMonths
		}
		w.conflictYear(year, from, to, reporting, emit)
		if year == lastYear {
			w.trapRows(w.packages.source("political-violence-events", 0), emit, func(r *row, i int) {
				r.kind, r.count, r.deaths = eventTypes[i%3], i, i/2
				r.countNull, r.deathsNull = i == 4, i%3 == 1 || i == 4
			})
		}
	}
	files := numbered("hdx_hapi_conflict_event_global_%d.csv", s.conflictFrom, lastYear, rows)
	files[0].tagged = true
	return files
}

func (w *world) conflictYear(year, from, to int, units []*place, emit func(*row)) {
	var places []*place
	for i, l := range w.locations {
		if !l.plan && (len(w.deep) > 100 || l.appeal && i%5 == 0) {
			places = append(places, w.national[l.id-1])
		}
	}
	places = append(places, units...)
	sources := []*resource{
		w.packages.source("civilian-targeting-events", 0), w.packages.source("demonstration-events", 0),
		w.packages.source("political-violence-events", 0),
	}
	for kind, event := range eventTypes {
		for m := from; m <= to; m++ {
			first, last := month(year, m)
			for _, at := range places {
				one := row{at: at, src: sources[kind], start: first, end: last, kind: event}
				one.deathsNull = kind == 1
				one.count, one.deaths = eventsOf(w.seed, at, kind, first)
				if at.name1 != "" && at.code1 != at.admin1().code {
					one.warning = "PCode unknown " + at.code1 + "->" + at.code2
				}
				emit(&one)
			}
		}
	}
}

// eventsOf are the events of a kind at a place in a month, and the deaths in them. Those against
// civilians are a part of political violence, which differs by country.
func eventsOf(seed uint64, at *place, kind int, month day) (events, deaths int) {
	r := &random{state: seed ^ mix(uint64(at.unit.id)<<32|uint64(month))}
	violence := at.location().condition.violence
	political := int(violence * float64(r.below(40)))
	killed := political * r.below(200) / 100
	against := political * r.below(60) / 100
	switch kind {
	case 0:
		return against, killed * against / max(1, 2*political)
	case 1:
		return r.below(2 + int(4*violence)), 0
	}
	return political, killed
}

// presenceRows are who does what, where, by country with a plan.
func (w *world) presenceRows(emit func(*row)) {
	r := newRandom(w.seed, "presence")
	var plans []*location
	for _, l := range w.deep {
		if l.plan {
			plans = append(plans, l)
		}
	}
	for i, l := range plans {
		rows := w.sizes.presence / len(plans)
		start, end := date(lastYear, 1+i%7, 1), date(lastYear, 4+i%7, 0)
		switch i % 7 {
		case 3:
			end = noDay
		case 5:
			end = date(2029, 12, 30)
		}
		units := append(w.placesOf(l, 2), w.placesOf(l, 1)...)
		units = append(units, w.placesOf(l, 0)...)
		src := w.packages.source(l.stub()+"-operational-presence", i%2)
		w.presenceOf(r, rows, units, row{src: src, start: start, end: end}, emit)
	}
	src := w.packages.source(plans[0].stub()+"-operational-presence", b2i(len(plans) > 3))
	w.trapRows(src, emit, func(r *row, i int) {
		r.org, r.sector = w.orgs[i%len(oddOrgs)], sectors[i%len(sectors)]
		if r.at.iso3 == "CAN" { // what has no end counts as new
			r.end = noDay
		}
	})
	for i := range w.orgs[:len(oddOrgs)+len(orgTypes)] { // every odd organisation and every type
		emit(&row{
			at: w.national[w.deep[0].id-1], src: src, start: trapDay + 2, end: trapEnd, org: w.orgs[i],
			sector: sectors[i%len(sectors)],
		})
	}
}

// presenceOf spreads rows over units: an organisation works in a few sectors, in neighbouring
// places.
func (w *world) presenceOf(r *random, rows int, units []*place, like row, emit func(*row)) {
	type key struct {
		at     *place
		org    *org
		sector int
	}
	seen := map[key]bool{}
	for made := 0; made < rows; {
		o := w.orgs[len(oddOrgs)+r.skewed(len(w.orgs)-len(oddOrgs))]
		sector := r.below(len(sectors))
		from := r.below(len(units))
		for at := from; at < min(len(units), from+1+r.skewed(25)); at++ {
			k := key{units[at], o, sector}
			if made++; seen[k] {
				continue
			}
			seen[k] = true
			one := like
			one.at, one.org, one.sector = units[at], o, sectors[sector]
			if r.chance(1) {
				one.fault = "No sector for entity, row left out"
			}
			emit(&one)
		}
	}
}

var appealKinds = []string{"Humanitarian response plan", "Flash appeal", "Regional response plan", "CAP", "Other"}

func (w *world) fundingRows(emit func(*row)) {
	r := newRandom(w.seed, "funding")
	for _, l := range w.deep {
		src := w.packages.source("fts-requirements-and-funding-"+l.stub(), 0)
		for year := lastYear + 1; year >= w.sizes.fundingFrom; year-- {
			one := row{home: l, src: src, start: date(year, 1, 1), end: date(year, 12, 31)}
			// A plan asks for more money each year. For the next year, little is given yet.
			c := &l.condition
			needed := 1_000_000 + r.part(c.crowd.need, c.targeted*c.perHead*max(0.3, 1-0.06*float64(lastYear-year)), 8)
			given := r.part(needed, c.funded, 15)
			if year > lastYear {
				given /= 20
			}
			one.appeal = appeal{
				code: "Not specified", name: "Not specified", given: r.part(given, 0.15, 60), neededNull: true, pctNull: true,
			}
			emit(&one)
			if !l.plan && year != lastYear && !r.chance(30) {
				continue
			}
			one.appeal = appeal{
				code: fmt.Sprintf("H%s%02d", l.iso3, year%100),
				name: fmt.Sprintf("%s Response Plan %d (invented)", l.name, year),
				kind: pick(r, appealKinds), needed: needed, given: given, pct: given * 100 / needed,
			}
			emit(&one)
		}
	}
	w.fundingTraps(emit)
}

func (w *world) fundingTraps(emit func(*row)) {
	src := w.packages.source("fts-requirements-and-funding-"+w.deep[0].stub(), 0)
	one := row{home: w.deep[0], src: src, start: trapDay, end: trapEnd}
	for _, a := range []appeal{ // code, name, kind, needed, given, per cent, which are null
		{"FOVER1", "More than was asked", "Flash appeal", 1_000_000, 1_640_000, 164, false, false},
		{"FZERO1", "Asked for nothing, got nothing", "Other", 0, 0, 0, false, true},
		{"FNULL1", `Appeal "without", type`, "", 5, 0, 0, false, false},
		{"flow%_er", "Größe – نداء – 呼吁", "Sonstige Größe", 0, 7, 0, true, true},
		{"FBIG01", "More than 32 bits", "Other", 51_000_000_000, 4_294_967_296, 8, false, false},
	} {
		one.appeal = a
		emit(&one)
	}
	one.appeal.code, one.start, one.end, one.fault = "FBACK1", trapEnd, trapDay, "Start date occurs after end date"
	emit(&one)
	one = row{home: w.deep[0], homeCode: "XKX", src: src, start: trapDay, end: trapEnd, fault: errorTexts[0]}
	one.appeal = appeal{code: "FXKX01", name: "Nowhere", given: 1, neededNull: true, pctNull: true}
	emit(&one)
	one.homeCode, one.fault, one.appeal.code, one.src = "", "", "FLOST1", w.packages.unknown(0)
	emit(&one)
}

// riskRows are the countries with units and some of the others, the last of which have rare values.
func (w *world) riskRows(emit func(*row)) {
	r := newRandom(w.seed, "risk")
	src := w.packages.source("inform-risk-index-made-up", 1)
	others := slices.DeleteFunc(slices.Clone(w.locations), func(l *location) bool { return slices.Contains(w.deep, l) })
	all := make([]*row, w.sizes.riskCountries)
	overall := make([]int, len(all))
	for i := range all {
		risk := &riskRow{missing: floating(float64(r.below(18)) / 51), recentness: floating(float64(r.below(60)) / 67)}
		one := &row{src: src, risk: risk, start: date(lastYear, 1, 1), end: date(lastYear, 12, 31)}
		if one.home = w.deep[i%len(w.deep)]; i >= len(w.deep) {
			one.home = others[(i-len(w.deep))*len(others)/(len(all)-len(w.deep))]
		}
		c := &one.home.condition
		level, product := 15+30*c.poor+25*c.violence+15*r.unit()+15*float64(b2i(one.home.plan)), 1.0
		for k := range risk.risks[1:] {
			n := min(100, max(0, int(level)+r.between(-5, 5)))
			risk.risks[1+k], product = fix(n, 1), product*float64(n)
		}
		overall[i] = int(math.Round(math.Cbrt(product)))
		switch len(all) - i {
		case 1:
			risk.missing, risk.recentness = number{}, number{}
		case 2:
			risk.missing, risk.recentness = fix(0, 0), floating(1.25e-5)
		case 3:
			risk.risks, overall[i] = [4]number{{}, fix(10, 0), fix(100, 1), fix(0, 1)}, 0
		}
		risk.risks[0], all[i] = fix(overall[i], 1), one
	}
	worst := slices.SortedStableFunc(slices.Values(overall), func(a, b int) int { return b - a })
	for i, one := range all {
		one.risk.rank = 1 + slices.Index(worst, overall[i])
		for _, least := range []int{0, 20, 35, 50, 65} { // of the classes of the index, from 1 to 5
			one.risk.class += b2i(overall[i] >= least)
		}
		emit(one)
	}
}
