package contract

import (
	"fmt"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

const goodGroups = "group,name,location_code\nwest-2,Office West,MLI\nwest-2,,NER\n\"sahel\",\"Sahel, the\",TCD\n"

// TestReadGroups reads files of groups, and finds every mistake in them.
func TestReadGroups(t *testing.T) {
	t.Parallel()
	all, err := ReadGroups(strings.NewReader("\ufeff" + goodGroups))
	if got := fmt.Sprint(all, err); got != "[{own sahel Sahel, the [TCD]} {own west-2 Office West [MLI NER]}] <nil>" {
		t.Errorf("read %s", got)
	}
	for file, want := range map[string]string{
		"":                                   "no group: want the header group,name,location_code",
		"group,name,location_code\n":         "no group",
		"a,b,c\nx,X,MLI\n":                   `line 1: the header is "a,b,c"`,
		goodGroups + "x,X\n":                 "wrong number of fields",
		goodGroups + "West 3,X,MLI\n":        `line 5: group "West 3": want at most 64 letters a to z and digits`,
		goodGroups + "x,,MLI\n":              `line 5: group x: name ""`,
		goodGroups + "sahel,The Sahel,MLI\n": `line 5: group sahel: name "The Sahel", but it was "Sahel, the" before`,
		goodGroups + "sahel,,TCD\nx,X,\n":    "line 5: group sahel has TCD twice\nline 6: group x: location_code",
		goodGroups + "x,Office west,MLI\n":   `line 5: group x: group west-2 has the name "Office west" already`,
		goodGroups + "x,\"a\tb\",MLI\n":      `group x: name "a\tb"`,
		strings.Repeat("#", 2<<20):           "more than 1048576 bytes",
	} {
		if _, err := ReadGroups(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", file, err, want)
		}
	}
}

// TestCheckGroups finds groups that a list of countries rules out.
func TestCheckGroups(t *testing.T) {
	t.Parallel()
	own, err := ReadGroups(strings.NewReader(goodGroups))
	if err != nil || CheckGroups(own, &CountryGroups{}, []string{"MLI", "NER", "TCD"}) != nil {
		t.Errorf("right groups: %v", err)
	}
	sahel := CountryGroup{Kind: "region", Slug: "sahel", Name: "Sahel", Members: []string{"TCD"}}
	west := CountryGroup{Kind: "region", Slug: "office-west", Name: "Office west", Members: []string{"MLI"}}
	listed := NewCountryGroups([]CountryGroup{west, sahel}, false)
	const want = "group sahel: the list of countries has a group of kind region with this name; choose another one\n" +
		"group west-2: the list of countries has a group of kind region with this name; choose another one\n" +
		`group west-2: location_code "NER" is not in the list of countries`
	if err := CheckGroups(own, listed, []string{"MLI", "TCD"}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// FuzzReadGroups reads any bytes: groups that are read can be asked for.
func FuzzReadGroups(f *testing.F) {
	f.Add(goodGroups)
	f.Add("group,name,location_code\nx,\"X\nY\",MLI\n")
	f.Add("group,name,location_code\r\na--b,N,C")
	f.Fuzz(func(t *testing.T, file string) {
		all, err := ReadGroups(strings.NewReader(file))
		if err != nil {
			return
		}
		groups := NewCountryGroups(all, true)
		for _, g := range all {
			q := Ask(EndpointOf("idps", ContractNames), Rows).Keep(GroupParam, g.Slug)
			if err := Resolve(q, groups); err != nil || len(q.MembersOf(&q.Filters[0])) != len(g.Members) {
				t.Errorf("%+v: %v", g, err)
			}
			testkit.Equal(t, testkit.Value(Read(q.Plan(), q.Text()))(t).Question.Text(), q.Text(), "read again")
		}
	})
}

// TestResolve names the nearest groups, and says where there are none.
func TestResolve(t *testing.T) {
	t.Parallel()
	one := CountryGroup{Kind: "intermediate", Slug: "western-africa", Name: "Western Africa", Members: []string{"MLI"}}
	whole, lacking := NewCountryGroups([]CountryGroup{one}, false), NewCountryGroups(nil, true)
	for _, c := range []struct {
		groups      *CountryGroups
		query, want string
	}{
		{whole, "group=western-africa", ""},
		{whole, "group=West%20Africa", `"West Africa" is no group of countries; near ones: western-africa; all are at`},
		{whole, "group__in=western-africa,x", `"x" is no group of countries; all are at /api/v2/groups`},
		{whole, "group_by=region,income_group", ""},
		{lacking, "group_by=region", "the countries of this snapshot have no regions and incomes"},
		{lacking, "group=western-africa", "the countries of this snapshot have no regions and incomes"},
		{lacking, "location_code=MLI", ""},
	} {
		r, err := Read(PlanOf(EndpointOf("idps", ContractNames), Aggregate), c.query)
		if err == nil {
			err = Resolve(&r.Question, c.groups)
		}
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", c.query, err, c.want)
		}
	}
}
