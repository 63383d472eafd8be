package odata

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"hdqs/api/render"
)

// vocabulary is a vocabulary of annotations.
type vocabulary struct{ alias, namespace string }

var vocabularies = []vocabulary{
	{"Core", "Org.OData.Core.V1"}, {"Capabilities", "Org.OData.Capabilities.V1"},
}

// address is where the vocabulary is described.
func (v vocabulary) address(ending string) string {
	return "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/" + v.namespace + ending
}

// annotation says something of the service, a set or a property. Its value is a boolean, a text, a
// word of an enumeration, texts, paths of properties, or a record of annotations.
type annotation struct {
	term  string
	value any
}

type (
	word  string   // of the enumeration that the term has
	paths []string // of properties
	group []annotation
)

// serviceAnnotations say what works everywhere.
func serviceAnnotations() []annotation {
	return []annotation{
		{"Capabilities.ConformanceLevel", word("Capabilities.ConformanceLevelType/Minimal")},
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

// annotations say what works with a set.
func (s *set) annotations() []annotation {
	var unsorted paths
	for i := range s.properties {
		if p := &s.properties[i]; !p.isKey() && (len(s.sorted) == 0 || s.sorted[0] != i) {
			unsorted = append(unsorted, p.name)
		}
	}
	ascending := paths{render.RowKeyField}
	for _, at := range s.sorted {
		ascending = append(ascending, s.properties[at].name)
	}
	return []annotation{
		{"Core.Description", s.title},
		{"Capabilities.TopSupported", true},
		{"Capabilities.SkipSupported", true},
		{"Capabilities.CountRestrictions", group{{"Countable", true}}},
		{"Capabilities.FilterRestrictions", group{
			{"Filterable", true}, {"NonFilterableProperties", paths{render.RowKeyField}},
		}},
		{"Capabilities.SortRestrictions", group{
			{"Sortable", true}, {"AscendingOnlyProperties", ascending}, {"NonSortableProperties", unsorted},
		}},
		{"Capabilities.SelectSupport", group{{"Supported", true}, {"Expandable", false}}},
		{"Capabilities.ExpandRestrictions", group{{"Expandable", false}}},
		{"Capabilities.SearchRestrictions", group{{"Searchable", false}}},
		{"Capabilities.ChangeTracking", group{{"Supported", false}}},
		{"Capabilities.InsertRestrictions", group{{"Insertable", false}}},
		{"Capabilities.UpdateRestrictions", group{{"Updatable", false}}},
		{"Capabilities.DeleteRestrictions", group{{"Deletable", false}}},
	}
}

// xmlText is a text within an attribute or element.
func xmlText(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes all
	return b.String()
}

// writeXML writes an annotation, or the value of a property of a record.
func (a *annotation) writeXML(b *strings.Builder, element, name string) {
	open := "<" + element + " " + name + `="` + a.term + `"`
	end := "</" + element + ">"
	switch v := a.value.(type) {
	case bool:
		fmt.Fprintf(b, `%s Bool="%t"/>`, open, v)
	case word:
		fmt.Fprintf(b, `%s EnumMember="%s"/>`, open, "Org.OData."+strings.Replace(string(v), ".", ".V1.", 1))
	case string:
		fmt.Fprintf(b, `%s String="%s"/>`, open, xmlText(v))
	case []string:
		b.WriteString(open + "><Collection>")
		for _, text := range v {
			b.WriteString("<String>" + xmlText(text) + "</String>")
		}
		b.WriteString("</Collection>" + end)
	case paths:
		b.WriteString(open + "><Collection>")
		for _, path := range v {
			b.WriteString("<PropertyPath>" + path + "</PropertyPath>")
		}
		b.WriteString("</Collection>" + end)
	case group:
		b.WriteString(open + "><Record>")
		for i := range v {
			v[i].writeXML(b, "PropertyValue", "Property")
		}
		b.WriteString("</Record>" + end)
	}
}

func writeAnnotations(b *strings.Builder, all []annotation) {
	for i := range all {
		all[i].writeXML(b, "Annotation", "Term")
		b.WriteByte('\n')
	}
}

// metadataXML is the schema in XML.
func metadataXML(sets []*set) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="utf-8"?>` + "\n" +
		`<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">` + "\n")
	for _, v := range vocabularies {
		fmt.Fprintf(&b, `<edmx:Reference Uri="%s"><edmx:Include Namespace="%s" Alias="%s"/></edmx:Reference>`+"\n",
			v.address(".xml"), v.namespace, v.alias)
	}
	fmt.Fprintf(&b, "<edmx:DataServices>\n<Schema Namespace=%q xmlns=%q>\n", namespace,
		"http://docs.oasis-open.org/odata/ns/edm")
	for _, s := range sets {
		fmt.Fprintf(&b, "<EntityType Name=%q>\n<Key><PropertyRef Name=%q/></Key>\n", s.name, render.RowKeyField)
		for i := range s.properties {
			p := &s.properties[i]
			fmt.Fprintf(&b, "<Property Name=%q Type=%q Nullable=\"%t\"", p.name, p.edm(), p.nullable)
			if p.max > 0 {
				b.WriteString(` MaxLength="` + strconv.Itoa(p.max) + `"`)
			}
			if p.kind == instant {
				b.WriteString(` Precision="6"`)
			}
			b.WriteByte('>')
			if p.about != "" {
				(&annotation{"Core.Description", p.about}).writeXML(&b, "Annotation", "Term")
			}
			b.WriteString("</Property>\n")
		}
		if s.about != "" {
			writeAnnotations(&b, []annotation{{"Core.Description", s.about}})
		}
		b.WriteString("</EntityType>\n")
	}
	b.WriteString("<EntityContainer Name=\"Container\">\n")
	for _, s := range sets {
		fmt.Fprintf(&b, "<EntitySet Name=%q EntityType=\"%s.%s\">\n", s.name, namespace, s.name)
		writeAnnotations(&b, s.annotations())
		b.WriteString("</EntitySet>\n")
	}
	writeAnnotations(&b, serviceAnnotations())
	b.WriteString("</EntityContainer>\n</Schema>\n</edmx:DataServices>\n</edmx:Edmx>\n")
	return []byte(b.String())
}

// object is a JSON object whose members keep their order.
type object []annotation

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(render.AppendJSONText(b, m.term), ':'), value...)
	}
	return append(b, '}'), nil
}

// inJSON are annotations as members of what they say something of.
func inJSON(all []annotation) (o object) {
	for _, a := range all {
		switch v := a.value.(type) {
		case group:
			a.value = object(v)
		case word:
			_, a.value, _ = strings.Cut(string(v), "/")
		}
		o = append(o, annotation{"@" + a.term, a.value})
	}
	return o
}

// metadataJSON is the schema in JSON.
func metadataJSON(sets []*set) ([]byte, error) {
	var references, types object
	for _, v := range vocabularies {
		references = append(references, annotation{v.address(".json"), object{{
			"$Include", []object{{{"$Namespace", v.namespace}, {"$Alias", v.alias}}},
		}}})
	}
	container := object{{"$Kind", "EntityContainer"}}
	for _, s := range sets {
		t := object{{"$Kind", "EntityType"}, {"$Key", []string{render.RowKeyField}}}
		for i := range s.properties {
			p := &s.properties[i]
			member := object{{"$Type", p.edm()}}
			if p.nullable {
				member = append(member, annotation{"$Nullable", true})
			}
			if p.max > 0 {
				member = append(member, annotation{"$MaxLength", p.max})
			}
			if p.kind == instant {
				member = append(member, annotation{"$Precision", 6})
			}
			if p.about != "" {
				member = append(member, annotation{"@Core.Description", p.about})
			}
			t = append(t, annotation{p.name, member})
		}
		if s.about != "" {
			t = append(t, annotation{"@Core.Description", s.about})
		}
		types = append(types, annotation{s.name, t})
		of := object{{"$Collection", true}, {"$Type", namespace + "." + s.name}}
		container = append(container, annotation{s.name, append(of, inJSON(s.annotations())...)})
	}
	container = append(container, inJSON(serviceAnnotations())...)
	return json.Marshal(object{
		{"$Version", "4.01"},
		{"$EntityContainer", namespace + ".Container"},
		{"$Reference", references},
		{namespace, append(types, annotation{"Container", container})},
	})
}

// serviceDocument lists the sets.
func serviceDocument(base string, f form, sets []*set) ([]byte, error) {
	var all []object
	for _, s := range sets {
		all = append(all, object{{"name", s.name}, {"title", s.title}, {"kind", "EntitySet"}, {"url", s.name}})
	}
	document := object{{"value", all}}
	if f.level != none {
		document = append(object{{"@odata.context", base + "$metadata"}}, document...)
	}
	return json.Marshal(document)
}
