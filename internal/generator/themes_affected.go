package generator

import (
	"cmp"
	"fmt"
	"slices"
)

var (
	populationGroups   = enum("population_group")
	populationStatuses = enum("population_status")
	genders            = enum("gender")
	assessments        = []string{"BA", "SA", "ETT", "SRV", "FMS", "FMC", "FMSc", "REG"}
	needsCategories    = []string{
		"", "total", "Children", "Adult", "Elderly", "Adult - Female", "Adult - Male", "Children - Female",
		"Children - Male",
		"Personnes déplacées", "Host community, rural", "Refugees", "People with disability",
	}
)

// needsFiles is one file per year: for each unit some sectors, for each sector some categories, for
// each category the statuses.
func (w *world) needsFiles() []file {
	var plans []*place
	weights := 0
	for _, l := range w.deep {
		if l.plan {
			for level := range 3 {
				plans = append(plans, w.placesOf(l, level)...)
			}
			weights += nationalNeeds - 1
		}
	}
	weights += len(plans)
	rows := func(year int, emit func(*row)) {
		r := newRandom(w.seed, fmt.Sprintf("needs/%d", year))
		made, weight := 0, 0
		for _, at := range plans {
			if weight++; at.level == "0" {
				weight += nationalNeeds - 1
			}
			quota := w.sizes.needsRows * weight / weights
			src := w.packages.source(at.location().stub()+"-humanitarian-needs", lastYear-year)
			one := row{at: at, src: src, start: date(year, 1, 5), end: date(year, 12, 24)}
			made += needsOf(w, r, quota-made, year, one, emit)
		}
		if year < lastYear {
			return
		}
		src := w.packages.source(plans[0].location().stub()+"-humanitarian-needs", 0)
		w.trapRows(src, emit, func(r *row, i int) {
			r.sector, r.kind = sectors[i%len(sectors)], needsCategories[i%len(needsCategories)]
			r.state, r.count, r.odd = populationStatuses[i%5], i*1000, i == 6
			if r.fault != "" {
				r.fault, r.sector = "No cluster for entity 1", pair{}
			}
		})
	}
	return numbered("hdx_hapi_humanitarian_needs_global_%d.csv", lastYear-w.sizes.needsYears+1, lastYear, rows)
}

// nationalNeeds is how many times as many rows a country has as one of its units.
const nationalNeeds = 12

// needsKeys are the sectors and categories of needs, by position: first all sectors together with
// their ages, then each sector, then the categories of each.
var needsKeys = func() (all [][2]int) {
	const ages = 4 // everybody, and the next three categories
	for category := 1; category <= ages; category++ {
		all = append(all, [2]int{len(sectors) - 1, category})
	}
	for sector := range len(sectors) - 1 {
		all = append(all, [2]int{sector, 1})
	}
	for sector := range sectors {
		for category := 2 + (ages-1)*(sector/(len(sectors)-1)); category < len(needsCategories); category++ {
			all = append(all, [2]int{sector, category})
		}
	}
	return all
}()

// needsOf emits the needs of a place. A sector has a part of the people in need, a category a part
// of those, and the plan means to help a part of both: the same parts in all units of a country.
func needsOf(w *world, r *random, rows, year int, one row, emit func(*row)) int {
	need := one.at.crowd().need * (100 - 4*(lastYear-year)) / 100
	country := &one.at.location().condition
	parts := newRandom(w.seed, "sectors/"+one.at.iso3)
	bySector := make([]int, len(sectors))
	for i := range bySector {
		bySector[i] = int(float64(need) * (0.1 + 0.7*parts.unit()))
	}
	bySector[len(sectors)-1] = need // Intersectoral
	rows = min(rows, 3*len(needsKeys))
	for made := range rows {
		key := needsKeys[made/3]
		one.sector, one.kind, one.state = sectors[key[0]], needsCategories[key[1]], populationStatuses[1+made%3]
		people := float64(bySector[key[0]])
		switch one.state {
		case "REA":
			people *= country.targeted * country.reached
		case "TGT":
			people *= country.targeted
		}
		one.count, one.warning = categoryOf(int(people), key[1]), ""
		if r.chance(1) {
			one.warning = warnings[2]
		}
		emit(&one)
	}
	return rows
}

// categoryOf is how many of the people are in a category. Children, adults and the elderly add up
// to all, and the two halves to each of the first two.
func categoryOf(people, category int) int {
	children, elderly := people*48/100, people*6/100
	adults := people - children - elderly
	return [...]int{
		people, people, children, adults, elderly, adults / 2, adults - adults/2, children / 2, children - children/2,
		people / 4, people / 6, people / 20, people * 15 / 100,
	}[category]
}

var refugeeAges = []age{{"0-4", 0, 4}, {"5-11", 5, 11}, {"12-17", 12, 17}, {"18-59", 18, 59}, {"60+", 60, -1}, allAges}

// ageParts are the parts of people of each age, in per cent.
var ageParts = []float64{17, 20, 16, 41, 6}

// paths13 emits the thirteen rows of one year, pair of countries and group. The ages add up to the
// women and to the men, and these to all.
func paths13(r *random, one row, all int, emit func(*row)) {
	onlyTotal := r.chance(30)
	women := r.part(all, 0.5, 8)
	for i, gender := range []string{"f", "m"} {
		one.gender = gender
		people := [2]int{women, all - women}[i] * b2i(!onlyTotal)
		for k, part := range split(people, ageParts) {
			one.age, one.count = refugeeAges[k], part
			emit(&one)
		}
		one.age, one.count = allAges, people
		emit(&one)
	}
	one.gender, one.age, one.count = "all", allAges, all
	emit(&one)
}

// refugeeFiles is one file for every five years. The number of pairs grows.
func (w *world) refugeeFiles() []file {
	s := w.sizes
	var files []file
	for from := s.refugeeFrom / 5 * 5; from <= lastYear-1; from += 5 {
		to := min(from+4, lastYear-1)
		files = append(files, file{
			name:  fmt.Sprintf("hdx_hapi_refugees_global_%d_%d.csv", from, from+4),
			moved: from == 2015,
			rows: func(emit func(*row)) {
				src := w.packages.source("displacement-world", 0)
				for year := max(from, s.refugeeFrom); year <= to; year++ {
					r := newRandom(w.seed, fmt.Sprintf("refugees/%d", year))
					pairs := s.refugeePairs * (year - s.refugeeFrom + 10) / (lastYear - 1 - s.refugeeFrom + 10)
					for i := range pairs {
						w.refugeePair(r, i, year, row{src: src, start: date(year, 1, 1), end: date(year, 12, 31)}, emit)
					}
				}
				w.refugeeTraps(from, to, src, emit)
			},
		})
	}
	return files
}

// refugeePair is the i-th combination of two countries and a group. Each i is another one.
func (w *world) refugeePair(r *random, i, year int, one row, emit func(*row)) {
	common := []string{"REF", "ASY", "OIP", "ROC", "OOC"}
	group, rank := 0, i/len(w.deep)
	switch at := i % 20; {
	case rank == 0: // there are refugees of each country
	case at > 18:
		group = 4
	case at > 16:
		group = 2 + at%2
	case at > 9:
		group = 1
	}
	// The origins are the countries of w.deep in turn, each time with another host.
	one.home = w.deep[i%len(w.deep)]
	one.asylum = w.hosts[one.home][rank%len(w.hosts[one.home])]
	one.kind = common[group]
	share := one.home.condition.fled * [...]float64{0.4, 0.1, 0.02, 0.02, 0.02}[group] / float64(1+rank)
	share *= max(0.2, 1-0.06*float64(lastYear-1-year)) // there were fewer before
	paths13(r, one, 5+r.part(one.home.condition.crowd.people, share, 10), emit)
}

// findHosts orders for each country with units the others by where its refugees would be: in the
// same region, in countries with a plan or an appeal, and seldom in small ones.
func findHosts(w *world) {
	w.hosts = map[*location][]*location{}
	for _, home := range w.deep {
		unlikely := map[*location]int{home: 1 << 10}
		for _, l := range w.locations {
			unlikely[l] += 3 - b2i(l.plan) - 2*b2i(l.appeal) + 3*b2i(l.condition.crowd.people < 2_000_000)
			for _, i := range []int{0, 1, 2} {
				unlikely[l] -= 2 * b2i(l.classes[i] != "" && l.classes[i] == home.classes[i])
			}
		}
		others := slices.Clone(w.locations)
		slices.SortStableFunc(others, func(a, b *location) int {
			x, y := hashOf(w.seed, home.iso3+a.iso3), hashOf(w.seed, home.iso3+b.iso3)
			return cmp.Or(unlikely[a]-unlikely[b], cmp.Compare(x, y))
		})
		w.hosts[home] = others[:len(others)-1]
	}
}

// everyGroup emits a row of each group and gender, and returns the last.
func (w *world) everyGroup(one row, emit func(*row)) row {
	for i, group := range populationGroups {
		for k, gender := range genders {
			one.kind, one.gender, one.age, one.count = group, gender, refugeeAges[(i+k)%len(refugeeAges)], i*100+k
			one.home, one.asylum = w.deep[i%len(w.deep)], w.deep[(i+k+1)%len(w.deep)]
			emit(&one)
		}
	}
	return one
}

// refugeeTraps emits rows of every group and gender, codes that are no location, and keys that two
// files share.
func (w *world) refugeeTraps(from, to int, src *resource, emit func(*row)) {
	one := row{src: src, start: trapDay + 1, end: trapEnd}
	if to >= lastYear-1 { // in the last file
		w.everyGroup(one, emit)
		one.kind, one.gender, one.age, one.count = "ASY", "m", age{"18-59", 18, 59}, 77
		one.home, one.asylum, one.src = w.byCode["TWN"], w.byCode["CIV"], w.packages.unknown(0)
		emit(&one)
		one.src, one.homeCode, one.fault = src, "XXA", "Non matching country code(s) XXA"
		emit(&one)
	}
	// Every file has this key, in identical rows: the last file's row is kept.
	one = row{
		home: w.deep[0], asylum: w.deep[1], src: src, start: trapDay, end: trapEnd, kind: "RST", gender: "all",
		age: allAges, count: (lastYear - 1) / 5 * 5, repeated: true,
	}
	one.duplicate = to < lastYear-1
	emit(&one)
	// Each file has this key twice, in identical rows: the second is kept.
	one.start, one.end, one.count, one.duplicate = trapDay+day(from-1990), trapEnd+day(from-1990), 12, true
	emit(&one)
	one.duplicate = false
	emit(&one)
}

func (w *world) returneeRows(emit func(*row)) {
	src := w.packages.source("displacement-world", 1)
	for year := w.sizes.returneeFrom; year < lastYear; year++ {
		r := newRandom(w.seed, fmt.Sprintf("returnees/%d", year))
		for i := range w.sizes.returneePairs {
			// Both countries of those who went back are their own.
			home := w.deep[i/2%len(w.deep)]
			one := row{src: src, start: date(year, 1, 1), end: date(year, 12, 31), kind: "RET", home: home, asylum: home}
			back := home.condition.fled
			if i%2 == 1 {
				one.kind, back = "RDP", home.condition.displaced
			}
			if i/2 >= len(w.deep) {
				one.kind, one.asylum = "RRI", w.locations[(i*43+1)%len(w.locations)]
			}
			paths13(r, one, 5+r.part(home.condition.crowd.people, back*0.08, 30), emit)
		}
	}
	one := row{src: src, start: trapDay, end: trapEnd}
	one = w.everyGroup(one, emit)
	one.src, one.age, one.count = w.packages.unknown(2), age{"35-39", 35, 39}, 1
	emit(&one)
	one.src, one.homeCode, one.fault = src, "XKX", "Non matching country code(s) XKX"
	emit(&one)
}

// idpRows are rounds of operations, one day each.
func (w *world) idpRows(emit func(*row)) {
	r := newRandom(w.seed, "idps")
	src := w.packages.source("displacement-tracking", 0)
	made, operation := 0, 0
	for made < w.sizes.idpRows {
		l := w.deep[operation%len(w.deep)]
		units := w.placesOf(l, 2)
		if operation%4 == 3 {
			units = w.placesOf(l, 1)
		}
		one := row{src: src, kind: assessmentOf(operation), operation: fmt.Sprintf("Operation %d", operation+1)}
		switch operation % 5 {
		case 0:
			one.operation += ", returns"
		case 2:
			one.operation = "Opération n° " + itoa(operation) + ` "Sud"`
		}
		// The newest round is of this year. An earlier operation of the country ended long before.
		rounds := w.sizes.idpRounds - operation%4
		last := date(lastYear, 10-operation%6, 0) - day(operation/len(w.deep)*2000)
		for round := range rounds {
			one.round, one.start = round+1, last-day((rounds-1-round)*91)
			one.end = one.start
			for _, at := range units {
				if round < rounds-1 && r.chance(20) {
					continue
				}
				one.at, one.count, one.warning = at, r.part(at.crowd().people, l.condition.displaced, 15), ""
				if r.chance(2) {
					one.warning = warnings[0]
				}
				emit(&one)
				made++
			}
		}
		operation++
	}
	w.trapRows(src, emit, func(r *row, i int) {
		r.kind, r.operation, r.round, r.count = assessments[i%len(assessments)], "Traps, all of them", i, i*11
		r.end = r.start
		if i == 9 {
			r.operation = ""
		}
	})
}

// assessmentOf is the kind of assessment of an operation, mostly the first.
func assessmentOf(operation int) string {
	if operation%4 != 1 {
		return assessments[0]
	}
	return assessments[1+operation/4%(len(assessments)-1)]
}
