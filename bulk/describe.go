package bulk

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Documents are what describes the files of a manifest to catalogs, by path relative to the
// manifest: datapackage.json (Frictionless), croissant.json, and of files of HDX HAPI the STAC
// documents that OCHA's own tree has. Addresses in them are relative, but for those of Croissant,
// which begin with base if that is known: its readers do not know where a document came from.
func (m *Manifest) Documents(base string) (map[string][]byte, error) {
	all := map[string]object{"datapackage.json": m.dataPackage(), "croissant.json": m.croissant(base)}
	m.addSTAC(all)
	texts := map[string][]byte{}
	for name, document := range all {
		text, err := json.MarshalIndent(document, "", " ")
		if err != nil {
			return nil, err
		}
		texts[name] = append(text, '\n')
	}
	return texts, nil
}

type (
	object = map[string]any
	list   = []any
)

const (
	parquetType = "application/vnd.apache.parquet"
	title       = "Humanitarian data, whole tables of one snapshot"
)

func (m *Manifest) about() string {
	return "Whole tables of snapshot " + m.Snapshot +
		", with the records of the lists of the Humanitarian Data Query Service. " +
		"Licences differ by dataset: see the sources of each table, and sources.csv."
}

func (t *Table) of(format Format) (files []*File) {
	for i := range t.Files {
		if t.Files[i].Format == format {
			files = append(files, &t.Files[i])
		}
	}
	return files
}

// distinct are the texts that some sources have, each once.
func distinct(sources []Source, text func(s Source) string) []string {
	texts := map[string]bool{}
	for _, s := range sources {
		texts[text(s)] = true
	}
	delete(texts, "")
	return slices.Sorted(maps.Keys(texts))
}

func licenseURL(s Source) string { return s.LicenseURL }

// dataPackage is a Frictionless data package of the CSV files that its readers unpack, or without
// them of the Parquet files.
func (m *Manifest) dataPackage() object {
	resources := list{}
	for i := range m.Tables {
		t := &m.Tables[i]
		csv := t.of(CSVGzip)
		for _, f := range csv {
			more := object{"compression": "gz", "encoding": "utf-8"}
			resources = append(resources, t.resource(t.Table, f, "csv", more))
		}
		if csv != nil {
			continue
		}
		for _, f := range t.of(Parquet) {
			name := strings.ToLower(strings.NewReplacer("/", ".", "=", "-", "%", "-").Replace(path.Dir(f.Path)))
			resources = append(resources, t.resource(name, f, "parquet", object{"mediatype": parquetType}))
		}
	}
	return object{
		"profile": "data-package", "name": "bulk-" + strings.ToLower(m.Snapshot), "id": m.Snapshot,
		"title": title, "description": m.about(), "created": m.Created.Format(time.RFC3339), "resources": resources,
	}
}

var frictionlessTypes = map[string]object{
	"string": {"type": "string"}, "int64": {"type": "integer"}, "double": {"type": "number"},
	"boolean":   {"type": "boolean", "trueValues": list{"True"}, "falseValues": list{"False"}},
	"timestamp": {"type": "datetime", "format": "%Y-%m-%d %H:%M:%S"},
}

func (t *Table) resource(name string, f *File, format string, r object) object {
	fields := list{}
	for _, c := range t.Schema {
		field := maps.Clone(frictionlessTypes[c.Type])
		if field == nil && format == "csv" {
			continue // points are in Parquet only
		}
		if field == nil || format != "csv" && c.Type != "string" {
			field = object{"type": "any"} // Parquet has types of its own
		}
		field["name"] = c.Name
		if c.Meaning != "" {
			field["description"] = c.Meaning
		}
		fields = append(fields, field)
	}
	maps.Copy(r, object{
		"name": name, "title": t.Title, "path": f.Path, "format": format, "profile": "tabular-data-resource",
		// Without "bytes": frictionless 5 finds none of a file by URL, and refuses the file then.
		"hash": "sha256:" + f.SHA256, "schema": object{"fields": fields, "missingValues": list{""}},
	})
	var sources, licenses list
	for _, s := range t.Sources {
		text := s.Title
		if s.Provider != "" {
			text = s.Provider + ": " + s.Title
		}
		sources = append(sources, object{"title": text})
	}
	for _, url := range distinct(t.Sources, licenseURL) {
		licenses = append(licenses, object{"path": url})
	}
	if sources != nil {
		r["sources"] = sources
	}
	if licenses != nil {
		r["licenses"] = licenses
	}
	return r
}

// croissantContext has all terms of Croissant 1.0: readers compare it with that of the
// specification.
var croissantContext = func() object {
	context := object{
		"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
		"cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
		"dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
		"data": object{"@id": "cr:data", "@type": "@json"}, "examples": object{"@id": "cr:examples", "@type": "@json"},
		"dataType": object{"@id": "cr:dataType", "@type": "@vocab"},
	}
	for term := range strings.FieldsSeq("citeAs column equivalentProperty extract field fileProperty " +
		"fileObject fileSet format includes isLiveDataset jsonPath key md5 parentField path recordSet " +
		"references regex repeated replace " +
		"samplingRate separator source subField transform") {
		context[term] = "cr:" + term
	}
	return context
}()

var croissantTypes = map[string]string{
	"string": "sc:Text", "boolean": "sc:Boolean", "int64": "sc:Integer", "double": "sc:Float",
	"timestamp": "sc:DateTime",
}

// croissant describes each table by one file with all of its rows: Parquet, or CSV if the Parquet
// files are by country.
func (m *Manifest) croissant(base string) object {
	files, records, sources := list{}, list{}, []Source{}
	for i := range m.Tables {
		t := &m.Tables[i]
		sources = append(sources, t.Sources...)
		whole, encoding := t.of(Parquet), "application/x-parquet"
		if len(whole) != 1 {
			whole, encoding = t.of(CSVGzip), "text/csv"
		}
		if len(whole) != 1 || t.Rows == 0 {
			continue
		}
		f, fields := whole[0], list{}
		files = append(files, object{
			"@type": "cr:FileObject", "@id": f.Path, "name": f.Path, "contentUrl": base + f.Path,
			"encodingFormat": encoding, "sha256": f.SHA256,
		})
		for _, c := range t.Schema {
			kind := croissantTypes[c.Type]
			if kind == "" {
				continue
			}
			fields = append(fields, object{
				"@type": "cr:Field", "@id": t.Table + "/" + c.Name, "name": c.Name, "description": c.Meaning,
				"dataType": kind,
				"source":   object{"fileObject": object{"@id": f.Path}, "extract": object{"column": c.Name}},
			})
		}
		records = append(records, object{
			"@type": "cr:RecordSet", "@id": t.Table, "name": t.Table, "description": t.Title, "field": fields,
		})
	}
	dataset := object{
		"@context": croissantContext, "@type": "sc:Dataset", "conformsTo": "http://mlcommons.org/croissant/1.0",
		"name": "bulk-" + m.Snapshot, "description": m.about(), "version": "1.0.0", "url": base + "manifest.json",
		"datePublished": m.Created.Format(time.RFC3339), "distribution": files, "recordSet": records,
		"citeAs": title + ", " + m.Snapshot,
	}
	named := func(s Source) string { return cmp.Or(s.LicenseURL, s.License) }
	if licenses := distinct(sources, named); len(licenses) > 0 {
		dataset["license"] = licenses
	}
	return dataset
}
