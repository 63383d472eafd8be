package contract

import (
	"slices"
	"strings"
)

// Headline is a figure that a person asks for, such as the people in need in a country. It is one
// aggregate of a list, or an expression over several, all of which the checks of sums allow.
// Headlines has one literal for each.
type Headline struct {
	Name, Title, Unit string

	Path     string      // of the list
	Place    string      // field of the list with the country
	Keep     [][2]string // parameters that choose the rows
	Newest   Newest
	Value    Expression
	Measures []string // of the aggregate, or those that the expression is made of
	Weight   string   // of Weighted: the field by which a row counts
	Whole    bool     // the value is of a country: it has none where only its units have rows
	Takes    []Param  // further parameters
	Groups   []string // by what else the aggregate may be grouped

	Reading string // how to read it
	NotThis string // what it is not
}

// Newest is which time a headline figure is of.
type Newest string

// The times. NewestEdition is LatestParam's. NewestMonths are the 12 calendar months that end with
// the newest month of the list. YearApart are the newest month of a country and the same month a
// year before.
const (
	NewestEdition Newest = LatestEdition
	NewestMonths  Newest = "12 months"
	YearApart     Newest = "a month and the same month a year before"
)

// Expression is how a headline figure is computed from its measures.
type Expression uint8

// The expressions. Plain is the only measure. Percent is the first measure in per cent of the
// second one. Weighted is that of two means, for which each row counts as often as its weight says.
// MedianChange is the median, over all that is sold, of the change of a measure in per cent.
const (
	Plain Expression = iota
	Percent
	Weighted
	MedianChange
)

// HeadlineDigits is how many decimals the value of an expression has. Other values are exact.
const HeadlineDigits = 3

// FiguresPath is the path of the headline figures. Each has a path of its own below it.
const FiguresPath = v2Root + "figures"

// CountryParam is the parameter with the country of headline figures.
const CountryParam = "location_code"

// HeadlineNamed returns a headline figure by its name, nil if there is none.
func HeadlineNamed(name string) *Headline {
	for i := range Headlines {
		if Headlines[i].Name == name {
			return &Headlines[i]
		}
	}
	return nil
}

// List is the list that the figure is made of, in the names of a set.
func (h *Headline) List(s NameSet) *Endpoint {
	at := slices.IndexFunc(Endpoints, func(e Endpoint) bool { return e.Path == h.Path })
	return &EndpointsIn(s)[at]
}

// Formula is how the value is made of measures, in words.
func (h *Headline) Formula() string {
	switch h.Value {
	case Percent:
		return "100 * " + strings.Join(h.Measures, " / ")
	case Weighted:
		return "100 * " + strings.Join(h.Measures, " / ") + ", weighted by " + h.Weight
	case MedianChange:
		return "median of the changes of " + h.Measures[0] + " in per cent, matched by " +
			strings.Join(h.MatchedBy(), ", ")
	}
	return h.Measures[0]
}

// MatchedBy are the fields that say what is the same thing in two months: those of the key without
// the time, and what numbers must have in common to be compared.
func (h *Headline) MatchedBy() []string {
	var fields []string
	e := h.List(ContractNames)
	fields = append(fields, e.Series()...)
	for i := range e.Dimensions {
		if d := &e.Dimensions[i]; d.Kind == Alike && !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return fields
}

// Fields of the records of headline figures.
var (
	headlineFields = record(
		text(CountryParam, 128), null(decimals("value")), text("unit", 0),
		null(times("period_start", "period_end"), integers("admin_level", "units", "units_known")), integers("rows"),
		null(text("provider", 0), text("dataset", 0), text("resource", 0), times("updated"), booleans("complete")),
		text("request", 0), null(text("reason", 0)),
	)
	headlinesOfPlace = record(text("figure", 0), headlineFields)
	headlineList     = record(
		text("name", 0), text("title", 0), text("unit", 0), text("list", 0), text("place", 0), text("filters", 0),
		text("newest", 0), text("measure", 0), text("group_by", 0), text("reading", 0), text("not", 0),
		text("request", 0),
	)
)

// HeadlineList are the fields of the declaration of a figure.
func HeadlineList() []Field { return headlineList }

// upTo is the filter by which a figure is as it was known at a time.
var upTo = dates[1:]

// FigureEndpoints are the endpoints of the headline figures: the first one of all of them, then one
// for each in the order of Headlines.
func FigureEndpoints(s NameSet) []Endpoint { return figureEndpoints[s] }

var figureEndpoints = func() (all [2][]Endpoint) {
	country := like(CountryParam, 128)
	index := Endpoint{
		Path: FiguresPath, Summary: "Headline figures", list: v2Root + "metadata/location", Fields: headlinesOfPlace,
		Place: country, Params: upTo,
	}
	all[ContractNames] = []Endpoint{index}
	for i := range Headlines {
		h := &Headlines[i]
		all[ContractNames] = append(all[ContractNames], Endpoint{
			Path: FiguresPath + "/" + h.Name, Summary: h.Title, list: h.Path, Fields: headlineFields, Place: country,
			Params: filters(h.Takes, upTo), Headline: h,
		})
	}
	for i := range all[ContractNames] {
		e := all[ContractNames][i]
		e.names, e.contract = HAPINames, &all[ContractNames][i]
		all[HAPINames] = append(all[HAPINames], e)
	}
	return all
}()

// List is the path of the list whose table the endpoint's records are made of: its own, but for
// headline figures.
func (e *Endpoint) List() string {
	if e.list != "" {
		return e.list
	}
	return e.Contract().Path
}

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
