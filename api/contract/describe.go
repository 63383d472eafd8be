package contract

import (
	"fmt"
	"strings"
)

// Titles of the path groups, for pages and the interface description.
var groupTitles = map[string]string{
	"metadata":                        "Metadata",
	"coordination-context":            "Coordination & context",
	"affected-people":                 "Affected people",
	"food-security-nutrition-poverty": "Food security, nutrition & poverty",
	"climate":                         "Climate",
	"geography-infrastructure":        "Geography & infrastructure",
}

// Example is a value that the parameter accepts.
func (p *Param) Example() string {
	if p.Default != "" {
		return p.Default
	}
	if p.List {
		return strings.Join(p.exampleList(), ",")
	}
	if p.example != "" {
		return p.example
	}
	switch p.Type {
	case Choice:
		return p.Enum.Values[0]
	case Integer:
		if p.Op == Below {
			return "1000000"
		}
		return "1"
	case Number:
		if p.Op == Below {
			return "9.5"
		}
		return "0.5"
	case Boolean:
		return "true"
	}
	return examples[ContractNames.Name(p.Name)]
}

// exampleList is values that a list accepts, as they are sent.
func (p *Param) exampleList() []string {
	plain := *p
	plain.Name, plain.List = p.single(), false
	switch {
	case p.Own != nil && p.example != "":
		return []string{p.example}
	case plain.Name == "location_code":
		return []string{"AFG", "SDN", "TCD"}
	case p.Type == Choice:
		values := p.listedValues()
		return values[:min(2, len(values))]
	case p.Type == Integer:
		return []string{"1", "2"}
	}
	return []string{plain.Example()}
}

// Describe is what the parameter does, in a sentence or two.
func (p *Param) Describe() string {
	switch p.Name {
	case "limit":
		if p.Ceiling == nil {
			return "The most records to return; without it all that pass."
		}
		return fmt.Sprintf("The most records to return, 0 to %d. Header X-Total-Count tells how many there are.",
			MaxLimit)
	case "offset":
		return "How many records to skip. The order of records is fixed, so pages fit together."
	case "output_format":
		if p.Enum.has(FormatArrow) {
			return describeExportFormats(p)
		}
		if p.Enum == pointFormat {
			return "json, or csv for a file with a header line, or geojson for a FeatureCollection of points " +
				"(RFC 7946)."
		}
		return "json, or csv for a file with a header line."
	case "app_identifier":
		return "Names your application; make it with /api/v2/encode_app_identifier. Needed here or in the header " +
			"X-CATALOG-API-APP-IDENTIFIER."
	case "start_date":
		return "Keeps records whose reference period ends at this instant or later, or has no end. YYYY, YYYY-MM and " +
			"YYYY-MM-DD mean the first instant of that span."
	case "end_date":
		return "Keeps records whose reference period starts before the end of this span: YYYY, YYYY-MM or " +
			"YYYY-MM-DD. With a time, before that instant."
	}
	if p.Own != nil {
		return p.Own.about
	}
	if p.List {
		return p.describeList()
	}
	text := p.describeMatch() + p.describeColumns()
	if p.Earlier {
		text += " Version 1 of the public service had this filter, its version 2 does not."
	}
	return text
}

func (p *Param) describeList() string {
	text := fmt.Sprintf("Several values of %s, at most %d, with commas between them; a record passes if it passes %s "+
		"with at least one of them.", p.single(), MaxValues, p.single())
	if p.Type == Integer {
		return text
	}
	return text + " A comma within a value is written \\,."
}

func (p *Param) describeMatch() string {
	switch {
	case p.Op == AtLeast:
		return "Keeps records whose value is at least this."
	case p.Op == Below:
		return "Keeps records whose value is below this; the bound itself is not included."
	case p.Op == Like:
		return "The whole value, in any case. Wildcards: % is any run of characters, _ any one; \\ before either " +
			"makes it literal."
	case p.Op == Contains && p.Name == "location_name":
		return "A part of the name, in any case, so Mali also finds Somalia. Wildcards: % is any run of characters, " +
			"_ any one; " +
			"\\ before either makes it literal. A code finds one country."
	case p.Op == Contains:
		return "A part of the value, in any case. Wildcards: % is any run of characters, _ any one; " +
			"\\ before either makes it literal."
	case p.IsLevel():
		return "The administrative level of the record: 0 country, 1 or 2. One level, not up to it: do not add up " +
			"records of several levels."
	case p.Type == String:
		return "The whole value, in its case."
	}
	return "The exact value."
}

// describeColumns is where a filter looks beyond what records show.
func (p *Param) describeColumns() string {
	switch {
	case len(p.Columns) > 1:
		return " Looks at the unit's name and at the name that the data provider used."
	case strings.HasPrefix(p.Columns[0], "stored_"):
		return " Looks at the stored value, also where the record shows null: placeholders have codes that end in " +
			"-XXX and the name UNSPECIFIED."
	}
	return ""
}

// typeTexts are the types in words.
var typeTexts = map[Type]string{
	String: "text", URI: "link", Choice: "one of", Integer: "integer", Number: "number", Exact: "decimal",
	Boolean:  "true or false",
	DateTime: "date-time", Day: "date, month or year",
}

// TypeText is the type in words.
func (p *Param) TypeText() string {
	switch {
	case p.Own != nil && p.List:
		return "names, with commas between them"
	case p.Type == Choice:
		return "one of " + strings.Join(p.Enum.Values, " · ")
	case p.Type == DateTime:
		return "date-time or date"
	case p.Max > 0:
		return fmt.Sprintf("text, at most %d characters", p.Max)
	}
	return typeTexts[p.Type]
}

// TypeText is the type in words.
func (f *Field) TypeText() string {
	text := typeTexts[f.Type]
	switch {
	case f.Type == Choice:
		text = "one of " + strings.Join(f.Enum.Values, " · ")
	case f.Max > 0:
		text = fmt.Sprintf("text, at most %d characters", f.Max)
	}
	if f.Nullable {
		text += ", or null"
	}
	return text
}

// GroupTitle is the title of the endpoint's path group.
func (e *Endpoint) GroupTitle() string { return groupTitles[e.Group()] }
