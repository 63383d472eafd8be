package generator

// sizes are the numbers of things in a catalog.
type sizes struct {
	countries                     []string // empty: all
	trapStep                      int      // one trap place in this many is used
	deepCountries, admin1, admin2 int      // countries with units below them; numbers of units
	orgs, markets, commodities    int
	conflictFrom                  int // first year
	conflictMonths, conflictLast  int // months of the first and of the last year
	conflictUnits                 int // reporting units below countries in the last year
	presence                      int // rows
	fundingFrom                   int
	riskCountries                 int
	needsYears, needsRows         int // files, rows of one
	refugeeFrom, refugeePairs     int // first year; pairs of countries in the last year
	returneeFrom, returneePairs   int
	idpRows, idpRounds            int // rows; most rounds of an operation
	foodAnalyses                  int // rows of food security are about 14 an analysed unit
	priceFrom, priceSeries        int // first year; series of prices in a year
	priceMonths                   int
	povertyCountries              int
	rainYears, rainDekads         int // files, dekads of one
	rainUnits1, rainUnits2        int // first-level and second-level units with rainfall
	populationUnits               int // second-level units with a census
	populationBands               int // age bands
}

// sample is the catalog embedded in the program.
var sample = sizes{
	trapStep:      1,
	deepCountries: 25, admin1: 56, admin2: 90,
	orgs: 46, markets: 52, commodities: 40,
	conflictFrom: 2025, conflictMonths: 2, conflictLast: 10, conflictUnits: 110,
	presence: 420, fundingFrom: 2021, riskCountries: 120,
	needsYears: 2, needsRows: 1200,
	refugeeFrom: 2018, refugeePairs: 26, returneeFrom: 2022, returneePairs: 20,
	idpRows: 545, idpRounds: 8, foodAnalyses: 115,
	priceFrom: 2024, priceSeries: 45, priceMonths: 12,
	povertyCountries: 20,
	rainYears:        2, rainDekads: 5, rainUnits1: 90, rainUnits2: 8,
	populationUnits: 16, populationBands: 4,
}

// small is for tests that load a catalog many times. Its countries are those that traps name.
var small = sizes{
	countries: []string{
		"AFG", "CAN", "CIV", "CMR", "COL", "ECU", "ETH", "HTI", "KEN", "KOR", "MLI", "MMR", "MOZ", "NER", "SDN",
		"SOM", "SSD", "TCD",
		"TWN", "UKR", "YEM",
	},
	trapStep:      6,
	deepCountries: 7, admin1: 12, admin2: 20,
	orgs: 31, markets: 9, commodities: 12,
	conflictFrom: 2025, conflictMonths: 1, conflictLast: 1, conflictUnits: 6,
	presence: 24, fundingFrom: 2025, riskCountries: 5,
	needsYears: 1, needsRows: 24,
	refugeeFrom: 2024, refugeePairs: 1, returneeFrom: 2025, returneePairs: 1,
	idpRows: 24, idpRounds: 4, foodAnalyses: 2,
	priceFrom: 2026, priceSeries: 5, priceMonths: 2,
	povertyCountries: 3,
	rainYears:        1, rainDekads: 1, rainUnits1: 4, rainUnits2: 4,
	populationUnits: 4, populationBands: 1,
}

// full is the size of the real catalog, about twelve million rows.
var full = sizes{
	trapStep:      1,
	deepCountries: 158, admin1: 2543, admin2: 30687,
	orgs: 2585, markets: 9739, commodities: 1135,
	conflictFrom: 1997, conflictMonths: 12, conflictLast: 10, conflictUnits: 4600,
	presence: 43620, fundingFrom: 2000, riskCountries: 191,
	needsYears: 3, needsRows: 430_000,
	refugeeFrom: 2000, refugeePairs: 9600, returneeFrom: 2018, returneePairs: 180,
	idpRows: 80_000, idpRounds: 12, foodAnalyses: 26_500,
	priceFrom: 2017, priceSeries: 21_000, priceMonths: 12,
	povertyCountries: 110,
	rainYears:        5, rainDekads: 36, rainUnits1: 2500, rainUnits2: 4700,
	populationUnits: 25_000, populationBands: 12,
}

// lastYear is the year of SnapshotTime.
const lastYear = 2026

// mostPlaces is how many times as many places there are at the most: the world gets more rows, but
// few more provinces and districts.
const mostPlaces = 4

// sized returns the sizes that the options ask for. A scale between 0 and 1 keeps the years and has
// less of everything in them.
func sized(o Options) sizes {
	switch {
	case o.Small:
		return small
	case o.Scale == 0:
		return sample
	}
	scale := o.Scale
	s := full
	for _, n := range []*int{
		&s.orgs, &s.markets, &s.commodities, &s.conflictUnits, &s.presence, &s.needsRows, &s.refugeePairs,
		&s.returneePairs, &s.idpRows, &s.foodAnalyses, &s.priceSeries, &s.rainUnits1, &s.rainUnits2,
		&s.populationUnits,
	} {
		*n = max(10, int(float64(*n)*scale))
	}
	for _, n := range []*int{&s.admin1, &s.admin2} {
		*n = max(10, int(float64(*n)*min(scale, mostPlaces)))
	}
	s.admin1 = max(s.admin1, 2*sample.deepCountries)
	s.orgs, s.markets = max(s.orgs, sample.orgs), max(s.markets, sample.markets)
	s.commodities = min(max(s.commodities, sample.commodities), full.commodities)
	s.deepCountries = min(s.deepCountries, s.admin1/2)
	return s
}
