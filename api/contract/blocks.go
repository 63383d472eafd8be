package contract

// The enums of parameters that are not those of a column, each in its sort order.
var (
	adminLevel      = newEnum("admin_level", "0", "1", "2")
	levelOrCoarsest = &Enum{Name: "admin_level", Values: []string{"0", "1", "2", Coarsest}, Expected: adminLevel.Expected}
	outputFormat    = newEnum("output_format", "csv", "json")
	listFormat      = outputFormat.with("ndjson")
	pointFormat     = outputFormat.with("ndjson", "geojson")
)

// MaxLimit is the most records of one answer, and the default limit.
const MaxLimit = 10000

// pageParams are the parameters of every list endpoint that are not filters. app_identifier is
// checked before the others (identifier.go); here only its length counts.
var pageParams = []Param{
	{Name: "limit", Type: Integer, Floor: new(int), Ceiling: new(MaxLimit), Default: "10000"},
	{Name: "offset", Type: Integer, Floor: new(int), Default: "0"},
	{Name: "app_identifier", Type: String, Max: 512},
	{Name: "output_format", Type: Choice, Enum: outputFormat, Default: "json"},
}

// Coarsest is a value of admin_level besides the levels. It keeps the rows whose place is in no
// place of another row that passes, with the same period and the same values in Nested: those of
// each country at the level that it is published at.
const Coarsest = "coarsest"
