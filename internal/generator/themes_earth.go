package generator

import (
	"fmt"
	"slices"
)

var (
	aggregations = enum("aggregation_period")
	versions     = []string{"final", "preliminary", "forecast"} // in the order in which they come
)

// rainfallFiles is one file for each of the last years; the newest is the first by name.
// Second-level units are in that only.
func (w *world) rainfallFiles() []file {
	s := w.sizes
	firsts := w.someOf(s.rainUnits1, 1, func(l *location) bool { return true })
	seconds := w.someOf(s.rainUnits2, 2, hasPlan)
	rows := func(n int, emit func(*row)) {
		units := firsts
		if n == 1 {
			units = slices.Concat(firsts, seconds)
		}
		r := newRandom(w.seed, fmt.Sprintf("rainfall/%d", n))
		for i, at := range units {
			w.rainOf(r, i, n, at, emit)
		}
		w.rainTraps(n, emit)
	}
	return numbered("hdx_hapi_rainfall_global_%dyr.csv", 1, s.rainYears, rows)
}

// rainOf emits the dekads of a unit in the n-th year back, three aggregations each.
func (w *world) rainOf(r *random, i, n int, at *place, emit func(*row)) {
	l := at.location()
	one := row{at: at, shown: rainPlace(at), pixels: 1 + (i*i)%2600}
	one.at = one.shown
	if at.level == "1" {
		one.pc1, one.src = itoa(900_000+i), w.packages.source(l.stub()+"-rainfall-subnational", 0)
	} else {
		one.pc2, one.src = itoa(1_000_000+i), w.packages.source(l.stub()+"-rainfall-subnational", 1)
	}
	wet := 5 + r.unit()*40
	for dekad := range w.sizes.rainDekads {
		// The year runs from the last dekad of October backwards.
		m := 10 - dekad/3
		year := lastYear + 1 - n
		if m < 1 {
			m, year = m+12, year-1
		}
		_, last := month(year, m)
		third := 2 - dekad%3
		one.start, one.end = date(year, m, 1+third*10), last
		if third < 2 {
			one.end = date(year, m, 10+third*10)
		}
		one.state = "final"
		if n == 1 && dekad < 4 {
			one.state = versions[1+b2i(dekad == 0)]
		}
		sum := 1.0
		for k, period := range aggregations {
			one.kind = period
			sum *= [...]float64{1, 3, 2.8}[k]
			normal := wet * sum * (0.4 + r.unit()/4)
			rain := normal * (0.5 + r.unit())
			if r.chance(1) {
				rain = r.unit() * 1e-4
			}
			one.values[0], one.values[1] = floating32(rain), floating32(normal)
			one.values[2] = floating32(100 * (rain + 1) / (normal + 1))
			emit(&one)
		}
	}
}

// rainPlace is a place as the rainfall file shows it: with the provider's codes instead of names.
func rainPlace(at *place) *place {
	p := *at
	p.pa1 = "Not provided"
	if at.level == "2" {
		p.pa2 = "Not provided"
	}
	return &p
}

func (w *world) rainTraps(n int, emit func(*row)) {
	src := w.packages.source(w.deep[0].stub()+"-rainfall-subnational", 1)
	set := func(r *row, i int) {
		r.kind, r.state, r.pixels = aggregations[i%3], versions[i/3%3], i
		r.pc1 = itoa(77 + i)
		r.values = [5]number{oddity(i % len(oddities)), floating32(float64(i) / 7), floating32(float64(20-i) * 3.3)}
		if i == 8 {
			r.pc1, r.state = "", ""
		}
	}
	if n == w.sizes.rainYears {
		w.trapRows(src, emit, set)
	}
	// A dekad that is in every file, in identical rows: the row of the last file is kept.
	wandered := row{
		at: w.national[w.deep[1].id-1], src: src, start: trapDay + 3, end: trapEnd,
		duplicate: n < w.sizes.rainYears, repeated: true,
	}
	set(&wandered, 1)
	wandered.pixels = 1000 + w.sizes.rainYears
	emit(&wandered)
}

// populationFiles is two files: countries with a plan, and the others.
func (w *world) populationFiles() []file {
	var files []file
	for _, plan := range []bool{true, false} {
		name := "non_hrp"
		if plan {
			name = "hrp"
		}
		files = append(files, file{
			name: "hdx_hapi_population_global_" + name + ".csv",
			rows: func(emit func(*row)) {
				r := newRandom(w.seed, "population/"+name)
				for _, l := range w.deep {
					if l.plan == plan {
						w.census(r, l, emit)
					}
				}
				src := w.packages.source("cod-ps-"+w.deep[0].stub(), 0)
				if plan {
					w.trapRows(src, emit, func(r *row, i int) {
						r.gender, r.age, r.count, r.odd = genders[i%len(genders)], age{fmt.Sprintf("%d+", i), i, -1},
							i*12_345, i == 5
						if i == 7 {
							r.age, r.count = age{"unknown", -1, -1}, 3_000_000_000
						}
					})
				}
				// A country that moved to another file: both have its row, identical, and that of
				// the later file is kept.
				one := row{
					at: w.national[w.deep[1].id-1], src: src, start: trapDay + 4, end: trapEnd, gender: "all",
					age: allAges, count: 4711,
					duplicate: plan, repeated: true,
				}
				emit(&one)
			},
		})
	}
	return files
}

// census emits the population of a country, its first-level and its second-level units, fewer of
// which are old.
func (w *world) census(r *random, l *location, emit func(*row)) {
	src := w.packages.source("cod-ps-"+l.stub(), 0)
	total := w.packages.source("cod-ps-"+l.stub(), 1)
	width := max(5, 60/w.sizes.populationBands) // in years
	bands := make([]float64, w.sizes.populationBands)
	for i := range bands {
		bands[i] = 1 / (1 + 0.3*float64(i*width)/10)
	}
	year := lastYear - 4 + l.id%4
	for level := range 3 {
		units := w.placesOf(l, level)
		if level == 2 {
			// A country's share of all units with a census.
			all := len(w.admin2) - len(w.admin1)
			units = units[:min(len(units), (len(units)*w.sizes.populationUnits+all-1)/all)]
		}
		for _, at := range units {
			one := row{at: at, src: src, start: date(year, 1, 1), end: date(year, 12, 31)}
			if level == 0 {
				one.src = total
			}
			// The bands add up to the women and to the men, and these to all.
			all := at.crowd().people
			women := r.part(all, 0.505, 2)
			byGender := [2][]int{split(women, bands), split(all-women, bands)}
			for i, gender := range []string{"f", "m", "all"} {
				one.gender = gender
				for band := range bands {
					one.age = age{fmt.Sprintf("%d-%d", band*width, band*width+width-1), band * width, band*width + width - 1}
					if band == len(bands)-1 {
						one.age = age{fmt.Sprintf("%d+", band*width), band * width, -1}
					}
					if one.count = byGender[i%2][band]; i == 2 {
						one.count += byGender[1][band]
					}
					emit(&one)
				}
				one.age, one.count = allAges, [3]int{women, all - women, all}[i]
				emit(&one)
			}
		}
	}
}
