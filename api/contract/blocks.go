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
// checked before the others (identifier.go); here only its length counts. Exports have all records
// unless there is a limit.
func (e *Endpoint) pageParams(k Kind) []Param {
	var formats []string
	for _, f := range e.ExportFormats() {
		formats = append(formats, f.Name)
	}
	limit := Param{Name: "limit", Type: Integer, Floor: new(int), Ceiling: new(MaxLimit), Default: "10000"}
	format := Param{Name: formatParam, Type: Choice, Enum: outputFormat, Default: FormatJSON}
	switch {
	case k == Export:
		limit.Ceiling, limit.Default = nil, ""
		format.Enum, format.Default = newEnum(formatParam, formats...), FormatCSV
	case k == Rows && e.HasPoints():
		format.Enum = pointFormat
	case k == Rows:
		format.Enum = listFormat
	}
	return []Param{
		limit,
		{Name: "offset", Type: Integer, Floor: new(int), Default: "0"},
		{Name: IdentifierParam, Type: String, Max: maxIdentifier},
		format,
	}
}

// Coarsest is a value of admin_level besides the levels. It keeps the rows whose place is in no
// place of another row that passes, with the same period and the same values in Nested: those of
// each country at the level that it is published at.
const Coarsest = "coarsest"
