package contract

import "slices"

// Lists of the headline figures.
const (
	needsList     = v2Root + "affected-people/humanitarian-needs"
	idpsList      = v2Root + "affected-people/idps"
	refugeesList  = v2Root + "affected-people/refugees-persons-of-concern"
	returneesList = v2Root + "affected-people/returnees"
	phasesList    = v2Root + "food-security-nutrition-poverty/food-security"
	pricesList    = v2Root + "food-security-nutrition-poverty/food-prices-market-monitor"
	povertyList   = v2Root + "food-security-nutrition-poverty/poverty-rate"
	conflictList  = v2Root + "coordination-context/conflict-events"
	fundingList   = v2Root + "coordination-context/funding"
	riskList      = v2Root + "coordination-context/national-risk"
	presenceList  = v2Root + "coordination-context/operational-presence"
	rainfallList  = v2Root + "climate/rainfall"
	peopleList    = v2Root + "geography-infrastructure/baseline-population"
)

// coarsest keeps the rows of the largest places that each country has rows of.
var coarsest = [2]string{"admin_level", Coarsest}

// ofEverybody keeps the rows of all people, whatever a list calls them.
var ofEverybody = [2]string{EverybodyParam, "true"}

// notBrokenDown keeps the rows that are not broken down by gender and age.
var notBrokenDown = [][2]string{{"gender", "all"}, {"age_range", "all"}}

// Headlines are all headline figures.
var Headlines = slices.Concat(
	[]Headline{
		needs("people_in_need", "People in need", "INN",
			"People who need humanitarian help, over all sectors, by the newest plan.",
			"Not a sum over sectors, which count one person several times; nor the people that help is meant for."),
		needs("people_targeted", "People targeted", "TGT",
			"People whom the newest plan means to help, over all sectors.",
			"Not the people in need, of whom they are a part."),
		needs("people_reached", "People reached", "REA",
			"People who have got help of at least one sector under the newest plan.",
			"Not the people whose needs are met: one kind of help counts."),
		{
			Name: "internally_displaced", Title: "Internally displaced people", Unit: "people",
			Path: idpsList, Place: "location_code", Keep: [][2]string{coarsest}, Newest: NewestEdition,
			Measures: []string{"sum:population"},
			Reading:  "People displaced within their country at the newest date that is known of it.",
			NotThis: "Not a sum over operations, kinds of assessment or rounds, which count one person several " +
				"times: where the newest date has several, there is no value.",
		},
		movement("refugees_by_asylum", "Refugees, by country of asylum", refugeesList, "asylum_location_code", "REF",
			[]string{"origin_location_code"}, "Refugees who live in the country, in the newest year of the list.",
			"Not asylum seekers or other people of concern."),
		movement("refugees_by_origin", "Refugees, by country of origin", refugeesList, "origin_location_code", "REF",
			[]string{"asylum_location_code"},
			"Refugees from the country who live in others, in the newest year of the list.",
			"Not people displaced within the country."),
		movement("returned_refugees", "Returned refugees", returneesList, "asylum_location_code", "RET", nil,
			"Refugees who went back to their country in the newest year of the list.",
			"Not all who have ever gone back: it is the flow of one year."),
		movement("returned_idps", "Returned internally displaced people", returneesList, "asylum_location_code", "RDP",
			nil, "Internally displaced people who went back home in the newest year of the list.",
			"Not all who have ever gone back: it is the flow of one year."),
		{
			Name: "people_in_phase_3_or_worse", Title: "People in food crisis or worse", Unit: "people",
			Path: phasesList, Place: "location_code", Newest: NewestEdition,
			Keep:     [][2]string{{"classification_type", "current"}, {"classification_phase", "3+"}, coarsest},
			Measures: []string{"sum:population_in_phase"},
			Reading:  "People in phase 3 (crisis), 4 (emergency) or 5 (catastrophe) in the newest current analysis.",
			NotThis:  "Not a projection, and only of the places that were analysed.",
		},
		conflict("political_violence_events", "Events of political violence", "events", "political_violence",
			"Not protests; events against civilians are among them."),
		conflict("political_violence_fatalities", "Deaths in political violence", "fatalities", "political_violence",
			"Not all deaths of a war: those that were reported with an event."),
		conflict("demonstration_events", "Demonstrations", "events", "demonstration", "Not political violence."),
		conflict("civilian_targeting_events", "Events of violence against civilians", "events", "civilian_targeting",
			"Not beside political violence, which contains them: never add the two."),
	},
	[]Headline{
		{
			Name: "funding_asked", Title: "Funding asked for", Unit: "US dollars",
			Path: fundingList, Place: "location_code", Keep: [][2]string{anyAppeal}, Newest: NewestEdition,
			Measures: []string{"sum:requirements_usd"}, Groups: []string{"appeal_code"},
			Reading: "What the appeals of the newest year that has one ask for.",
			NotThis: "Not what a country needs: only what plans ask for.",
		},
		{
			Name: "funding_received", Title: "Funding received for appeals", Unit: "US dollars",
			Path: fundingList, Place: "location_code", Keep: [][2]string{anyAppeal}, Newest: NewestEdition,
			Measures: []string{"sum:funding_usd"}, Groups: []string{"appeal_code"},
			Reading: "What was given for the appeals of the newest year that has one.",
			NotThis: "Not money outside appeals.",
		},
		{
			Name: "funding_received_all", Title: "Funding received, also outside appeals", Unit: "US dollars",
			Path: fundingList, Place: "location_code", Newest: NewestEdition,
			Measures: []string{"sum:funding_usd"}, Groups: []string{"appeal_code"},
			Reading: "What was given in the newest year that has an appeal, for appeals and outside them.",
			NotThis: "Not to be compared with what appeals ask for.",
		},
		{
			Name: "funding_percent", Title: "Funding received of what was asked for", Unit: "per cent",
			Path: fundingList, Place: "location_code", Keep: [][2]string{anyAppeal}, Newest: NewestEdition,
			Value: Percent, Measures: []string{"sum:funding_usd", "sum:requirements_usd"},
			Reading: "What was given for the appeals of the newest year that has one, in per cent of what they " +
				"ask for.",
			NotThis: "Not with money outside appeals.",
		},
		{
			Name: "overall_risk", Title: "Risk of humanitarian crises", Unit: "index from 0 to 10",
			Path: riskList, Place: "location_code", Newest: NewestEdition, Measures: []string{"latest:overall_risk"},
			Reading: "The overall risk of the newest edition; a higher one is worse.",
			NotThis: "Not a probability, and not to be added up or averaged.",
		},
		{
			Name: "poverty_headcount", Title: "People in multidimensional poverty", Unit: "per cent",
			Path: povertyList, Place: "location_code", Keep: [][2]string{coarsest}, Newest: NewestEdition,
			Measures: []string{"latest:headcount_ratio"}, Whole: true,
			Reading: "The part of the population that is poor in several ways, by the newest survey. See how old " +
				"it is.",
			NotThis: "Not poverty of income.",
		},
		{
			Name: "population", Title: "Population", Unit: "people",
			Path: peopleList, Place: "location_code", Keep: slices.Concat(notBrokenDown, [][2]string{coarsest}),
			Newest: NewestEdition, Measures: []string{"sum:population"},
			Reading: "The population by the newest estimate, from the largest places that the list has.",
			NotThis: "Not a sum over units that the list does not have: see units and units_known.",
		},
		{
			Name: "rainfall_percent_of_normal", Title: "Rainfall of three months", Unit: "per cent of normal",
			Path: rainfallList, Place: "location_code", Newest: NewestEdition,
			Keep:  [][2]string{{"aggregation_period", "3-month"}, {"version", "final"}, coarsest},
			Value: Weighted, Weight: "number_pixels",
			Measures: []string{"mean:rainfall", "mean:rainfall_long_term_average"},
			Reading: "Rain of the newest three months whose figures are final, in per cent of the long-term average; " +
				"each unit counts by its area.",
			NotThis: "Not a forecast, and not the mean of rainfall_anomaly_pct.",
		},
		{
			Name: "price_change_in_a_year", Title: "Change of food prices in a year", Unit: "per cent",
			Path: pricesList, Place: "location_code", Newest: YearApart, Value: MedianChange,
			Measures: []string{"mean:price"}, Takes: like("commodity_code", 32),
			Reading: "The median change of prices from a year before to the newest month of the country, of what " +
				"was sold in both months in the same market, unit and currency.",
			NotThis: "Not a rate of inflation: nothing is weighted by what people eat.",
		},
		{
			Name: "organisations_present", Title: "Organisations present", Unit: "organisations",
			Path: presenceList, Place: "location_code", Newest: NewestEdition,
			Measures: []string{"distinct:org_acronym"}, Groups: []string{"sector_code", "org_type_code"},
			Reading: "Organisations by their acronyms as written in the newest report.",
			NotThis: "Not how much they do. One organisation can have two acronyms.",
		},
	},
)

// anyAppeal keeps the rows of appeals, of whatever type: null matches nothing.
var anyAppeal = [2]string{"appeal_type", "%"}

func needs(name, title, status, reading, notThis string) Headline {
	return Headline{
		Name: name, Title: title, Unit: "people", Path: needsList, Place: "location_code", Newest: NewestEdition,
		Keep:     [][2]string{{"sector_code", "Intersectoral"}, {"population_status", status}, ofEverybody, coarsest},
		Measures: []string{"sum:population"}, Reading: reading, NotThis: notThis,
	}
}

func movement(name, title, path, place, group string, groups []string, reading, notThis string) Headline {
	return Headline{
		Name: name, Title: title, Unit: "people", Path: path, Place: place, Newest: NewestEdition,
		Keep:     slices.Concat([][2]string{{"population_group", group}}, notBrokenDown),
		Measures: []string{"sum:population"}, Groups: groups, Reading: reading, NotThis: notThis,
	}
}

func conflict(name, title, field, event, notThis string) Headline {
	return Headline{
		Name: name, Title: title, Unit: field, Path: conflictList, Place: "location_code", Newest: NewestMonths,
		Keep:     [][2]string{{"event_type", event}, coarsest},
		Measures: []string{"sum:" + field}, Groups: []string{"month"}, NotThis: notThis,
		Reading: "The 12 calendar months that end with the newest month of the list. A country can lack some of " +
			"them, or their newest figures can be provisional: then the figure is not complete.",
	}
}
