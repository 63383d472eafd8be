package contract

import (
	"strings"
	"testing"
)

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
		r.Scanned.Scan(NewPlan(&e, Rows), []byte(query))
		if err := r.Parse(); err != nil != (want < 0) {
			t.Errorf("%s: %v", query, err)
		} else if got := len(r.Question.AnswerFields()); err == nil && got != want {
			t.Errorf("%s: %d fields, want %d", query, got, want)
		}
	}
}
