package generator

import "fmt"

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
	for _, l := range w.deep {
		if l.plan {
			for level := range 3 {
				plans = append(plans, w.placesOf(l, level)...)
			}
		}
	}
	var files []file
	for year := lastYear - w.sizes.needsYears + 1; year <= lastYear; year++ {
		files = append(files, file{
			name: fmt.Sprintf("hdx_hapi_humanitarian_needs_global_%d.csv", year),
			rows: func(emit func(*row)) {
				r := newRandom(w.seed, fmt.Sprintf("needs/%d", year))
				made := 0
				for i, at := range plans {
					quota := w.sizes.needsRows * (i + 1) / len(plans)
					src := w.packages.source(at.location().stub()+"-humanitarian-needs", lastYear-year)
					made += needsOf(r, quota-made, row{
						at: at, src: src, start: date(year, 1, 5),
						end: date(year, 12, 24),
					}, emit)
				}
				if year == lastYear {
					w.trapRows(w.packages.source(plans[0].location().stub()+"-humanitarian-needs", 0), emit,
						func(r *row, i int) {
							r.sector, r.kind, r.state = sectors[i%len(sectors)], needsCategories[i%len(needsCategories)],
								populationStatuses[i%5]
							r.count, r.odd = i*1000, i == 6
							if r.fault != "" {
								r.fault, r.sector = "No cluster for entity 1", pair{}
							}
						})
				}
			},
		})
	}
	return files
}

func needsOf(r *random, rows int, one row, emit func(*row)) int {
	made := 0
	most := 100 + r.skewed(2_000_000)
	first := r.below(len(sectors))
	for i := range sectors {
		one.sector = sectors[(first+i)%len(sectors)]
		for _, category := range needsCategories {
			one.kind = category
			for _, status := range populationStatuses[1:3] {
				if made >= rows {
					return made
				}
				one.state, one.count, one.warning = status, r.below(most), ""
				if r.chance(1) {
					one.warning = warnings[2]
				}
				emit(&one)
				made++
			}
		}
	}
	return made
}

var refugeeAges = []age{{"0-4", 0, 4}, {"5-11", 5, 11}, {"12-17", 12, 17}, {"18-59", 18, 59}, {"60+", 60, -1}, allAges}

// paths13 emits the thirteen rows of one year, pair of countries and group.
func paths13(r *random, one row, most int, emit func(*row)) {
	empty := r.chance(45) // only the total is known
	for _, gender := range []string{"f", "m"} {
		one.gender = gender
		for _, a := range refugeeAges {
			one.age, one.count = a, 0
			if !empty {
				one.count = r.skewed(most)
			}
			emit(&one)
		}
	}
	one.gender, one.age, one.count = "all", allAges, 5+r.skewed(most*8)
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
						w.refugeePair(r, i, row{src: src, start: date(year, 1, 1), end: date(year, 12, 31)}, emit)
					}
				}
				w.refugeeTraps(from, to, src, emit)
			},
		})
	}
	return files
}

// refugeePair is the i-th combination of two countries and a group. Each i is another one.
func (w *world) refugeePair(r *random, i int, one row, emit func(*row)) {
	n := len(w.locations)
	common := []string{"REF", "ASY", "OIP", "ROC", "OOC"}
	group := 0
	switch at := i % 20; {
	case at > 18:
		group = 4
	case at > 16:
		group = 2 + at%2
	case at > 9:
		group = 1
	}
	// Origins are countries of w.deep. Steps coprime to their number and to n visit each pair once.
	origin := i * 37 % len(w.deep)
	one.home = w.deep[origin]
	one.asylum = w.locations[(i/len(w.deep)*59+origin*17)%n]
	one.kind = common[group]
	paths13(r, one, 4000, emit)
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
		age: allAges, count: (lastYear - 1) / 5 * 5,
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
			one := row{src: src, start: date(year, 1, 1), end: date(year, 12, 31), kind: "RET"}
			one.home = w.deep[i%len(w.deep)]
			one.asylum = w.locations[(i*31+i/len(w.deep))%len(w.locations)]
			if i%3 == 2 {
				one.kind, one.asylum = "RDP", one.home
			}
			if i%3 == 2 && i/len(w.deep) > 0 {
				one.kind, one.asylum = "RRI", w.locations[(i*43+1)%len(w.locations)]
			}
			paths13(r, one, 9000, emit)
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
		l := w.deep[operation*5%len(w.deep)]
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
		day0 := date(2017+operation%6, 1, 31)
		for round := range 4 + operation%12 {
			one.round, one.start = round+1, day0+day(round*91)
			one.end = one.start
			for _, at := range units {
				if r.chance(20) {
					continue
				}
				one.at, one.count, one.warning = at, r.skewed(30_000), ""
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
