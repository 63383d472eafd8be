package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// planOfKind prepares the endpoint of a table for requests of a kind.
func planOfKind(t *testing.T, table string, kind Kind, s NameSet) *Plan {
	t.Helper()
	for i := range EndpointsIn(s) {
		if e := &EndpointsIn(s)[i]; e.Table == table {
			return NewPlan(e, kind)
		}
	}
	t.Fatalf("no endpoint has the table %s", table)
	return nil
}

func TestAggregateParameters(t *testing.T) {
	for _, test := range []struct {
		table string
		set   NameSet
		query string
		want  string // the canonical query
		names string // the fields of the records
	}{
		{"conflict_event", ContractNames, "", "", "count"},
		{"conflict_event", ContractNames, "measures=count", "", "count"},
		{
			"conflict_event", ContractNames, "measures=sum:events,count&group_by=year,location_code",
			"group_by=year%2Clocation_code&measures=sum%3Aevents%2Ccount", "year location_code sum_events count",
		},
		{
			"conflict_event", ContractNames, "group_by=month&measures=max:fatalities&group_by=event_type,month&limit=5",
			"group_by=month%2Cevent_type&limit=5&measures=max%3Afatalities", "month event_type max_fatalities",
		},
		{
			"food_security", HAPINames, "group_by=ipc_phase,classification_type&measures=distinct:ipc_type",
			"group_by=ipc_phase%2Cipc_type&measures=distinct%3Aipc_type", "ipc_phase ipc_type distinct_ipc_type",
		},
		{
			"food_security", ContractNames, "group_by=ipc_phase&location_code=AFG",
			"group_by=classification_phase&location_code=AFG", "classification_phase count",
		},
		{
			"location", ContractNames, "group_by=has_hrp,quarter&measures=latest:name",
			"group_by=has_hrp%2Cquarter&measures=latest%3Aname", "has_hrp quarter latest_name",
		},
	} {
		p := planOfKind(t, test.table, Aggregate, test.set)
		var r Request
		for _, query := range []string{test.query, test.want} { // the canonical query means the same
			r.Scan(p, []byte(query))
			if err := r.Parse(); err != nil {
				t.Errorf("%s: %v", query, err)
				continue
			}
			var names []string
			for _, f := range r.AggregateFields() {
				names = append(names, f.Name)
			}
			got := string(r.AppendCanonical(nil))
			if got != test.want || strings.Join(names, " ") != test.names {
				t.Errorf("%s: %s, fields %v; want %s, fields %s", query, got, names, test.want, test.names)
			}
		}
	}
}

func TestAggregateFaults(t *testing.T) {
	for query, want := range map[string]string{
		"group_by=":                      "at least 1 value",
		"group_by=location_cod":          "did you mean location_code? Choices: location_code, location_name",
		"group_by=week":                  "reference_period_end, year, quarter, month",
		"group_by=location_code,,year":   "value 2 of the list is empty",
		"measures=":                      "at least 1 value",
		"measures=sum":                   "sum needs a field",
		"measures=sum:":                  "sum needs a field",
		"measures=count:events":          "count has no field",
		"measures=avg:events":            "did you mean mean:events?",
		"measures=summ:events":           "did you mean sum:events?",
		"measures=events":                "such as sum:FIELD",
		"measures=sum:event":             "did you mean events? Choices: events, fatalities",
		"measures=mean:event_type":       "event_type is not a number, so it has no mean. Choices: events, fatalities",
		"measures=max:evnts":             "did you mean events?",
		"measures=sum:events:fatalities": `"events:fatalities" is no field`,
		"measures=count:":                "count has no field",
		"measures=y":                     `"y" is no measure`,
	} {
		var r Request
		r.Scan(planOfKind(t, "conflict_event", Aggregate, ContractNames), []byte(query))
		err := r.Parse()
		invalid, is := errors.AsType[*Invalid](err)
		if !is || !slices.ContainsFunc(invalid.Issues, func(i Issue) bool { return strings.Contains(i.Text, want) }) {
			t.Errorf("%s: %+v, want %q", query, invalid, want)
		}
	}
	var r Request
	r.Scan(planOfKind(t, "org_type", Aggregate, ContractNames), []byte("measures=max:code,latest:code"))
	if err := r.Parse(); err == nil || !strings.Contains(fmt.Sprint(err.(*Invalid).Issues), "records have no period") {
		t.Errorf("latest of a list without periods: %v", err)
	}
}
