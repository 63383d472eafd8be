//go:build !race

package loader

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// idpsOf is a file of displaced people: a number of rows for each place, which is country, code and
// level.
func idpsOf(rows map[string]int) *fstest.MapFile {
	lines := []string{shorthand.Replace("{ADM},operation,assessment_type,population,reporting_round,{REF}")}
	for place, n := range rows {
		p := strings.Fields(place)
		for round := range n {
			lines = append(lines, fmt.Sprintf("%s,,,,Name,,,%s,Name,%s,Op,BA,%d,%d,2025-01-01,2025-01-31,d,r,,",
				p[0], p[1], p[2], round, round))
		}
	}
	slices.Sort(lines[1:])
	return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
}

// TestMisplacedRows loads a file night after night, with more and more rows above their unit. A
// country that has a tenth and ten more, or no row at a unit any more, is a fault of this load
// only.
func TestMisplacedRows(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	st := openStore(t)
	nights := []struct {
		rows map[string]int
		want string // countries in faults; first: the summary of a first load
	}{
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 200, "NGA NG021011 2": 3}, "first: AFG 200"},
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 219, "NGA NG021011 2": 3}, ""},
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 242, "NGA NG021011 2": 3}, "AFG"},
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 242, "NGA NG021011 2": 3}, ""},
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 242, "NGA NG021011 2": 3, "TCD TD0101 2": 9}, ""},
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 242, "NGA NG021011 2": 3, "TCD TD0101 2": 19}, "TCD"},
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 242, "NGA NG021099 2": 3, "TCD TD0101 2": 19}, "NGA"},
		{map[string]int{"AFG AF0101 2": 200, "AFG AF0199 2": 242, "NGA NG021099 2": 3, "TCD TD0101 2": 19}, ""},
	}
	for i, night := range nights {
		files["idps/a.csv"] = idpsOf(night.rows)
		r := build(t, st, files, someDay.Add(time.Duration(i)*24*time.Hour))
		var got []string
		for _, f := range r.Resources {
			for _, fault := range f.Faults {
				got = append(got, strings.Split(fault, ": ")[1])
			}
		}
		said := strings.Join(got, " ")
		if _, countries, ok := strings.Cut(r.Summary, ": idps/a.csv: "); ok {
			said = "first: " + countries
		}
		faults := said != "" && !strings.HasPrefix(said, "first")
		if said != night.want || faults != r.Partial ||
			faults && !slices.ContainsFunc(r.Losses(), func(s string) bool {
				return strings.HasPrefix(s, "fault: idps/a.csv: more rows are above their unit: "+said)
			}) {
			t.Errorf("night %d: partial %t, %q, want %q", i+1, r.Partial, r.Losses(), night.want)
		}
	}
}

// TestOtherRows loads a file after another one: a line says where many rows have other values, or
// are gone, on this load only.
func TestOtherRows(t *testing.T) {
	t.Parallel()
	const others = "note: idps: more than a third of the rows is not as before, see hdqs diff --rows: "
	rows := func(afghan, nigerian int) string {
		data := idpsOf(map[string]int{"AFG AF0101 2": afghan, "NGA NG021011 2": nigerian}).Data
		return strings.ReplaceAll(string(data), "Op,BA,", "Op,BA,9")
	}
	was := rows(100, 30)
	lines := strings.SplitAfter(was, "\n")
	edited := func(from, to int, old, now string) string {
		return strings.Join(lines[:from], "") + strings.ReplaceAll(strings.Join(lines[from:to], ""), old, now) +
			strings.Join(lines[to:], "")
	}
	for name, c := range map[string]struct{ now, want string }{
		"the same":     {was, ""},
		"more":         {rows(150, 40), ""},
		"many more":    {rows(200, 60), others + "in all (260 rows, 130 before)"},
		"fewer":        {edited(101, 102, lines[101], ""), ""},
		"another year": {strings.ReplaceAll(was, "2025-", "2024-"), others + "in all (130 rows, 130 before)"},
		"exchanged columns": {
			strings.Replace(was, "population,reporting_round", "reporting_round,population", 1), others + "in all",
		},
		"other values":      {strings.ReplaceAll(was, "Op,BA,9", "Op,BA,8"), others + "in all"},
		"of a country":      {edited(101, 131, "Op,BA,9", "Op,BA,8"), others + "NGA (30 rows, 30 before)"},
		"of some rows":      {edited(101, 110, "Op,BA,9", "Op,BA,8"), ""},
		"more of a country": {rows(100, 80), others + "NGA (80 rows, 30 before)"},
		"half of a country": {rows(120, 14), others + "NGA (14 rows, 30 before)"},
		"fewer of a country": {
			rows(124, 9),
			"fewer rows: idps: 133 rows, 130 before; none, or less than a third, any more of NGA (9 rows, 30 before)",
		},
		"quotes": {strings.ReplaceAll(was, "Op,BA,", "Op,\"BA\","), ""},
	} {
		files, st := smallCatalog(t), openStore(t)
		for i, text := range []string{was, c.now, c.now} {
			files["idps/a.csv"] = &fstest.MapFile{Data: []byte(text)}
			r := build(t, st, files, someDay.Add(time.Duration(i)*time.Hour))
			said := strings.Join(r.Losses(), "\n")
			if want := c.want != "" && i == 1; want != strings.Contains(said, cmp.Or(c.want, others)) {
				t.Errorf("%s, load %d: %q", name, i+1, said)
			}
		}
	}
}

// TestOtherRowsOfLists loads a list, then one in which most rows have the values of others, then
// the first one again.
func TestOtherRowsOfLists(t *testing.T) {
	t.Parallel()
	const n, unitHead = 30, "Location,Admin Level,P-Code,Name,Parent P-Code,Valid from date"
	for role, c := range map[string]struct{ head, row, table string }{
		"pcodes":   {unitHead, "NGA,1,NG%02d,Place %d,NGA,2020-01-01", "admin1"},
		"market":   {"{ADM},market_name,market_code,lat,lon,{REF}", "NGA,Y,Y,,,,,,,0,Market,%d,%d,1,,,,,,", ""},
		"currency": {"code,name", "C%02d,Coin %d", ""},
	} {
		files, st, path := smallCatalog(t), openStore(t), "reference/"+role+".csv"
		for load, by := range []int{0, 1, 0} {
			text := shorthand.Replace(c.head) + "\n"
			for i := range n {
				text += fmt.Sprintf(c.row+"\n", i, (i+by)%n)
			}
			files[path] = &fstest.MapFile{Data: []byte(text)}
			said := strings.Join(build(t, st, files, someDay.Add(time.Duration(load)*time.Hour)).Losses(), "\n")
			want := "note: " + cmp.Or(c.table, role) + ": more than a third of the rows is not as before"
			if got := strings.Contains(said, want); got != (load > 0) {
				t.Errorf("%s, load %d: %q", role, load+1, said)
			}
		}
	}
}

// TestOtherUnitsOfCountry loads a list of units after another one in which most units of a country
// have another name or parent. A few, and a new unit, are not said.
func TestOtherUnitsOfCountry(t *testing.T) {
	t.Parallel()
	list := func(name, parent func(i int) int) string {
		text := "Location,Admin Level,P-Code,Name,Parent P-Code,Valid from date\n"
		for i := range 100 {
			text += fmt.Sprintf("NGA,1,NG%02d,N%[1]d,NGA,2017-01-01\n", i)
		}
		for i := range 10 {
			text += fmt.Sprintf("TCD,1,TD%02d,T%[1]d,TCD,2017-01-01\n", i)
			text += fmt.Sprintf("TCD,2,TD9%d,U%d,TD%02d,2017-01-01\n", i, name(i), parent(i))
		}
		return text
	}
	same := func(i int) int { return i }
	next := func(i int) int { return (i + 1) % 10 }
	for what, c := range map[string]struct {
		now  string
		want bool
	}{
		"names":       {list(next, same), true},
		"parents":     {list(same, next), true},
		"some names":  {list(func(i int) int { return i / 8 * 8 }, same), true},
		"one name":    {list(func(i int) int { return max(i, 1) }, same), false},
		"a new unit":  {list(same, same) + "TCD,2,TD99X,U,TD01,2017-01-01\n", false},
		"a unit gone": {strings.Replace(list(same, same), "TCD,2,TD90,U0,TD00,2017-01-01\n", "", 1), false},
	} {
		files, st := smallCatalog(t), openStore(t)
		for i, text := range []string{list(same, same), c.now, c.now} {
			files["reference/pcodes.csv"] = &fstest.MapFile{Data: []byte(text)}
			said := strings.Join(build(t, st, files, someDay.Add(time.Duration(i)*time.Hour)).Losses(), "\n")
			want := "note: admin2: more than a third of the rows is not as before"
			if got := strings.Contains(said, want); got != (c.want && i == 1) {
				t.Errorf("%s, load %d: %q", what, i+1, said)
			}
		}
	}
}

// TestYearsOfFiles: years between those of a role's files that no file has are named.
func TestYearsOfFiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"e_2025.csv": true, "e_2020_2025.csv": true, "e_2027.csv": false, "e_20251.csv": false, "e.csv": false,
	} {
		files := fstest.MapFS{"conflict-events/e_2028.csv": {}, "conflict-events/" + path: {}}
		c := testkit.Value(openCatalog(files, "test"))(t)
		if slices.Contains(c.notes, "conflict-events: no file of the years 2026 to 2027") != want {
			t.Errorf("%s and e_2028.csv: %q", path, c.notes)
		}
	}
}

// TestMisplacedOfLists checks that markets of a country that lose their units are seen in the
// prices.
func TestMisplacedOfLists(t *testing.T) {
	t.Parallel()
	files := catalogOf(append(readSections(t, "testdata/catalogs/base.txt"),
		readSections(t, "testdata/catalogs/place_from_market.txt")...))
	st := openStore(t)
	if r := build(t, st, files, someDay); strings.Contains(strings.Join(r.Losses(), "\n"), "above their unit") {
		t.Fatalf("%q", r.Losses())
	}
	list := files["reference/market.csv"]
	list.Data = []byte(strings.ReplaceAll(string(list.Data), "AF0102", "AF0192"))
	r := build(t, st, files, someDay.Add(time.Hour))
	if said := strings.Join(r.Losses(), "\n"); !strings.Contains(said,
		"fault: reference/market.csv: more rows are above their unit: AFG") {
		t.Errorf("%s", said)
	}
}

// TestOldStateIsNoBaseline checks that a store of a version that counted no misplaced rows is as
// good as none.
func TestOldStateIsNoBaseline(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	files["idps/a.csv"] = idpsOf(map[string]int{"AFG AF0199 2": 50})
	st := openStore(t)
	l := newLoad(Options{Catalog: files, Store: st})
	was := fileState{Path: "idps/a.csv"}
	l.previous.state.Roles = map[string]roleState{"idps": {Files: []fileState{was}}}
	r := testkit.Value(l.readCatalog(t.Context()))(t)
	l.compareFiles(r)
	if r.report.Summary == "" || slices.ContainsFunc(r.report.Resources,
		func(f *ResourceReport) bool { return len(f.Faults) > 0 }) {
		t.Errorf("summary %q", r.report.Summary)
	}
}

// TestRowLosses checks that rows which a load refuses or replaces are in its lines and counts, each
// with its file and line, and that they are there again when the file has not changed.
func TestRowLosses(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	header := shorthand.Replace("{ADM},operation,assessment_type,population,reporting_round,{REF}")
	file := func(lines ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(header + "\n" + strings.Join(lines, "\n") + "\n")}
	}
	row := func(country, code string, population int) string {
		return fmt.Sprintf("%s,,,,Name,,,%s,Name,2,Op,BA,%d,1,2025-01-01,2025-01-31,d,r,,", country, code, population)
	}
	files["idps/a.csv"] = file(row("AFG", "AF0102", 7), row("AFG", "AF0101", 1), row("TCD", "AF0101", 3))
	files["idps/b.csv"] = file(row("AFG", "NG021011", 3), row("AFG", "AF0101", 2))
	st := openStore(t)
	for night := range 2 {
		r := build(t, st, files, someDay.Add(time.Duration(night)*time.Hour))
		said := strings.Join(r.Losses(), "\n")
		for _, want := range []string{
			"duplicate rows: idps: 1 row with other values than the one kept, first: idps/a.csv:3 and " +
				"idps/b.csv:3, which has priority, differ in population: admin2_ref=1 provider_admin1_name=\"\" " +
				`provider_admin2_name="Name" assessment_type="BA" reporting_round=1 operation="Op" ` +
				"reference_period_start=2025-01-01\n",
			"dropped: 1 × code_of_another_country, first: idps/a.csv:4: " +
				`location_code TCD, but admin2_code "AF0101" is of AFG`,
			"dropped: 1 × code_of_another_country, first: idps/b.csv:2: ",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("night %d: no %q in\n%s", night+1, want, said)
			}
		}
		if n := r.Counts(); !r.Partial || n["code_of_another_country"] != 2 || n["different_duplicate"] != 1 ||
			n["unknown_parent"] != 0 {
			t.Errorf("night %d: partial %t, %v", night+1, r.Partial, n)
		}
		want := "[idps (1 duplicate row with other values, 2 rows dropped)]"
		if tables := fmt.Sprint(r.Incomplete()); tables != want {
			t.Errorf("night %d: %s", night+1, tables)
		}
	}
}

// TestFixturesHaveNoFindings loads the real files: no rule drops a row of them or makes the load
// partial, and what is only counted is what another program has counted.
func TestFixturesHaveNoFindings(t *testing.T) {
	t.Parallel()
	r, _ := buildFiles(t, os.DirFS(fixtureCatalog(t)))
	got := r.Counts()
	for reason, want := range map[string]int{
		"different_duplicate": 0, "fault_in_a_file": 0, "admin1_is_not_parent": 2 * 1782,
		"placed_above_level": 6, "unknown_code": 1505 + 116 + 1,
	} {
		if got[reason] != want {
			t.Errorf("%s: %d rows, want %d", reason, got[reason], want)
		}
	}
	if r.Partial || r.Rows.Dropped > 0 {
		t.Errorf("partial %t, %q", r.Partial, r.Losses())
	}
}

// FuzzAges checks that ranges in order are never refused, and that every other one gives a reason
// or none, but no panic.
func FuzzAges(f *testing.F) {
	for _, text := range []string{"5-9", "09-May", "2024-05-09 00:00:00", "80+", "", "14-10", "août-9", "\xff-1"} {
		f.Add(text, uint8(5), uint8(9))
	}
	f.Fuzz(func(t *testing.T, text string, from, to uint8) {
		wrongAges(text, int64(from), int64(to))
		low, high := int64(min(from, to)), int64(max(from, to))
		for good, most := range map[string]int64{
			fmt.Sprintf("%d-%d", low, high): high, fmt.Sprintf("%d+", low): snapshot.NullInt,
			fmt.Sprint(low): high, "all": high,
		} {
			for _, least := range []int64{low, snapshot.NullInt} {
				if least == snapshot.NullInt { // a range has both ends or none
					most = least
				}
				if why, detail := wrongAges(good, least, most); why != "" {
					t.Errorf("%s: %s: %s", good, why, detail)
				}
			}
		}
		if why, _ := wrongAges(fmt.Sprintf("%d-%d", low, high), low, high+1); why == "" {
			t.Errorf("%d-%d with %d as the highest age has no fault", low, high, high+1)
		}
	})
}
