package contract

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestRequests reads the requests of testdata/requests.txt. The canonical form of each must have
// the same meaning.
func TestRequests(t *testing.T) {
	text := testkit.ReadFile(t, "testdata/requests.txt")
	var p *Plan
	ran := 0
	for number, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			p = planNamed(t, strings.Trim(line, "[]"))
		default:
			query, want, _ := strings.Cut(line, " -> ")
			var r Request
			for range 2 { // the second time with the memory of the first
				if got := readRequest(&r, p, query); got != want {
					t.Errorf("line %d: %s\n got %s\nwant %s", number+1, query, got, want)
				}
			}
			checkCanonical(t, p, query)
			ran++
		}
	}
	if ran < 200 {
		t.Errorf("%d requests, want 200 or more", ran)
	}
}

// planNamed returns the plan of a heading: an endpoint, a kind other than rows, a set of names.
func planNamed(t *testing.T, heading string) *Plan {
	t.Helper()
	path, hapi := strings.CutSuffix(heading, " hapi")
	name, kind := kindOf(path)
	set := ContractNames
	if hapi {
		set = HAPINames
	}
	for i := range Endpoints {
		if Endpoints[i].Name() == name {
			return NewPlan(&EndpointsIn(set)[i], kind)
		}
	}
	t.Fatalf("there is no %s", heading)
	return nil
}

// readRequest reads a request and returns what testdata/requests.txt says of it.
func readRequest(r *Request, p *Plan, query string) string {
	r.Scanned.Scan(p, []byte(query))
	err := r.Parse()
	if invalid, ok := errors.AsType[*Invalid](err); ok {
		text := ""
		for _, issue := range invalid.Issues {
			text += " ! " + issue.Type + " " + issue.Param + ": " + issue.Text.String()
		}
		return text[1:]
	}
	if err != nil {
		return "! " + err.Error()
	}
	text := cmp.Or(string(r.AppendCanonical(nil)), "nothing")
	if p.Kind == Aggregate {
		text += " fields " + strings.Join(FieldNames(r.Question.AggregateFields()), " ")
	}
	if hinted := r.Scanned.Hinted(); hinted != nil {
		text += " hint " + strings.Join(hinted, " ")
	}
	return text
}

// kindOf splits the path of a kind. A path without the name of one is of Rows.
func kindOf(path string) (endpoint string, kind Kind) {
	for k := Rows + 1; k < Figures; k++ {
		if before, is := strings.CutSuffix(path, "/"+k.String()); is {
			return before, k
		}
	}
	return path, Rows
}
