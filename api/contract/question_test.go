package contract

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"hdqs/aggregate"
	"hdqs/internal/testkit"
)

// TestQuestion holds that questions made in the program are those that a request for their text
// asks.
func TestQuestion(t *testing.T) {
	for i := range Endpoints {
		e := &Endpoints[i]
		for _, k := range []Kind{Rows, Aggregate, Facets, Export} {
			p := PlanOf(e, k)
			q := Ask(e, k)
			for j := range p.Params {
				switch param := &p.Params[j]; {
				case param.Columns == nil && param.Type != Day:
				case param.Type == Day:
					q.Keep(param.Name, "2024-05")
				case param.List:
					second := "2"
					if param.Enum != nil {
						second = param.Enum.Values[1]
					}
					q.Keep(param.Name, firstOf(param), second)
				default:
					q.Keep(param.Name, firstOf(param))
				}
			}
			if e.Series() != nil {
				q.Latest = true
			}
			if k == Aggregate {
				q.GroupBy(e.Fields[0].Name).Measure("distinct:"+e.Fields[0].Name, "count")
			}
			if k == Facets {
				q.Of = []Group{{Field: 0, Part: aggregate.Whole}}
			}
			if k == Rows {
				q.Page(0, 10)
			}
			r, err := Read(p, q.Text())
			if err != nil {
				t.Fatalf("%s: %s: %v", e.Path, q.Text(), err)
			}
			for j := range r.Question.Filters {
				want := q.filterAt(r.Question.Filters[j].Param)
				got := r.Question.Filters[j]
				got.Text = want.Text // of days
				if !reflect.DeepEqual(got, *want) {
					t.Errorf("%s: %s: read %v, want %v", e.Path, p.Params[got.Param].Name, got, *want)
				}
			}
			testkit.Equal(t, len(r.Question.Filters), len(q.Filters), "%s: filters of %s", e.Path, q.Text())
			if again := r.Question.Copy().In(HAPINames).In(ContractNames); again.Text() != r.Question.Text() {
				t.Errorf("%s: %s in other names and back is %s", e.Path, r.Question.Text(), again.Text())
			}
			same, err := Read(PlanOf(e, Rows), QueryOf(q.Pairs()...))
			days := []string{"start_date", "end_date"} // which are read as instants
			got, want := same.Question.Drop(days...).Pairs(), q.Copy().Drop(days...).Pairs()
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: parameters are read as %v, %v; want %v", e.Path, got, err, want)
			}
			if left := q.Drop(names(p)...); len(left.Filters) > 0 || left.Coarsest {
				t.Errorf("%s: filters are left: %v", e.Path, left.Filters)
			}
		}
	}
}

// firstOf is a value that a parameter takes.
func firstOf(p *Param) string {
	switch {
	case p.Enum != nil:
		return p.Enum.Values[0]
	case p.Type == Boolean:
		return "true"
	case p.Type == DateTime:
		return "2024-05-01T00:00:00"
	}
	return "1"
}

func names(p *Plan) []string { return p.names }

// TestQuestionPairs holds which parameters questions about rows have.
func TestQuestionPairs(t *testing.T) {
	ask := func(k Kind) *Question { return Ask(EndpointOf("humanitarian_needs", ContractNames), k) }
	of := ask(Aggregate).Keep("sector_code__in", "WSH", "SHL").Keep("start_date", "2024")
	of.Keep("admin_level", Coarsest)
	of.Edition, of.Everybody = true, true
	for _, c := range []struct {
		q    *Question
		want string
	}{
		{
			of.GroupBy("category"),
			"admin_level coarsest everybody true latest edition sector_code__in SHL,WSH start_date 2024",
		},
		{of.Only("start_date", "admin_level"), "start_date 2024"},
		{of.Copy().Drop(LatestParam, EverybodyParam, "sector_code__in"), "admin_level coarsest start_date 2024"},
		{ask(Rows).Select("population", "location_code").Page(5, 10), ""},
	} {
		testkit.Equal(t, strings.Join(c.q.Pairs(), " "), c.want, "%s", c.q.Text())
	}
	testkit.Equal(t, ask(Facets).GroupBy("category", "year").Text(), "of=category,year", "facets")
	if got := ask(Rows).Select("population", "location_code").Text(); got != "fields=location_code,population" {
		t.Errorf("fields are %s", got)
	}
	testkit.Equal(t, QueryOf("b", "1&2", "a", "", "A", "x y"), "A=x+y&b=1%262", "the query")
}

// TestQuestionAdd holds that filters of one list are taken to another by their names, and that a
// copy is changed alone.
func TestQuestionAdd(t *testing.T) {
	from := Ask(EndpointOf("humanitarian_needs", ContractNames), Rows)
	from.Keep("location_code", "AFG").Keep("end_date", "2024")
	to := Ask(EndpointOf("conflict_event", HAPINames), Aggregate).Keep("location_code", "SDN").GroupBy("year")
	both := to.Copy().Add(from).GroupBy("admin1_code")
	want := "end_date=2025-01-01T00:00:00&group_by=year,admin1_code&location_code=AFG"
	testkit.Equal(t, both.Text(), want, "question")
	testkit.Equal(t, to.Text(), "group_by=year&location_code=SDN", "after a copy was changed")
	from.Latest = true
	want = "end_date=2025-01-01T00:00:00&group_by=year&latest=true&location_code=SDN"
	testkit.Equal(t, to.Copy().Add(from).Add(to).Text(), want, "the newest rows of one of three")
	several := to.KeepAll("location_code", []string{"SDN", "AFG"}).Text()
	testkit.Equal(t, several, "group_by=year&location_code__in=AFG,SDN", "several values")
}

// planOf returns the plan of the endpoint with a path.
func planOf(path string) *Plan {
	for i := range Endpoints {
		if Endpoints[i].Path == path {
			return NewPlan(&Endpoints[i], Rows)
		}
	}
	panic("no endpoint " + path)
}

// goodIdentifier is the identifier of my-app and me@example.org.
const goodIdentifier = "bXktYXBwOm1lQGV4YW1wbGUub3Jn"

// TestNested lists whose rows can contain one another: also those of poverty, whose rows have
// nothing but a place and a period.
func TestNested(t *testing.T) {
	for table, want := range map[string]bool{
		"poverty_rate": true, "conflict_event": true, "rainfall": true, "food_price": false, "funding": false,
		"admin2": false, "market": false,
	} {
		testkit.Equal(t, EndpointOf(table, ContractNames).Nests(), want, "%s: rows can contain others", table)
	}
}
