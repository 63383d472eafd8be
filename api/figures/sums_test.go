//go:build !race

package figures_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"hdqs/api"
	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/internal/testkit"
)

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
	if len(blocks) < 40 {
		t.Errorf("%d wrong sums, want at least 40", len(blocks))
	}
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
	var rounds []apitest.Row
	for round := range 30_000 {
		rounds = append(rounds, apitest.With(apitest.InPlace("AFG"), apitest.InMonth(2024, 1), apitest.Row{
			"reporting_round": round * 7919, "assessment_type": "BA", "operation": "One", "population": 1,
		}))
	}
	apitest.SetRows(t, tables, "idps", rounds...)
	s := apitest.Server(t, state.Options{Identifier: state.IgnoreIdentifier}, tables)
	const target = "/api/v2/affected-people/idps/aggregate?measures=sum:population&latest=true"
	if said := refused(t, s, target); !strings.Contains(said, "more than 10000 values of reporting_round") {
		t.Error(said)
	}
}
