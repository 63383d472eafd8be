package contract

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"hdqs/index"
	"hdqs/schema"
)

//go:embed meanings.txt
var meaningsText string

// Sections of meanings.txt by name. Keys are documented there.
var (
	meanings    = section("fields")
	filterOnly  = section("filters")
	addingUp    = section("adding up")
	examples    = section("examples")
	removed     = section("removed filters")
	paramTexts  = section("parameters")
	matching    = section("matching")
	kindTexts   = section("kinds")
	figureTexts = section("figures")
	wasTexts    = section("figure history")
	groupTexts  = section("country groups")
	valueWords  = wordsOf(section("words"))

	fieldLabels   = section("labels")
	wordsOfLabels = section("words of labels")
	shortNames    = section("short names")

	groupTitles = section("groups")
	formatTexts = section("formats")
)

// section reads one section of meanings.txt. A line that is no pair of name and text is a bug.
func section(name string) map[string]string {
	_, body, found := strings.Cut(meaningsText, "\n["+name+"]\n")
	if !found {
		panic("meanings.txt has no section " + name)
	}
	body, _, _ = strings.Cut(body, "\n[")
	pairs := map[string]string{}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, text, found := strings.Cut(line, ": ")
		if _, twice := pairs[key]; !found || twice {
			panic("meanings.txt, section " + name + ": " + line)
		}
		pairs[key] = text
	}
	return pairs
}

// Texts are what is said of an endpoint: in its description, on pages and to agents.
type Texts struct{ of *Endpoint }

// Texts returns what is said of the endpoint.
func (e *Endpoint) Texts() Texts { return Texts{e} }

// Meaning is what the field means, with its unit.
func (t Texts) Meaning(field string) string {
	field = ContractNames.Name(field)
	text, ok := meanings[t.of.Table+"."+field]
	if !ok {
		text = meanings[field]
	}
	return t.of.names.text(text)
}

// wordsOf reads the words of values by field and value.
func wordsOf(fields map[string]string) map[string]map[string]string {
	all := map[string]map[string]string{}
	for field, list := range fields {
		all[field] = map[string]string{}
		for pair := range strings.SplitSeq(list, " | ") {
			value, words, found := strings.Cut(pair, " = ")
			if !found {
				panic("meanings.txt, words of " + field + ": " + pair)
			}
			all[field][value] = words
		}
	}
	return all
}

// Words is a value of a field in the words of people, empty if it is said as it is.
func Words(field, value string) string { return valueWords[ContractNames.Name(field)][value] }

// LabelOf is the name of a field or a parameter as people say it.
func LabelOf(name string) string {
	if text, ok := fieldLabels[ContractNames.Name(name)]; ok {
		return text
	}
	words := strings.Split(name, "_")
	for i, word := range words {
		if other, ok := wordsOfLabels[word]; ok {
			words[i] = other
		}
	}
	text := strings.Join(words, " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// ShortName is what the list has in a few words, empty for metadata.
func (t Texts) ShortName() string { return shortNames[t.of.Contract().Name()] }

// Unit is the unit of the field's numbers. It is empty if they have none, as people and ranks, or
// if it is in another field.
func (t Texts) Unit(field string) string {
	if l := schema.Of(t.of.Table); l != nil {
		if c := l.Column(ContractNames.Name(field)); c != nil {
			return c.Unit
		}
	}
	return ""
}

// AddingUp is how figures of several records may be added up. It is empty for lists of codes.
func (t Texts) AddingUp() string { return t.of.names.text(addingUp[t.of.Table]) }

// About is what the parameter is about and how it matches. The parameter's own text (Describe) has
// no meaning of the field, which depends on the endpoint.
func (t Texts) About(p *Param) string {
	about := t.of.names.text(p.Describe())
	if p.Name == LatestParam {
		return Sentences(about, "A series is the records with the same "+t.SeriesText()+".", t.EditionText())
	}
	if len(p.Columns) == 0 || p.Type == Day || p.IsLevel() {
		return about
	}
	name := strings.TrimSuffix(strings.TrimSuffix(p.single(), "_min"), "_max")
	text := t.of.names.text(filterOnly[ContractNames.Name(p.single())])
	if meaning := t.Meaning(name); meaning != "" && t.of.HasField(name) {
		text = meaning
	}
	other := ""
	if twin := p.Twin(); twin != "" {
		other = "The name " + twin + " is accepted too."
	}
	return Sentences(text, about, other)
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
		if p.Op == index.Below {
			return "1000000"
		}
		return "1"
	case Number:
		if p.Op == index.Below {
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
	switch {
	case p.Name == "limit" && p.Ceiling == nil:
		return paramTexts["limit of exports"]
	case p.Enum == pointFormat:
		return paramTexts["output_format of points"]
	case p.Enum == listFormat:
		return paramTexts["output_format of lists"]
	case p.Name == formatParam && p.Enum.has(FormatArrow):
		return describeExportFormats(p)
	case p.Columns == nil || p.Type == Day:
		return paramTexts[p.Name]
	case !p.List:
		return p.describeMatch()
	}
	text := fmt.Sprintf("Several values of %s, at most %d, with commas between them; a record passes if it passes %s "+
		"with at least one of them.", p.single(), MaxValues, p.single())
	if p.Type == Integer {
		return text
	}
	return text + " A comma within a value is written \\,."
}

// describeMatch is how a filter matches, and where it looks beyond what records show.
func (p *Param) describeMatch() string {
	how := "exact"
	switch {
	case p.Op == index.AtLeast:
		how = "at least"
	case p.Op == index.Below:
		how = "below"
	case p.Op == index.Like:
		how = "like"
	case p.Op == index.Contains && p.Name == "location_name":
		how = "contains, location_name"
	case p.Op == index.Contains:
		how = "contains"
	case p.IsLevel():
		how = "level"
	case p.Grouped:
		how = GroupParam
	case p.Type == String:
		how = "text"
	}
	where, since := "", ""
	switch {
	case len(p.Columns) > 1:
		where = "provider names"
	case strings.HasPrefix(p.Columns[0], "stored_"):
		where = "stored"
	}
	if p.Earlier {
		since = "earlier"
	}
	if p.Enum == levelOrCoarsest {
		where = Coarsest
	}
	return Sentences(matching[how], matching[where], matching[since])
}

// typeTexts are the types in words.
var typeTexts = map[Type]string{
	String: "text", URI: "link", Integer: "integer", Number: "number", Exact: "decimal", Boolean: "true or false",
	DateTime: "date-time", Day: "date, month or year",
}

// text is the type in words, with its choices and the length of texts.
func (t Type) text(e *Enum, limit int) string {
	switch {
	case t == Choice:
		return "one of " + strings.Join(e.Values, " · ")
	case limit > 0:
		return fmt.Sprintf("text, at most %d characters", limit)
	}
	return typeTexts[t]
}

// TypeText is the type in words.
func (p *Param) TypeText() string {
	switch {
	case p.Own != nil && p.List:
		return "names, with commas between them"
	case p.Type == DateTime:
		return "date-time or date"
	}
	return p.Type.text(p.Enum, p.Max)
}

// TypeText is the type in words.
func (f *Field) TypeText() string {
	text := f.Type.text(f.Enum, f.Max)
	if f.Nullable {
		text += ", or null"
	}
	return text
}

// GroupTitle is the title of the endpoint's path group.
func (t Texts) GroupTitle() string { return groupTitles[t.of.Group()] }

// Sentences are texts after each other, without those that are empty.
func Sentences(texts ...string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	return strings.Join(texts, " ")
}

// listedValues are the values of an enumeration that are described for lists. Values with a comma
// are accepted too, with a backslash before it, as the description says. They are left out, since
// generated R does not parse with a backslash in a value.
func (p *Param) listedValues() []string {
	var values []string
	for _, value := range p.Enum.Values {
		if listEscapes.Replace(value) == value {
			values = append(values, value)
		}
	}
	return values
}
