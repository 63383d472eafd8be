package figures

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestRemember: a value that a publication begins with is an entry; what held when the time of
// earlier values begins stays; another declaration is no change of the data.
func TestRemember(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.UTC) }
	h, name := contract.Headlines[0], contract.Headlines[0].Name
	publish := func(before *Kept, n int, declared, value string, since time.Time) *Kept {
		t.Helper()
		m := &Making{Of: &store.Manifest{ID: day(n).Format("d02")}, Before: before, Since: since}
		if before != nil {
			m.Shown = Edition{before.Snapshot, day(n - 1)}
		}
		k := &Kept{Format: keptFormat, Snapshot: m.Of.ID}
		place := &keptPlace{headline: headline{Value: value}}
		f := &keptFigure{Name: name, Declared: declared, places: map[string]*keptPlace{"SDN": place}}
		k.figures = map[string]*keptFigure{name: f}
		testkit.Must(t, m.remember(f))
		m.number(k)
		return testkit.Value(OpenKept(testkit.Value(k.encode())(t)))(t)
	}
	history := func(k *Kept) string {
		p := testkit.Value(k.figures[name].place("SDN"))(t)
		var all []string
		for _, e := range p.Was {
			text := k.Snapshot
			if e.At > 0 {
				text = k.Earlier[e.At-1].Snapshot
			}
			if text += "=" + e.Value; e.Redefined {
				text += "!"
			}
			all = append(all, text)
		}
		return strings.Join(all, " ")
	}
	var k *Kept
	for i, c := range []struct {
		declared, value, want string
		since                 int
	}{
		{"a", "", "", 1},
		{"a", "24", "d02=24", 1},
		{"a", "24", "d02=24", 1},
		{"a", "25", "d04=25 d02=24", 1},
		{"a", "", "d05= d04=25 d02=24", 1},
		{"b", "", "d06=! d05= d04=25 d02=24", 1},
		{"b", "26", "d07=26 d06=! d05= d04=25 d02=24", 1},
		{"b", "26", "d07=26 d06=! d05= d04=25", 4}, // 25 still held at the beginning of the fourth day
		{"b", "26", "d07=26", 20},
	} {
		k = publish(k, i+1, c.declared, c.value, day(c.since))
		testkit.Equal(t, history(k), c.want, "publication %d", i+1)
	}
	if values, err := k.Values(h); err != nil || values["SDN"] != "26" || len(k.Earlier) != 1 {
		t.Errorf("%v, %v, %v", values, k.Earlier, err)
	}
}

// TestStoredText: a text is read back as it was, and nothing else is a text.
func TestStoredText(t *testing.T) {
	t.Parallel()
	text := say.Of("%s of %s, %s", say.Of("%s rows", 3), say.And([]string{"a", "b"}), "c")
	for _, want := range []say.Text{{}, say.Of("none"), text} {
		data := testkit.Value(json.Marshal(storedText{want}))(t)
		var got storedText
		testkit.Must(t, json.Unmarshal(data, &got))
		if !reflect.DeepEqual(got.Text, want) {
			t.Errorf("%s: %v", data, got)
		}
	}
	for _, bad := range []string{`3`, `[]`, `[3]`, `["%s"]`, `["a", "b"]`, `["%s", 3]`, `["%s", ["%s"]]`, `[["a"]]`} {
		var got storedText
		if json.Unmarshal([]byte(bad), &got) == nil {
			t.Errorf("%s is read as %v", bad, got)
		}
	}
}

// FuzzOpenKept: any bytes are figures or an error.
func FuzzOpenKept(f *testing.F) {
	name := contract.Headlines[0].Name
	packer := testkit.Value(zstd.NewWriter(nil))(f)
	for _, was := range []string{`"v":"NaN","o":{"l":1}`, `"v":"2","o":{"l":"1"}`} {
		f.Add(`{"format":2,"snapshot":"a","earlier":[]}` + "\n" + `{"figure":"` + name + `","until":["2026-13"]}` + "\n" +
			`SDN ` + name + ` {"v":"1","n":1,"s":"2026-01-01T00:00:00","r":["%s","x"],"w":[{},{"a":9,` + was + `}]}` + "\n")
	}
	f.Add(`{"format":2,"snapshot":"a"}` + "\n" + "SDN x {}\n")
	f.Add("{}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := OpenKept(packer.EncodeAll([]byte(text), nil))
		if err != nil {
			return
		}
		for _, h := range contract.Headlines {
			kept := k.figures[h.Name]
			values, err := k.Values(h)
			if kept == nil || err != nil {
				continue
			}
			for place, text := range values {
				if !json.Valid([]byte(text)) {
					t.Errorf("%s of %s is %q", h.Name, place, text)
				}
			}
			c := &headlineReader{names: contract.ContractNames, given: h.Question(contract.ContractNames)}
			g := &figure{
				headlineReader: c, Headline: h, list: h.List(contract.ContractNames),
				future: map[string]bool{}, of: map[string]*headline{}, base: h.Question(contract.ContractNames),
			}
			_ = kept.restore(g) // which may be an error, and no panic
		}
	})
}

// TestTakeOver: a figure is computed again if its list has changed, and of the list of resources
// only those figures depend whose rows are provisional by it.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	manifest := func(changed string) *store.Manifest {
		m := &store.Manifest{}
		for i := range contract.Endpoints {
			ref := store.SegmentRef{Table: contract.Endpoints[i].Table, SHA256: "same"}
			if ref.Table == changed {
				ref.SHA256 = "other"
			}
			m.Tables = append(m.Tables, ref)
		}
		return m
	}
	for _, c := range []struct {
		figure, changed string
		want            bool
	}{
		{"internally_displaced", "", true},
		{"internally_displaced", "resource", true},
		{"internally_displaced", "funding", true},
		{"internally_displaced", "idps", false},
		{"internally_displaced", "location", false},
		{"internally_displaced", "admin2", false},
		{"demonstration_events", "funding", true},
		{"demonstration_events", "resource", false},
	} {
		h, _ := contract.HeadlineOf(c.figure, contract.ContractNames)
		of := &keptFigure{
			Name: c.figure, Made: madeOf(manifest(""), h), lines: map[string][]byte{"SDN": []byte(`{"v":"1","w":[{}]}`)},
		}
		old := &Kept{Day: "2026-03-01", figures: map[string]*keptFigure{c.figure: of}}
		m := &Making{Of: manifest(c.changed), Before: old}
		later := testkit.Value(m.takeOver(h, "2026-03-02"))(t)
		testkit.Equal(t, later != nil, c.want, "%s after a change of %q: taken over", c.figure, c.changed)
		if later != nil {
			later.places["SDN"].Was = nil // of the other publication
			testkit.Must(t, m.remember(later))
			if was := later.places["SDN"].Was; len(was) != 1 || was[0].At != 1 || was[0].Value != "1" {
				t.Errorf("%s: it was %v before", c.figure, was)
			}
		}
		if before, err := m.takeOver(h, "2026-02-28"); before != nil || err != nil {
			t.Errorf("%s of a day before is taken over, %v", c.figure, err)
		}
	}
}

// TestTogether: places are asked for together, else those that are right by themselves and then
// each of the others. No question that was refused is asked again.
func TestTogether(t *testing.T) {
	t.Parallel()
	h := contract.Headlines[0]
	for _, c := range testkit.Cases(t, "testdata/together.txt", ": ", 3) {
		f := &figure{Headline: h, list: h.List(contract.ContractNames), of: map[string]*headline{"none": {}}}
		places, asked := strings.Split(c[0], ""), []string(nil)
		isWrong := func(place string) bool { return strings.Contains(c[1], place) }
		for _, place := range places {
			f.of[place] = new(headline)
		}
		testkit.Must(t, f.together(places, func(places ...string) error {
			asked = append(asked, strings.Join(places, ""))
			isApart := strings.HasSuffix(c[1], "+") && len(places) > 1
			if !isApart && !slices.ContainsFunc(places, isWrong) {
				return nil
			}
			issue := contract.Issue{Text: say.Of("wrong"), Instead: f.all().GroupBy(f.Place)}
			if right := slices.DeleteFunc(slices.Clone(places), isWrong); len(right) > 0 {
				issue.Instead = f.all().Keep(f.Place+contract.SeveralSuffix, right...)
				issue.Instead.Apart = f.Place
			}
			return &contract.Invalid{Issues: []contract.Issue{issue}}
		}))
		slices.Sort(asked[1:]) // they come in any order
		testkit.Equal(t, strings.Join(asked, " "), c[2], "%s, of which %s are wrong: asked for", c[0], c[1])
		for place, of := range f.of {
			if refused := !of.refusal.IsZero(); refused != isWrong(place) {
				t.Errorf("%s, of which %s are wrong: %s is refused: %t", c[0], c[1], place, refused)
			}
		}
	}
}

// TestPackSeries: series of places that were packed with the times of all are the same again.
func TestPackSeries(t *testing.T) {
	t.Parallel()
	all := map[string]map[string]string{
		"AFG": nil, "MLI": {"2024-02": "3", "2023-11": "0"}, "SDN": {"2024-03": "1", "2021-01": "2.5"},
		"TCD": {"0000-12": "7"},
	}
	times := timesOf(all)
	if len(times) != 5 || times[0] != "2024-03" {
		t.Fatalf("times %q", times)
	}
	for code, of := range all {
		if got := unpackSeries(packSeries(of, times), times); !maps.Equal(got, of) {
			t.Errorf("%s: %v became %v", code, of, got)
		}
	}
	if got := unpackSeries("1,x,3,4,5,6,7", times); len(got) != 4 {
		t.Errorf("values without a time, or that are no numbers, became %v", got)
	}
}
