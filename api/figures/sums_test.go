//go:build !race

package figures_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

var madeCodes = strings.Fields("AFG MLI SOM TCD NER XKX UKR VEN")

// madeGroups are sample tables whose countries are madeCodes, with made-up regions and incomes.
func madeGroups(t *testing.T, random *rand.Rand, rows int) []*apitest.Table {
	tables := apitest.SampleTables(t, rows)
	for _, x := range tables {
		for _, row := range x.Rows {
			for _, column := range []string{"location_code", "origin_location_code", "asylum_location_code"} {
				if _, has := row[column]; has {
					row[column] = madeCodes[random.IntN(len(madeCodes))]
				}
			}
		}
		if x.Endpoint.Table != "location" {
			continue
		}
		some := x.Rows[0]
		x.Rows = nil
		for _, name := range []string{"region", "subregion", "intermediate_region", "income_group"} {
			x.Columns = append(x.Columns, apitest.Column{Name: name, Kind: snapshot.Text, Nullable: true})
		}
		for i, code := range madeCodes {
			row := apitest.With(some, map[string]any{"id": int64(i + 1), "code": code, "has_hrp": i%3 == 0})
			for _, c := range x.Columns[len(x.Columns)-4:] {
				if row[c.Name] = nil; random.IntN(4) > 0 {
					row[c.Name] = fmt.Sprintf("%s %d", c.Name, random.IntN(3))
				}
			}
			x.Rows = append(x.Rows, row)
		}
	}
	return tables
}

// TestGroups compares answers about groups of countries with those about the codes of their
// members: rows, counts, values and exports of each list, and headline figures.
func TestGroups(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(46, 1))
	own := contract.CountryGroup{Kind: contract.OwnGroup, Slug: "ours", Name: "Ours", Members: []string{"TCD", "VEN"}}
	s := apitest.Server(t, state.Options{Groups: []contract.CountryGroup{own}}, madeGroups(t, random, 60))
	groups := s.State.Snapshots.Current.Load().Bound.Groups
	body := func(target, query string) string {
		a := s.Answer("GET", target+"?app_identifier="+apitest.Identifier+"&"+query, nil)
		if a.Status != 200 {
			t.Fatalf("%s?%s: %d %s", target, query, a.Status, a.Body)
		}
		return string(a.Body)
	}
	asked := 0
	for _, path := range groupedPaths() {
		for i := range groups.All {
			a, b := groups.All[i], groups.All[random.IntN(len(groups.All))]
			for param, codes := range path.params {
				in := strings.Join(slices.Concat(a.Members, b.Members), ",")
				for _, kind := range path.kinds {
					more := "&" + kind.more
					one := body(path.path+kind.end, param+"="+a.Slug+more)
					if want := body(path.path+kind.end, codes+"__in="+strings.Join(a.Members, ",")+more); one != want {
						t.Errorf("%s%s, %s=%s: %s\nwant %s", path.path, kind.end, param, a.Slug, one, want)
					}
					both := body(path.path+kind.end, param+"__in="+url.QueryEscape(a.Slug+","+b.Slug)+more)
					if want := body(path.path+kind.end, codes+"__in="+in+more); both != want {
						t.Errorf("%s%s, %s and %s: %s\nwant %s", path.path, kind.end, a.Slug, b.Slug, both, want)
					}
					asked += 2
				}
			}
		}
	}
	testkit.AtLeast(t, asked, 1000, "requests")
	compareClasses(t, s)
}

// groupedPath is a path whose requests take groups.
type groupedPath struct {
	path   string
	params map[string]string // the parameter of codes, by that of groups
	kinds  []groupedKind
}

// groupedKind is the end of a path, and further parameters.
type groupedKind struct{ end, more string }

func groupedPaths() (all []groupedPath) {
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		p := groupedPath{path: e.Path, params: map[string]string{}}
		for _, param := range e.Params {
			if param.Grouped {
				p.params[param.Name] = param.Columns[0]
			}
		}
		last := e.Fields[len(e.Fields)-1].Name
		p.kinds = []groupedKind{
			{"", "limit=50"}, {"/export", ""}, {"/facets", "of=" + last}, {"/aggregate", "group_by=" + last},
		}
		all = append(all, p)
	}
	for i := range contract.FigureEndpoints[contract.ContractNames] {
		e := &contract.FigureEndpoints[contract.ContractNames][i]
		all = append(all, groupedPath{e.Path, map[string]string{"group": "location_code"}, []groupedKind{{"", ""}}})
	}
	return all
}

// compareClasses compares counts by class with those by country.
func compareClasses(t *testing.T, s *api.Server) {
	groups := s.State.Snapshots.Current.Load().Bound.Groups
	for _, of := range groupedPaths() {
		for param, codes := range of.params {
			if strings.Contains(of.path, "/figures") {
				continue
			}
			target := of.path + "/aggregate?app_identifier=" + apitest.Identifier + "&group_by="
			byCode, _ := apitest.Records(t, s, target+codes)
			for class, kind := range map[string]string{
				"region": "region", "subregion": "subregion", "intermediate_region": "intermediate",
				"income_group": "income",
			} {
				name := strings.TrimSuffix(param, "group") + class
				want := map[any]int{}
				for _, r := range byCode {
					at := slices.IndexFunc(groups.All, func(g contract.CountryGroup) bool {
						return g.Kind == kind && slices.Contains(g.Members, r[codes].(string))
					})
					if at < 0 {
						want[nil] += countOf(r)
					} else {
						want[groups.All[at].Slug] += countOf(r)
					}
				}
				got, answer := apitest.Records(t, s, target+name)
				checkCoverage(t, of.path+" by "+name, answer, byCode, codes, groups.All, kind)
				for _, r := range got {
					testkit.Equal(t, want[r[name]], countOf(r), "%s: %s %v: %v", of.path, name, r[name], r["count"])
				}
				testkit.Equal(t, len(got), len(want), "%s: values of %s", of.path, name)
			}
		}
	}
}

// checkCoverage compares X-Coverage of counts by class with the countries that have records: of the
// groups that have any, the smallest part.
func checkCoverage(
	t *testing.T, what string, answer api.Answer, byCode []map[string]any, codes string, all []contract.CountryGroup,
	kind string,
) {
	t.Helper()
	least, want := 2.0, ""
	for _, g := range all {
		have := 0
		for _, r := range byCode {
			if g.Kind == kind && slices.Contains(g.Members, r[codes].(string)) {
				have++
			}
		}
		if part := float64(have) / float64(len(g.Members)); have > 0 && part < least {
			least, want = part, fmt.Sprintf("countries=%d/%d", have, len(g.Members))
		}
	}
	got, _ := apitest.Field(answer, contract.HeaderCoverage)
	var have, of float64
	_, err := fmt.Sscanf(got, "countries=%f/%f", &have, &of)
	if (err == nil) != (want != "") || err == nil && have/of != least {
		t.Errorf("%s: coverage %q, want %q", what, got, want)
	}
}

func countOf(record map[string]any) int {
	n, _ := strconv.Atoi(fmt.Sprint(record["count"]))
	return n
}

var update = flag.Bool("update", false, "rewrite wrong.txt")

const wrongSumsFile = "testdata/wrong.txt"

// TestGoldenWrongSums sends requests for sums that would be wrong. Each must be refused with a
// request to send instead, and that one must answer.
func TestGoldenWrongSums(t *testing.T) {
	t.Parallel()
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, apitest.TrapTables(t))
	text := string(testkit.ReadFile(t, wrongSumsFile))
	intro, rest, _ := strings.Cut(text, "\n$ ")
	var out strings.Builder
	out.WriteString(intro)
	blocks := strings.Split(rest, "\n$ ")
	for _, block := range blocks {
		target, _, _ := strings.Cut(block, "\n")
		fmt.Fprintf(&out, "\n$ %s\n%s", target, refused(t, s, target))
	}
	if *update {
		testkit.WriteFile(t, wrongSumsFile, []byte(out.String()))
		return
	}
	testkit.AtLeast(t, len(blocks), 40, "wrong sums")
	if out.String() != text {
		t.Errorf("%s differs; run `make golden` and read the difference. Now:\n%s", wrongSumsFile, out.String())
	}
}

// refused is what a caller sees of a refusal, and of the request that it names.
func refused(t *testing.T, s *api.Server, target string) string {
	t.Helper()
	a := s.Answer("GET", target, nil)
	var body struct {
		Detail []struct {
			Type, Msg string
			Loc       []string
			Ctx       struct{ Instead string }
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != 422 || len(body.Detail) == 0 {
		t.Errorf("%s: %d, %v: %.300s", target, a.Status, err, a.Body)
		return ""
	}
	var out strings.Builder
	instead := body.Detail[0].Ctx.Instead
	for _, issue := range body.Detail {
		if issue.Type != "wrong_sum" || issue.Ctx.Instead != instead || !strings.Contains(issue.Msg, instead) {
			t.Errorf("%s: %+v", target, issue)
		}
		said, _, _ := strings.Cut(issue.Msg, " Right: ")
		fmt.Fprintf(&out, "%s: %s\n", strings.Join(issue.Loc, "."), said)
	}
	right := s.Answer("GET", instead, nil)
	if right.Status != 200 || strings.Contains(string(right.Body), `"data":[]`) {
		t.Errorf("%s\nnames %s\n%d: %s", target, instead, right.Status, right.Body)
	}
	fmt.Fprintf(&out, "right: %s\n", instead)
	for _, field := range right.Header {
		if field.Name == "X-Hint" {
			fmt.Fprintf(&out, "X-Hint: %s\n", field.Value)
		}
	}
	fmt.Fprintf(&out, "%s\n", right.Body)
	return out.String()
}

// TestManyRounds sends a sum over more rounds than are counted.
func TestManyRounds(t *testing.T) {
	t.Parallel()
	tables := apitest.TrapTables(t)
	rounds := []byte("only idps\n")
	for round := range 30_000 {
		rounds = fmt.Appendf(rounds, "AFG 2024-01; reporting_round=%d; assessment_type=BA; operation=One; "+
			"population=1\n", round*7919)
	}
	apitest.AddRows(t, tables, string(rounds))
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const target = "/api/v2/affected-people/idps/aggregate?measures=sum:population&latest=true"
	if said := refused(t, s, target); !strings.Contains(said, "more than 10000 values of reporting_round") {
		t.Error(said)
	}
}
