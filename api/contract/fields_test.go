package contract

import (
	"errors"
	"strings"
	"testing"
)

// TestFields checks which fields a request names, and what errors say.
func TestFields(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/resource"
	hapi := inHAPINames(planOf(path).Endpoint)
	for _, c := range []struct {
		query, canonical, fault string
	}{
		{"fields=format,name", "fields=name%2Cformat", ""},
		{"fields=name%2Cformat%2cname&limit=5", "fields=name%2Cformat&limit=5", ""},
		{"fields=format&offset=3&fields=name", "fields=name%2Cformat&offset=3", ""},
		{"fields=resource_hdx_id,dataset_catalog_id", "fields=resource_catalog_id%2Cdataset_catalog_id", ""},
		{"fields=", "", "List should have at least 1 value, or leave out fields"},
		{"fields", "", "List should have at least 1 value, or leave out fields"},
		{"fields=name,,format", "", "value 2 of the list is empty"},
		{"fields=name,", "", "value 2 of the list is empty"},
		{"fields=formt", "", "there is no such field; near ones: format"},
		{"fields=FORMATS", "", "near ones: format"},
		{"fields=dataset", "", "near ones: dataset_catalog_id, "},
		{"fields=dataset_catalg_id", "", "near ones: dataset_catalog_id, "}, // in the names of either set
		{"fields=dataset_hdx_ib", "", "near ones: dataset_catalog_id"},
		{"fields=qqqqqq", "", "the fields are resource_catalog_id, "},
		{"fields=provider_admin1_name", "", "there is no such field"},
		{"fields=*", "", "there is no such field"},
		{"fields=name%20", "", "near ones: name"},
	} {
		for _, e := range []*Endpoint{planOf(path).Endpoint, &hapi} {
			var r Request
			r.Scan(NewPlan(e, Rows), []byte(c.query))
			err := r.Parse()
			canonical := string(r.AppendCanonical(nil))
			want := e.names.text(c.canonical)
			if c.fault == "" {
				if err != nil || canonical != want {
					t.Errorf("%s: %q, want %q: %v", c.query, canonical, want, err)
				}
				continue
			}
			invalid, ok := errors.AsType[*Invalid](err)
			fault := e.names.text(c.fault)
			if !ok || !strings.Contains(invalid.Issues[0].Text, fault) || invalid.Issues[0].Param != "fields" {
				t.Errorf("%s: %v, want %s", c.query, err, c.fault)
			}
		}
	}
}

// TestFieldsOfCSV checks that fields name the columns of the answer.
func TestFieldsOfCSV(t *testing.T) {
	t.Parallel()
	e := inHAPINames(planOf("/api/v2/coordination-context/operational-presence").Endpoint)
	for query, want := range map[string]int{
		"fields=provider_admin1_name,admin1_code&output_format=csv": 2,
		"output_format=csv&fields=provider_admin1_name":             1,
		"fields=provider_admin1_name":                               -1,
		"fields=admin1_code,sector_code":                            2,
		"output_format=csv":                                         len(e.CSVFields()),
		"":                                                          len(e.Fields),
		"output_format=csv&fields=" + strings.Join(FieldNames(e.CSVFields()), ","): len(e.CSVFields()),
		"output_format=csv&fields=" + strings.Join(FieldNames(e.Fields), ","):      len(e.Fields),
	} {
		var r Request
		r.Scan(NewPlan(&e, Rows), []byte(query))
		if err := r.Parse(); err != nil != (want < 0) {
			t.Errorf("%s: %v", query, err)
		} else if got := len(r.AnswerFields()); err == nil && got != want {
			t.Errorf("%s: %d fields, want %d", query, got, want)
		}
	}
}
