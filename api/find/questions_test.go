package find

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/internal/testkit"
	"hdqs/loader/sample"
)

// questionIndex has the names of the embedded sample, and the units of lang.PlaceNames.
func questionIndex(t testing.TB) *Index {
	b := newBuilder(10)
	b.year = 2026
	for name := range vocabularies().others {
		if slug, isGroup := strings.CutPrefix(name, groupWord); isGroup {
			b.addGroup(&contract.CountryGroup{Slug: slug, Name: slug})
		}
	}
	for slug, name := range map[string]string{"lcb": "Countries of the Lake Chad Basin", "sahel": "Sahel"} {
		b.addGroup(&contract.CountryGroup{Kind: contract.OwnGroup, Slug: slug, Name: name})
	}
	read := func(file string, do func(value func(string) string)) {
		f := testkit.Value(sample.FS.Open("reference/" + file + ".csv"))(t)
		defer func() { _ = f.Close() }()
		rows := testkit.Value(csv.NewReader(f).ReadAll())(t)
		for _, row := range rows[1:] {
			do(func(column string) string { return row[slices.Index(rows[0], column)] })
		}
	}
	add := func(kind Kind, code, name, country string, others ...string) {
		e := entry{kind: kind, code: code, name: name, country: b.entryOf(Country, country), parent: none}
		e.lists = 1<<len(contract.Endpoints) - 1
		b.add(e, others, nil)
	}
	urgency := map[string]uint8{}
	read("location", func(value func(string) string) {
		code := value("ISO 3166-1 Alpha 3-Codes")
		add(Country, code, value("Preferred Term"), "", countryNames(code)...)
		if value("Has HRP") == "Y" {
			urgency[code] = 2
		}
	})
	for i := range b.entries {
		b.entries[i].urgency = urgency[b.entries[i].code]
	}
	read("sector", func(value func(string) string) {
		add(Sector, value("ACRONYM"), value("Preferred Term"), "", vocabularies().others[value("ACRONYM")]...)
	})
	for _, line := range lang.PlaceNames() {
		if country, unit, isUnit := strings.Cut(line[0], " "); isUnit && country != "people" {
			names, _, _ := strings.Cut(line[1], ";")
			add(Province, country+" "+unit, unit, country, listed(names)...)
		}
	}
	read("pcodes", func(value func(string) string) {
		if value("Admin Level") == "1" {
			add(Province, value("P-Code"), value("Name"), value("Location"))
		}
	})
	read("commodity", func(value func(string) string) {
		add(Commodity, value("code"), value("name"), "", commodityNames(value("name"))...)
	})
	read("org", func(value func(string) string) { add(Organisation, value("acronym"), value("name"), "") })
	names := organisationNames("World Food Programme", "world food programme wfp")
	add(Organisation, "WFP", "World Food Programme", "", names...)
	for code, name := range map[string]string{"172": "Cabbage", "322": "Meat (goat, with bones)"} {
		add(Commodity, code, name, "", commodityNames(name)...)
	}
	read("market", func(value func(string) string) {
		add(Market, value("market_code"), value("market_name"), value("location_code"))
	})
	return b.finish()
}

// understood is a question as the cases of tests have it.
func understood(x *Index, text string) string {
	words, written := splitWords(text)
	q := x.parse(words, written)
	if q == nil {
		return "no question"
	}
	code := func(id int32) string {
		if id == none {
			return ""
		}
		return x.entries[id].code
	}
	var all []string
	for _, h := range q.figures {
		all = append(all, h.Name)
	}
	if len(q.figures) == 0 {
		all = append(all, contract.Endpoints[q.list].Name())
	}
	said := strings.Join(all, "|")
	var places []string
	for _, at := range q.places {
		text := strings.TrimSpace(code(at.country) + " " + strings.TrimPrefix(code(at.unit), code(at.country)+" "))
		if at.origin != none {
			text += "<" + code(at.origin)
		}
		places = append(places, text)
	}
	if places = slices.DeleteFunc(places, func(s string) bool { return s == "" }); len(places) > 0 {
		said += " of " + strings.Join(places, "|")
	}
	for i, id := range q.compared {
		said += map[bool]string{true: " of ", false: "+"}[i == 0] + code(id)
	}
	pairs := slices.Clone(q.pairs)
	if q.of[0] != "" {
		pairs = append(pairs, q.of)
	}
	for _, pair := range pairs {
		if h := q.figures; len(h) == 0 || !isOwn(h[0].Name, [][2]string{pair}) {
			said += " " + pair[0] + "=" + pair[1]
		}
	}
	for _, ids := range q.ids {
		said += fmt.Sprintf(" %s=%s", x.entries[ids[0]].kind, code(ids[0]))
	}
	if q.who != (group{}) {
		said += fmt.Sprintf(" who=%s%d-%d", q.who.gender, q.who.least, q.who.less)
	}
	for name, of := range people {
		if g := (group{of.gender, of.least, of.less, q.who.category}); g == q.who {
			said = said[:strings.LastIndex(said, " who=")] + " who=" + name
		}
	}
	if q.measure != "" {
		said += " measure=" + q.measure
	}
	if q.by != "" {
		said += " by=" + q.by
	}
	if q.until != "" {
		said += map[bool]string{true: " since ", false: " in "}[q.since] + q.until
		if q.last != "" {
			said += " to " + q.last
		}
	}
	if len(q.left) > 0 {
		said += " without " + strings.Join(q.left, ", ")
	}
	return said
}

// TestQuestions: questions as people type them, in four languages. A case is a question, an equals
// sign, and what it asks for: figures or a list, places, filters, a time, and the words that are
// left over, without which no number may be shown.
func TestQuestions(t *testing.T) {
	t.Parallel()
	x := questionIndex(t)
	text := testkit.Value(os.ReadFile("testdata/questions.txt"))(t)
	n := 0
	for line := range strings.Lines(string(text)) {
		question, want, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if !ok {
			continue
		}
		n++
		if got := understood(x, question); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
	if n < 400 {
		t.Errorf("only %d questions", n)
	}
}

// TestTitles: the title of a figure or a list, with a place, asks for it.
func TestTitles(t *testing.T) {
	t.Parallel()
	x := questionIndex(t)
	for title, name := range titlesOf() {
		if got := understood(x, title); got == "no question" || strings.Contains(got, " without ") {
			t.Errorf("%q, of %s: got %s", title, name, got)
		}
	}
	for _, h := range contract.Headlines {
		for _, l := range lang.All() {
			for _, question := range []string{l.T(h.Title) + ", AFG", "AFG: " + l.T(h.Title), h.Name + " AFG"} {
				testkit.Equal(t, understood(x, question), h.Name+" of AFG", "%q", question)
			}
		}
	}
}

// TestFiltersOfWords: each filter of the words is one that its lists take.
func TestFiltersOfWords(t *testing.T) {
	t.Parallel()
	for phrase, terms := range vocabularies().terms {
		for _, of := range terms {
			for _, pair := range of.pairs {
				taken := 0
				for i := range contract.Endpoints {
					q := contract.Ask(&contract.Endpoints[i], contract.Rows)
					if p := q.Plan().Param(pair[0]); p != nil && !isMetadata(q.Endpoint()) {
						q.Keep(pair[0], pair[1]) // panics for another value
						taken++
					}
				}
				if taken == 0 {
					t.Errorf("%q: no list has %s", phrase, pair[0])
				}
			}
		}
	}
}

// FuzzQuestions: whatever is asked, each word is used, asks for nothing, or is left over.
func FuzzQuestions(f *testing.F) {
	for _, text := range []string{
		"cholera deaths sudan", "refugees from Afghanistan in Iran 2010", "لاجئون من أفغانستان", "top 5 by by in",
		"phase 3+ l'd'qu's", "niger nigeria niger", "in in in", "2010 01 2011", "", "...", "risk ira",
	} {
		f.Add(text)
	}
	x := questionIndex(f)
	f.Fuzz(func(t *testing.T, text string) {
		words, written := splitWords(text[:min(len(text), MaxBytes)])
		if len(words) != len(written) {
			t.Fatalf("%q: %d words, %d as written", text, len(words), len(written))
		}
		a, s := new(Answer), &search{Index: x, brief: true}
		for _, one := range s.completed(a, words, s.ask(a, words, written)) {
			if one.figure == nil && one.list == none {
				t.Errorf("%q: an answer of nothing", text)
			}
		}
		q := x.parse(words, written)
		if q == nil {
			return
		}
		if len(q.figures) == 0 && q.list < 0 || len(q.places) == 0 && filterOf(q.endpoint(), Country) != nil {
			t.Errorf("%q: a question about nothing: %+v", text, q)
		}
		known := strings.Join(written, " ")
		for _, word := range q.left {
			if !strings.Contains(known, word) {
				t.Errorf("%q: %q is left, but not there", text, word)
			}
		}
	})
}

// TestCorrected: a word is corrected to the nearest one. Where several countries are as near, all
// are found.
func TestCorrected(t *testing.T) {
	t.Parallel()
	s := &search{Index: questionIndex(t)}
	for text, want := range map[string]string{
		"refugees in pakistn": "refugees in pakistan", "risk nigera": "risk niger, risk nigeria",
		"protests youth sudan": "", "risk sudn": "",
		"risk somala": "risk somalia", "refuges in pakistan": "refugee in pakistan",
		"risk afghanistaan": "risk afghanistan", "fatalites ukrain": "fatalities ukraine",
		"refugees in pakistna": "refugees in pakistan", "returnd refugees burundi": "returned refugees burundi",
		"risk ukrayine": "risk ukraine", "training sudan": "", "syrain refugees": "syrian refugees",
		"refugees in pakistan to somalia": "", "afghan refugees pakstan": "afghan refugees pakistan",
		"who donate to sudan, gives": "", "nigera, sudan risk": "",
		"rainfall zambizia": "rainfall zambezia", "risk zambizia": "risk zambia",
		"ong nationales somalie": "", "people in need flood sudan": "", "refugees miners pakistan": "",
		"farmer refugees in pakistan": "", "organisations in production somalia": "", "people in need status sudan": "",
	} {
		words, written := splitWords(text)
		a := new(Answer)
		if s.ask(a, words, written); a.Instead != want {
			t.Errorf("%q: got %q, want %q", text, a.Instead, want)
		}
	}
}

// TestNearlyEmpty: a word that is mistyped and asks for nothing is not left over, unless it may
// mean something else.
func TestNearlyEmpty(t *testing.T) {
	t.Parallel()
	s := &search{Index: questionIndex(t)}
	for text, want := range map[string]string{
		"combein de réfugiés au pakistan": "", "whta is the risk sudan": "", "form refugees pakistan": "form",
		"unmet refugees pakistan": "unmet", "prix du poisson fumé chad": "fumé", "never refugees pakistan": "never",
	} {
		words, written := splitWords(text)
		a := new(Answer)
		if s.ask(a, words, written); strings.Join(a.Left, " ") != want {
			t.Errorf("%q: left %q, want %q", text, a.Left, want)
		}
	}
}

// TestCompleted: a question whose last word has begun gets the countries that it can be, before
// what else it can mean; one of a country stays as it is.
func TestCompleted(t *testing.T) {
	t.Parallel()
	s := &search{Index: questionIndex(t), brief: true}
	for text, want := range map[string]string{
		"people in need in sud": "SDN CMR", "risk ch": "TCD CHL", "risk sudan": "SDN", "sud": "",
		"refugees from afghanistan in ira": "IRN IRQ", "cholera deaths sud": "",
	} {
		words, written := splitWords(text)
		a := new(Answer)
		var got []string
		for _, one := range s.completed(a, words, s.ask(a, words, written)) {
			if len(a.Left) == 0 && one.at.country != none && !one.isNear && len(got) < 2 {
				got = append(got, s.entries[one.at.country].code)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, left %q, want %q", text, got, a.Left, want)
		}
	}
}

// TestByTime: what goes by years is not drawn by months.
func TestByTime(t *testing.T) {
	t.Parallel()
	x := questionIndex(t)
	for text, want := range map[string]string{
		"refugees in iran by month": "year", "risk per month chad": "year", "fatalities by month sudan": "month",
		"displaced by month haiti": "month", "refugees in iran over time": "year", "deaths over time sudan": "month",
	} {
		words, written := splitWords(text)
		a := answer{question: x.parse(words, written)}
		if got := a.byOf(a.figures[0]); got != want {
			t.Errorf("%q: by %s, want %s", text, got, want)
		}
	}
}
