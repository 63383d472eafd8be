package generator

// row is one row of any theme. A theme sets the fields that its columns print.
type row struct {
	at             *place    // where it belongs
	shown          *place    // what the CSV shows if that is another place; nil: at
	home           *location // national themes; origin of refugees
	asylum         *location
	homeCode       string // the CSV's code if it is no location's
	src            *resource
	start, end     day
	clock          byte   // poverty: form of the period's end, 1 or 2
	warning, fault string // columns of the CSV; rows with a fault are dropped
	duplicate      bool   // dropped, because a later row has the same key
	repeated       bool   // in several places, with the same values, of which one is kept

	count       int // people, events
	countNull   bool
	odd         bool // count is printed as 12.0
	deaths      int
	deathsNull  bool
	kind        string // event_type, population_group, category of needs, phase, aggregation_period, assessment_type
	state       string // population_status, ipc_type, version
	gender      string
	age         age
	org         *org
	sector      pair
	appeal      appeal
	risk        *riskRow
	values      [5]number // fraction; price, price in dollars; poverty; rainfall
	operation   string
	round       int
	market      *market
	commodity   *commodity
	measure     string
	flag, trade string
	currency    string
	pc1, pc2    string // the provider's codes
	pixels      int    // 0: null
}

type age struct {
	label    string
	min, max int
}

var allAges = age{"all", -1, -1}

type appeal struct {
	code, name, kind   string
	needed, given, pct int
	neededNull         bool
	pctNull            bool
}

type riskRow struct {
	class, rank         int
	risks               [4]number
	missing, recentness number
}

// csvPlace is the place that the CSV shows.
func (r *row) csvPlace() *place {
	if r.shown != nil {
		return r.shown
	}
	return r.at
}
