package generator

import "fmt"

var (
	phases     = []string{"all", "3+", "1", "2", "3", "4", "5"} // in the order of the files
	phaseTypes = enum("classification_type")
	priceFlags = enum("price_flag")
	priceTypes = enum("price_type")
)

// foodRows are analyses of a country, each with some types, the units it covers, and the seven
// phases. Upstream marks nearly a third of the rows as faulty.
func (w *world) foodRows(emit func(*row)) {
	r := newRandom(w.seed, "food")
	made := 0
	for analysis := 0; made < w.sizes.foodAnalyses; analysis++ {
		countries := min(40, len(w.deep))
		l := w.deep[analysis%countries]
		start := date(2017, 1, 1) + day(analysis/countries*61)
		units := append(w.placesOf(l, 0), w.placesOf(l, 1)...)
		units = append(units, w.placesOf(l, 2)...)
		units = units[:min(len(units), 1+r.below(len(units)), w.sizes.foodAnalyses-made)]
		for kind := range 1 + r.below(3) {
			first := start + day(kind*92)
			for _, at := range units {
				src := w.packages.source("acute-food-insecurity", int(at.level[0]-'0'))
				foodUnit(r, row{at: at, src: src, start: first, end: first + 90, state: phaseTypes[kind]},
					emit)
			}
		}
		made += len(units)
	}
	w.trapRows(w.packages.source("acute-food-insecurity", 2), emit, func(r *row, i int) {
		r.kind, r.state, r.count = phases[i%7], phaseTypes[i%3], i*100
		r.values[0] = trim(i*3%101, 2)
	})
}

func foodUnit(r *random, one row, emit func(*row)) {
	people := 500 + r.skewed(900_000)
	bad := r.chance(30)
	parts := [7]int{100, 0, r.between(10, 60), r.between(10, 30), r.between(0, 9), r.between(0, 1), 0}
	parts[6] = b2i(r.chance(3))
	parts[1] = parts[4] + parts[5] + parts[6]
	if r.chance(2) {
		one.warning = warnings[1]
	}
	for i, phase := range phases {
		one.kind, one.count = phase, people*parts[i]/100
		one.values[0] = trim(parts[i], 2)
		if bad {
			// A marked row has the same key as a good one.
			marked := one
			marked.count, marked.fault = one.count+1, errorTexts[1+r.below(3)]
			emit(&marked)
		}
		if !bad || r.chance(40) {
			emit(&one)
		}
	}
}

// priceFiles is one file per year: series of prices in a market, month by month.
func (w *world) priceFiles() []file {
	s := w.sizes
	var files []file
	for year := s.priceFrom; year <= lastYear; year++ {
		files = append(files, file{
			name: fmt.Sprintf("hdx_hapi_food_price_global_%d.csv", year),
			rows: func(emit func(*row)) {
				for i := range s.priceSeries {
					w.priceSeries(i, year, emit)
				}
				if year == lastYear {
					w.priceTraps(emit)
				}
			},
		})
	}
	return files
}

// priceSeries emits the i-th series: a commodity in a market, of one price type. A market has about
// five series.
func (w *world) priceSeries(i, year int, emit func(*row)) {
	r := newRandom(w.seed, fmt.Sprintf("price/%d", i))
	groups := (w.sizes.priceSeries + 4) / 5
	m := w.markets[i/5*len(w.markets)/groups]
	c := w.commodities[(i/5*3+i%5*(len(w.commodities)/7))%len(w.commodities)]
	one := row{
		at: m.at, market: m, commodity: c, src: w.packages.source("food-prices", 0), measure: pick(r, measures),
		flag: "actual", trade: "Retail",
	}
	if r.chance(12) {
		one.trade = "Wholesale"
	}
	switch r.below(50) {
	case 0:
		one.flag = "aggregate"
	case 1:
		one.trade = pick(r, priceTypes)
	}
	one.currency = m.at.location().currency
	scale := 1 + r.skewed(20_000)
	rate := 0.002 + r.unit()
	noise := newRandom(w.seed, fmt.Sprintf("price/%d/%d", i, year))
	for mth := 1; mth <= w.sizes.priceMonths; mth++ {
		if noise.chance(8) || year == lastYear && mth > 10 {
			continue
		}
		cents := scale*100 + noise.below(scale*60+5)
		if scale > 200 {
			cents -= cents % 100 // high prices are round
		}
		one.start = date(year, mth, 15)
		one.end = date(year, mth+1, 15) - 1
		one.values[0], one.values[1] = trim(cents, 2), trim(int(float64(cents)*rate), 2)
		one.warning = ""
		if m.at.level == "0" {
			one.warning = "no adm1 name|no adm2 name"
		}
		emit(&one)
	}
}

func (w *world) priceTraps(emit func(*row)) {
	src := w.packages.source("food-prices", 1)
	n := 0
	for _, flag := range priceFlags {
		for _, trade := range priceTypes {
			for i := range 3 {
				m, trap := w.markets[(n*3+i)%len(w.markets)], w.traps[n%len(w.traps)]
				one := row{ // with the names of another place, and none of its codes
					at: m.at, market: m,
					shown:     &place{iso3: m.at.location().iso3, pa1: trap.pa1, pa2: trap.pa2, level: trap.level, unit: m.at.unit},
					commodity: w.commodities[n%len(w.commodities)], src: src,
					measure: measures[n%len(measures)], flag: flag, trade: trade,
					currency: currencies[(n*5)%len(currencies)].code,
					start:    trapDay + day(i), end: trapEnd,
				}
				one.values = [5]number{trim(n*37, 2), fix(n, 2)}
				if n%7 == 3 {
					one.values[0] = oddity(n / 7 % len(oddities))
				}
				emit(&one)
				n++
			}
		}
	}
	for i, c := range w.commodities[:len(categories)] { // every category
		emit(&row{
			at: w.markets[i].at, market: w.markets[i], commodity: c, src: src, measure: "KG", flag: "actual",
			trade:    "Retail",
			currency: "BYR", start: trapDay + 5, end: trapEnd, values: [5]number{fix(0, 0), fix(0, 0)},
		})
	}
	m := w.markets[0]
	one := row{
		at: m.at, market: m, commodity: w.commodities[0], src: w.packages.unknown(0), measure: "", flag: "actual",
		trade: "Retail", currency: "USD",
		start: trapDay + 6, end: trapEnd, values: [5]number{oddity(4), {}},
	}
	emit(&one)
	one.src, one.fault, one.shown = src, errorTexts[0], w.nowhere()
	emit(&one)
}

// povertyRows are surveys of countries and their first-level units.
func (w *world) povertyRows(emit func(*row)) {
	r := newRandom(w.seed, "poverty")
	for i, l := range w.deep[:min(w.sizes.povertyCountries, len(w.deep))] {
		src := w.packages.source(l.stub()+"-mpi", 0)
		for _, at := range append(w.placesOf(l, 0), w.placesOf(l, 1)...) {
			for survey := range 1 + i%2 {
				surveyed(r, row{
					at: at, src: src, start: date(2012+survey*6+i%3, 1, 1),
					end: date(2013+survey*6+i%3, 12, 31), clock: byte(1 + i%2),
				}, emit)
			}
		}
	}
	for i, p := range w.traps {
		// A loader uses the first level only. A place known by its second level would get
		// that of its first.
		if p.name2 != "" || p.pa2 != "" || p.code2 != "" {
			continue
		}
		surveyed(r, row{
			at: p, src: w.packages.source(w.deep[0].stub()+"-mpi", 0), start: trapDay, end: trapEnd,
			clock: byte(1 + i%2),
		}, emit)
	}
	nameless := &place{iso3: "ETH", pa1: " ", level: "1", unit: w.byCode["ETH"].unspecified}
	surveyed(r, row{at: nameless, src: w.packages.unknown(0), start: trapDay, end: trapEnd, clock: 1}, emit)
}

func surveyed(r *random, one row, emit func(*row)) {
	headcount, intensity := r.below(950_000), 330_000+r.below(300_000) // 1/10,000 of a per cent
	mpi := round(float64(headcount)*float64(intensity)/1e12, 4)
	one.values = [5]number{
		fix(mpi, 4), fix(headcount, 4), fix(intensity, 4), fix(r.below(300_000), 4),
		fix(headcount/2, 4),
	}
	if r.chance(3) || one.start == trapDay {
		one.values[2] = number{}
	}
	emit(&one)
}
