package generator

import (
	"fmt"
	"math"
)

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
		start := date(lastYear, 9, 1) - day(analysis/countries*183) // the newest first
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
	// Of the people 0.8 are analysed. The phases are counted so that they add up to these.
	all := one.at.crowd().people * 4 / 5
	hungry := r.part(all, one.at.location().condition.hunger, 20)
	counts := [7]int{all, hungry, 0, r.part(all, 0.27, 15), 0, r.part(hungry, 0.2, 30), r.part(hungry, 0.01, 90)}
	counts[2], counts[4] = all-hungry-counts[3], hungry-counts[5]-counts[6]
	// A marked row has the same key as a good one, which is missing for some units.
	bad := r.chance(30)
	lost := bad && one.at.level != "0" && r.chance(60)
	if r.chance(2) {
		one.warning = warnings[1]
	}
	for i, phase := range phases {
		one.kind, one.count = phase, counts[i]
		one.values[0] = trim(counts[i]*100/max(1, all), 2)
		if bad {
			marked := one
			marked.count, marked.fault = one.count+1, errorTexts[1+r.below(3)]
			emit(&marked)
		}
		if !lost {
			emit(&one)
		}
	}
}

// priceFiles is one file per year: series of prices in a market, month by month.
func (w *world) priceFiles() []file {
	rows := func(year int, emit func(*row)) {
		for i := range w.sizes.priceSeries {
			w.priceSeries(i, year, emit)
		}
		if year == lastYear {
			w.priceTraps(emit)
		}
	}
	return numbered("hdx_hapi_food_price_global_%d.csv", w.sizes.priceFrom, lastYear, rows)
}

// priceSeries emits the i-th series: a commodity in a market, of one price type. A market has about
// five series.
func (w *world) priceSeries(i, year int, emit func(*row)) {
	r := newRandom(w.seed, fmt.Sprintf("price/%d", i))
	m := pricedMarket(w, i)
	c := w.commodities[(i/5*3+i%5*(len(w.commodities)/7))%len(w.commodities)]
	one := soldAt(m, c, c.measure, w.packages.source("food-prices", 0))
	if r.chance(12) {
		one.trade = "Wholesale"
	}
	switch r.below(50) {
	case 0:
		one.flag = "aggregate"
	case 1:
		one.trade = pick(r, priceTypes)
	}
	rate := rateOf(w.seed, one.currency)
	// A price of some dollars goes up or down by the same part each year, and a little each month.
	dollars, growth := c.dollars*(0.7+0.6*r.unit()), 0.9+0.35*r.unit()
	noise := newRandom(w.seed, fmt.Sprintf("price/%d/%d", i, year))
	for mth := 1; mth <= w.sizes.priceMonths; mth++ {
		years := float64(year-lastYear) + float64(mth)/12
		cents := int(100 * dollars * rate * math.Pow(growth, years) * (0.96 + 0.08*noise.unit()))
		if noise.chance(8) || year == lastYear && mth > 10 {
			continue
		}
		if cents > 20_000 {
			cents -= cents % 100 // high prices are round
		}
		one.start = date(year, mth, 15)
		one.end = date(year, mth+1, 15) - 1
		one.values[0], one.values[1] = trim(cents, 2), trim(int(float64(cents)/rate), 2)
		one.warning = ""
		if m.at.level == "0" {
			one.warning = "no adm1 name|no adm2 name"
		}
		emit(&one)
	}
}

// soldAt is a row of a commodity in a market.
func soldAt(m *market, c *commodity, measure string, src *resource) row {
	return row{
		at: m.at, market: m, commodity: c, src: src, measure: measure, flag: "actual", trade: "Retail",
		currency: m.at.location().currency, end: trapEnd,
	}
}

// pricedMarket is the market of the i-th series.
func pricedMarket(w *world, i int) *market {
	return w.markets[i/5*len(w.markets)/((w.sizes.priceSeries+4)/5)]
}

// rateOf is how many units of a currency a dollar is worth. It is made up, but for the dollar.
func rateOf(seed uint64, currency string) float64 {
	if currency == "USD" {
		return 1
	}
	return math.Pow(1500, newRandom(seed, "currency/"+currency).unit())
}

func (w *world) priceTraps(emit func(*row)) {
	src := w.packages.source("food-prices", 1)
	n := 0
	for _, flag := range priceFlags {
		for _, trade := range priceTypes {
			for i := range 3 {
				m, trap := pricedMarket(w, (n*3+i)*5%w.sizes.priceSeries), w.traps[n%len(w.traps)]
				one := soldAt(m, w.commodities[n%len(w.commodities)], measures[n%len(measures)], src)
				// With the names of another place, and none of its codes.
				one.shown = &place{iso3: m.at.location().iso3, pa1: trap.pa1, pa2: trap.pa2, level: trap.level, unit: m.at.unit}
				one.flag, one.trade, one.start = flag, trade, trapDay+day(i)
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
		one := soldAt(w.markets[i], c, "KG", src)
		one.start, one.values = trapDay+5, [5]number{fix(0, 0), fix(0, 0)}
		emit(&one)
	}
	one := soldAt(w.markets[0], w.commodities[0], "", w.packages.unknown(0))
	one.start, one.values[0] = trapDay+6, oddity(4)
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
					at: at, src: src, start: date(2022-survey*6+i%3, 1, 1),
					end: date(2023-survey*6+i%3, 12, 31), clock: byte(1 + i%2),
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
	// In 1/10,000 of a per cent. Who is poor in many ways suffers more of them.
	headcount := min(950_000, r.part(1_000_000, one.at.location().condition.poor, 15))
	intensity := 340_000 + headcount/4 + r.below(20_000)
	mpi := round(float64(headcount)*float64(intensity)/1e12, 4)
	one.values = [5]number{
		fix(mpi, 4), fix(headcount, 4), fix(intensity, 4), fix((1_000_000-headcount)*r.between(10, 40)/100, 4),
		fix(headcount*r.between(30, 60)/100, 4),
	}
	if r.chance(3) || one.start == trapDay {
		one.values[2] = number{}
	}
	emit(&one)
}
