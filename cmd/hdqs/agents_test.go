package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hdqs/internal/testkit"
)

// scripted is an agent without a model: it knows a question's words, and goes on only with what the
// tools' answers say.
type scripted struct {
	*testing.T
	session *mcp.ClientSession
}

// said is what answers say to it.
type said struct {
	refused  bool
	text     string
	Total    int
	Instead  *saidCall
	Warnings []string
	Rows     []map[string]json.RawMessage
	Results  []found
	Nothing  *struct {
		Statement string
		Nearest   []struct {
			Records int
			Values  []string
			Call    *saidCall
		}
	}
	Sources  []struct{ Dataset string }
	Levels   []int `json:"admin_levels"`
	Snapshot string
	URL      string
}

// saidCall is a call that an answer names.
type saidCall struct {
	Tool      string
	Arguments map[string]any
}

// found is a result of find.
type found struct {
	Kind, Name, Code string
	Use              []struct {
		Tool      string
		Lists     []string
		Arguments map[string]any
	}
}

func newScripted(t *testing.T, address string) scripted {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "scripted"}, nil).Connect(context.Background(),
		&mcp.StreamableClientTransport{Endpoint: address + "/mcp", DisableStandaloneSSE: true}, nil)
	testkit.Must(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return scripted{t, session}
}

func (s scripted) call(tool string, arguments map[string]any) (a said) {
	s.Helper()
	r, err := s.session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	testkit.Must(s, err)
	a.text, a.refused = r.Content[0].(*mcp.TextContent).Text, r.IsError
	if err := json.Unmarshal([]byte(a.text), &a); err != nil {
		s.Fatalf("%s %v: %s", tool, arguments, a.text)
	}
	return a
}

// follow sends the call and then, while it is refused or nothing passes, the one that is named
// instead.
func (s scripted) follow(tool string, arguments map[string]any) (a said) {
	s.Helper()
	for range 4 {
		a = s.call(tool, arguments)
		next := a.Instead
		if next == nil && a.Nothing != nil && len(a.Nothing.Nearest) > 0 {
			next = a.Nothing.Nearest[0].Call
		}
		if !a.refused && a.Total > 0 || next == nil {
			return a
		}
		if tool, arguments = next.Tool, next.Arguments; tool == "rows or aggregate" {
			tool = "rows"
		}
	}
	return a
}

// useOf is what a result says to do for a list; nil arguments if it says nothing of it.
func (f *found) useOf(list string) map[string]any {
	for _, u := range f.Use {
		if u.Tool == "figure" && list == "" || slices.Contains(u.Lists, list) {
			arguments := maps.Clone(u.Arguments)
			if list != "" {
				arguments["list"] = list
			}
			return arguments
		}
	}
	return nil
}

// named is the result of a kind with exactly a name.
func (s scripted) named(kind, name string) *found {
	s.Helper()
	for offset := 0; offset < 40; offset += 8 {
		a := s.call("find", map[string]any{"words": name, "kind": kind, "offset": offset})
		for i := range a.Results {
			if a.Results[i].Name == name {
				return &a.Results[i]
			}
		}
		if offset+8 >= a.Total {
			break
		}
	}
	return nil
}

// knownCountry is a country with what a separate program knows of it.
type knownCountry struct {
	code, name string
	figures    map[string]string // values by name
}

// TestAgentsScore asks 300 questions about the countries of the real input, and compares the
// answers with those of the interface.
func TestAgentsScore(t *testing.T) {
	parallel(t)
	server := serve(t, "--store", fixtureStore(t), "--mcp")
	s := newScripted(t, server.base)
	titles := map[string]string{}
	for _, row := range s.call("figure", nil).Rows {
		titles[unquoted(row["name"])] = unquoted(row["title"])
	}
	values := figuresOf(t, server, "")
	var countries []*knownCountry
	for _, row := range server.records(t, "metadata/location?limit=1000") {
		c := &knownCountry{row["code"].(string), row["name"].(string), map[string]string{}}
		for name, of := range values {
			c.figures[name] = of[c.code]
		}
		countries = append(countries, c)
	}
	asked := 0
	score := func(ok bool, question string, got any, want string) {
		if asked++; !ok {
			t.Errorf("%s: %v, want %s", question, got, want)
		}
	}
	s.askFigures(countries, titles, score, 180)
	s.askConflicts(countries, server, score)
	if asked < 300 {
		t.Errorf("%d questions, want 300", asked)
	}
}

// askFigures asks for headline figures in words, of each figure in turn.
func (s scripted) askFigures(
	countries []*knownCountry, titles map[string]string, score func(bool, string, any, string), most int,
) {
	s.Helper()
	var asked []string
	for round := 0; len(asked) < most && round < 200; round++ {
		for _, name := range slices.Sorted(maps.Keys(titles)) {
			at := slices.IndexFunc(countries, func(c *knownCountry) bool {
				return c.figures[name] != "" && !slices.Contains(asked, name+c.code)
			})
			if at < 0 || len(asked) == most {
				continue
			}
			c := countries[at]
			asked = append(asked, name+c.code)
			question := titles[name] + ", " + c.name
			var arguments map[string]any
			if hit := s.named("figure", question); hit != nil {
				arguments = hit.useOf("")
			} else if figure, country := s.named("figure", titles[name]), s.named("country", c.name); figure != nil &&
				country != nil {
				arguments = country.useOf("")
				arguments["figure"] = figure.Code
			}
			a := s.follow("figure", arguments)
			got := ""
			if len(a.Rows) == 1 {
				got = string(a.Rows[0]["value"])
			}
			isPlain := sameNumber(got, c.figures[name]) && len(a.Rows[0]["unit"]) > 4 && a.URL != "" && a.Snapshot != ""
			score(isPlain, question, a.text, c.figures[name])
		}
	}
}

// askConflicts asks how many records and how many fatalities a country has.
func (s scripted) askConflicts(countries []*knownCountry, server *server, score func(bool, string, any, string)) {
	s.Helper()
	for _, c := range countries {
		of := conflictPath + "?location_code=" + c.code
		total := ask(s.T, "GET", server.base+with(of+"&limit=0")).header.Get("X-Total-Count")
		hit := s.named("country", c.name)
		if total == "0" || hit == nil {
			continue
		}
		use := hit.useOf("conflict-events")
		a := s.call("rows", use)
		score(strconv.Itoa(a.Total) == total, "records of conflict events, "+c.name, a.text, total)
		use["group_by"], use["measures"] = []string{"event_type"}, []string{"sum:fatalities"}
		a = s.follow("aggregate", use)
		want := decode[struct{ Data []map[string]json.RawMessage }](s.T, ask(s.T, "GET", with(a.URL)).body).Data
		score(len(want) > 0 && reflect.DeepEqual(a.Rows, want), "fatalities, "+c.name, a.text, fmt.Sprint(want))
	}
}

// sameNumber reports whether two texts are one number to nine digits.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && fmt.Sprintf("%.9g", x) == fmt.Sprintf("%.9g", y)
}

func unquoted(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text) // "" for what is no text
	return text
}

// TestAgentsNothing asks 100 questions about what does not exist: no answer has a number, each says
// so, and names what exists nearest.
func TestAgentsNothing(t *testing.T) {
	parallel(t)
	server := serve(t, "--store", fixtureStore(t), "--mcp")
	values := figuresOf(t, server, "")
	s := newScripted(t, server.base)
	asked := 0
	for _, name := range []string{
		"people_in_need", "internally_displaced", "refugees_by_asylum", "population", "funding_asked",
		"people_in_phase_3_or_worse", "organisations_present", "rainfall_percent_of_normal", "returned_idps",
	} {
		of := 0
		for code := range values["overall_risk"] {
			if values["overall_risk"][code] == "" || values[name][code] != "" || of == 5 {
				continue
			}
			of++
			asked++
			a := s.call("figure", map[string]any{"figure": name, "countries": []string{code}})
			if a.Nothing == nil || len(a.Rows) != 1 || string(a.Rows[0]["value"]) != "null" ||
				!strings.Contains(a.Nothing.Statement, code) ||
				!strings.ContainsAny(unquoted(a.Rows[0]["reason"]), "0123456789") {
				t.Errorf("%s of %s: %s", name, code, a.text)
			}
		}
	}
	lists := map[string]string{
		"idps": "population", "humanitarian-needs": "population", "food-security": "population_in_phase",
		"funding": "funding_usd", "operational-presence": "", "baseline-population": "population",
		"food-prices-market-monitor": "", "rainfall": "",
	}
	for list, field := range lists {
		for _, filters := range []map[string]any{
			{"location_code": "FRA", "admin_level": "coarsest"},
			{"location_code": "NZL"},
			{"start_date": "2090-01-01"},
			{"end_date": "1900-01-01"},
			{"location_code": []string{"ISL", "NOR"}},
			{"location_name": "Atlantis"},
			{"location_code": "DNK", "start_date": "2091"},
		} {
			if asked++; list == "funding" {
				delete(filters, "admin_level")
			}
			tool, arguments := "rows", map[string]any{"list": list, "filters": filters}
			if field != "" && asked%2 == 0 {
				tool, arguments["measures"] = "aggregate", []string{"max:" + field}
			}
			a := s.call(tool, arguments)
			isNothing := !a.refused && a.Total == 0 && len(a.Rows) == 0 && a.Nothing != nil
			if !isNothing || len(a.Nothing.Nearest) == 0 || a.Nothing.Nearest[0].Records == 0 ||
				a.Nothing.Nearest[0].Call == nil {
				t.Errorf("%s %v: %s", tool, arguments, a.text)
				continue
			}
			next := a.Nothing.Nearest[0].Call
			if there := s.call(next.Tool, next.Arguments); there.refused || there.Total == 0 {
				t.Errorf("%s %v: the nearest call %v gives %s", tool, arguments, next, there.text)
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d questions, want 100", asked)
	}
}

// TestAgentsTraps makes mistakes that agents make. Each answer is a refusal or a warning with the
// call that is right, or with what exists, and that call has records.
func TestAgentsTraps(t *testing.T) {
	parallel(t)
	server := serve(t, "--store", fixtureStore(t), "--mcp")
	s := newScripted(t, server.base)
	traps := testkit.Cases(t, "testdata/agents_traps.txt", " ", 2)
	for _, c := range traps {
		tool, arguments := c[0], decode[map[string]any](t, []byte(c[1]))
		a := s.call(tool, arguments)
		isNearest := a.Nothing != nil && len(a.Nothing.Nearest) > 0 && a.Nothing.Nearest[0].Call != nil
		if a.Instead == nil && !isNearest || !a.refused && len(a.Warnings) == 0 && a.Nothing == nil {
			t.Errorf("%s: no error and no warning with a call: %s", c, a.text[:min(len(a.text), 600)])
			continue
		}
		if right := s.follow(tool, arguments); right.refused || right.Total == 0 {
			t.Errorf("%s: what is named leads to %s", c, right.text)
		}
	}
	const of, want = "people_in_need", "South Sudan: Humanitarian Needs (invented)" // ends like Sudan's
	sample := newScripted(t, serve(t, "--mcp").base)
	cited := sample.call("figure", map[string]any{"figure": of, "countries": []string{"SSD"}})
	if len(cited.Sources) != 1 || cited.Sources[0].Dataset != want {
		t.Errorf("sources of %s in South Sudan: %+v", of, cited.Sources)
	}
	if len(traps) < 60 {
		t.Errorf("%d traps, want 60", len(traps))
	}
}
