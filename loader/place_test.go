package loader

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var caseUnit = regexp.MustCompile(`(\S+?)/([^!"]*?)(!?) "([^"]*)"`)

// TestPrintedPlaces compares the columns of a place with each line of the case file.
func TestPrintedPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/place/printed.txt") {
		given, want := c.cut(" -> ")
		found := caseUnit.FindAllStringSubmatch(given, -1)
		var p place
		table, names := "poverty_rate", []string{"admin_level", "admin1_code", "admin1_name"}
		switch len(found) {
		case 2:
			u := found[1]
			p.code2, p.name2, p.placeholder2, p.provider2 = u[1], u[2], u[3] == "!", u[4]
			table, names = "idps", append(names, "admin2_code", "admin2_name")
			fallthrough
		case 1:
			u := found[0]
			p.code1, p.name1, p.placeholder1, p.provider1 = u[1], u[2], u[3] == "!", u[4]
		default:
			t.Fatalf("%s: %d units in %q", c.at, len(found), given)
		}
		g := newTableBuilder(tableNamed(table)).group("place")
		newPlaceVectors(g).set(p)
		var got []string
		for _, name := range names {
			v := g.column(name)
			switch {
			case name == "admin_level":
				got = append(got, fmt.Sprint(v.int(0)))
			case v.isNull(0):
				got = append(got, "null")
			case v.text(0) == "":
				got = append(got, "-")
			default:
				got = append(got, strings.ReplaceAll(v.text(0), " ", "_"))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: prints %s, want %s", c.at, s, want)
		}
		if s := g.column("stored_admin1_name").text(0); s != p.name1 {
			t.Errorf("%s: filters see level 1 as %q, want %q", c.at, s, p.name1)
		}
	}
}
