package odata

import (
	"bytes"
	"embed"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"text/template"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
)

// vocabulary is an OData vocabulary and the alias that $metadata uses for it.
type vocabulary struct{ Alias, Namespace string }

var vocabularies = []vocabulary{
	{"Core", "Org.OData.Core.V1"}, {"Capabilities", "Org.OData.Capabilities.V1"},
}

// vocabularyFolder is where the vocabularies are, below the root: a client must not need another
// server to read $metadata. They have the terms that it uses.
const vocabularyFolder = "vocabularies/"

//go:embed vocabularies
var vocabularyFiles embed.FS

// Address is where the vocabulary is described. Clients of Microsoft know it by its last part.
func (v vocabulary) Address(ending string) string { return vocabularyFolder + v.Namespace + ending }

// answerVocabulary answers with the file of a vocabulary.
func (s *Service) answerVocabulary(ctx *fasthttp.RequestCtx, path string) error {
	body, err := vocabularyFiles.ReadFile(path)
	if err != nil {
		return list.NotFound("there is no vocabulary %s; $metadata refers to those that there are", list.Quoted(path))
	}
	if _, err := readOptions(ctx, nil); err != nil {
		return err
	}
	contentType := xmlType
	if strings.HasSuffix(path, ".json") {
		contentType = contract.JSONType
	}
	return s.sender.Send(ctx, contentType, list.Made(body))
}

// Annotations say something of the service, a set or a property: by their terms, a boolean, a text,
// a word of an enumeration, texts, paths of properties, or a record of annotations.
type (
	object = contract.Object
	member = contract.Member

	word  struct{ vocabulary, enum, name string } // of the enumeration that the term has
	paths []string                                // of properties
)

// XML is the word with its namespace.
func (w word) XML() string { return "Org.OData." + w.vocabulary + ".V1." + w.enum + "/" + w.name }

// serviceAnnotations say what works everywhere.
func serviceAnnotations() object {
	return object{
		{"Capabilities.ConformanceLevel", word{"Capabilities", "ConformanceLevelType", "Minimal"}},
		{"Capabilities.SupportedFormats", []string{
			"application/json;odata.metadata=minimal;IEEE754Compatible=false",
			"application/json;odata.metadata=none;IEEE754Compatible=false",
			"application/json;odata.metadata=full;IEEE754Compatible=false",
			"application/json;odata.metadata=minimal;IEEE754Compatible=true",
			"application/json;odata.metadata=full;IEEE754Compatible=true",
		}},
		{"Capabilities.FilterFunctions", []string{
			"contains", "startswith", "endswith", "tolower", "toupper", "year", "month", "day", "date",
		}},
		{"Capabilities.BatchSupported", false},
		{"Capabilities.AsynchronousRequestsSupported", false},
		{"Capabilities.CrossJoinSupported", false},
		{"Capabilities.KeyAsSegmentSupported", false},
		{"Capabilities.QuerySegmentSupported", false},
	}
}

// Annotations say what works with a set.
func (s *set) Annotations() object {
	var unsorted paths
	for i := range s.Properties {
		if p := &s.Properties[i]; !p.isKey() && (len(s.sorted) == 0 || s.sorted[0] != i) {
			unsorted = append(unsorted, p.Name)
		}
	}
	ascending := paths{render.RowKeyField}
	for _, at := range s.sorted {
		ascending = append(ascending, s.Properties[at].Name)
	}
	return object{
		{"Core.Description", s.title},
		{"Core.LongDescription", s.limits()},
		{"Capabilities.TopSupported", true},
		{"Capabilities.SkipSupported", true},
		{"Capabilities.CountRestrictions", object{{"Countable", true}}},
		{"Capabilities.FilterRestrictions", object{
			{"Filterable", true}, {"NonFilterableProperties", paths{render.RowKeyField}},
		}},
		{"Capabilities.SortRestrictions", object{
			{"Sortable", true}, {"AscendingOnlyProperties", ascending}, {"NonSortableProperties", unsorted},
		}},
		{"Capabilities.SelectSupport", object{{"Supported", true}, {"Expandable", false}}},
		{"Capabilities.ExpandRestrictions", object{{"Expandable", false}}},
		{"Capabilities.SearchRestrictions", object{{"Searchable", false}}},
		{"Capabilities.ChangeTracking", object{{"Supported", false}}},
		{"Capabilities.InsertRestrictions", object{{"Insertable", false}}},
		{"Capabilities.UpdateRestrictions", object{{"Updatable", false}}},
		{"Capabilities.DeleteRestrictions", object{{"Deletable", false}}},
	}
}

// limits says what works with a set beyond what its other annotations promise, which clients obey
// whatever the number of rows.
func (s *set) limits() string {
	text := fmt.Sprintf("Where the $filter leaves at most %d rows, $orderby takes any property, asc or desc, and or "+
		"may join any properties.", mostChosen)
	for _, of := range s.groups {
		text += fmt.Sprintf(" A $filter can have %s eq 'SLUG', a group of %s.", of.name, contract.GroupsPath)
	}
	return text
}

//go:embed metadata.xml.tmpl
var metadataText string

var metadataTemplate = template.Must(template.New("").Funcs(template.FuncMap{"xml": xmlText}).Parse(metadataText))

// xmlText is a text within an attribute or element.
func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes all
	return b.String()
}

// metadataXML is the schema in XML.
func metadataXML(sets []*set) ([]byte, error) {
	var b bytes.Buffer
	err := metadataTemplate.Execute(&b, struct {
		Vocabularies   []vocabulary
		Namespace, Key string
		Sets           []*set
		Service        object
	}{vocabularies, namespace, render.RowKeyField, sets, serviceAnnotations()})
	return b.Bytes(), err
}

// inJSON are annotations as members of what they say something of.
func inJSON(all object) object {
	in := make(object, len(all))
	for i, a := range all {
		if v, is := a[1].(word); is {
			a[1] = v.name
		}
		in[i] = member{fmt.Sprint("@", a[0]), a[1]}
	}
	return in
}

// metadataJSON is the schema in JSON.
func metadataJSON(sets []*set) ([]byte, error) {
	var references, types object
	for _, v := range vocabularies {
		references = append(references, member{v.Address(".json"), object{{
			"$Include", []object{{{"$Namespace", v.Namespace}, {"$Alias", v.Alias}}},
		}}})
	}
	container := object{{"$Kind", "EntityContainer"}}
	for _, s := range sets {
		t := object{{"$Kind", "EntityType"}, {"$Key", []string{render.RowKeyField}}}
		for i := range s.Properties {
			p := &s.Properties[i]
			about := object{{"$Type", p.EDM()}}
			if p.Nullable {
				about = append(about, member{"$Nullable", true})
			}
			if p.Max > 0 {
				about = append(about, member{"$MaxLength", p.Max})
			}
			if p.kind == instant {
				about = append(about, member{"$Precision", 6})
			}
			if p.About != "" {
				about = append(about, member{"@Core.Description", p.About})
			}
			t = append(t, member{p.Name, about})
		}
		if s.About != "" {
			t = append(t, member{"@Core.Description", s.About})
		}
		types = append(types, member{s.Name, t})
		of := object{{"$Collection", true}, {"$Type", namespace + "." + s.Name}}
		container = append(container, member{s.Name, append(of, inJSON(s.Annotations())...)})
	}
	container = append(container, inJSON(serviceAnnotations())...)
	return json.Marshal(object{
		{"$Version", "4.01"},
		{"$EntityContainer", namespace + ".Container"},
		{"$Reference", references},
		{namespace, append(types, member{"Container", container})},
	})
}

// serviceDocument lists the sets.
func serviceDocument(base string, f form, sets []*set) ([]byte, error) {
	var all []object
	for _, s := range sets {
		all = append(all, object{{"name", s.Name}, {"title", s.title}, {"kind", "EntitySet"}, {"url", s.Name}})
	}
	document := object{{"value", all}}
	if f.level != none {
		document = append(object{{"@odata.context", base + "$metadata"}}, document...)
	}
	return json.Marshal(document)
}
