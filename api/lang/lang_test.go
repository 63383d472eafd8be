package lang

import (
	"testing"

	"hdqs/api/say"
	"hdqs/internal/testkit"
)

func named(t *testing.T, code string) *Language {
	t.Helper()
	for _, l := range All() {
		if l.Code == code {
			return l
		}
	}
	t.Fatal("there is no language " + code)
	return nil
}

// TestPlurals: the form of a text is that of its number in the language.
func TestPlurals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code string
		n    Count
		want string
	}{
		{"en", 0, "0 records"},
		{"en", 1, "1 record"},
		{"en", 12345, "12\u202f345 records"},
		{"fr", 0, "0 enregistrement"},
		{"fr", 1, "1 enregistrement"},
		{"fr", 2, "2 enregistrements"},
		{"es", 0, "0 registros"},
		{"es", 1, "1 registro"},
		{"ar", 0, "0 سجل"},
		{"ar", 2, "سجلان (2)"},
		{"ar", 3, "3 سجلات"},
		{"ar", 11, "11 سجلًا"},
		{"ar", 100, "100 سجل"},
		{"ar", 103, "103 سجلات"},
	} {
		testkit.Equal(t, named(t, c.code).T("%s records", c.n), c.want, "%s, %d", c.code, int(c.n))
	}
	if got := (*Language)(nil).T("no such text, %[2]s and %[1]s", "a", "b"); got != "no such text, b and a" {
		t.Error(got)
	}
}

// TestNumbers: numbers have the decimal mark of the language, the same digits in all, and a minus
// that stands before them also from right to left.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][3]string{
		"en": {"\u22121\u202f234.5", "24.8 million", "7.1 billion"},
		"fr": {"\u22121\u202f234,5", "24,8 millions", "7,1 milliards"},
		"es": {"\u22121\u202f234,5", "24,8 millones", "7,1 mil millones"},
		"ar": {"\u200e\u22121\u202f234.5", "24.8 مليون", "7.1 مليار"},
	} {
		l := named(t, code)
		if got := [3]string{l.Number("-1234.50"), l.Rounded("24786370"), l.Rounded("7101895113")}; got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// TestTimes: days and periods are written as the language writes them.
func TestTimes(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][3]string{
		"en": {"2 March 2025", "January to March 2025", "3 May 2019 to 3 January 2021"},
		"fr": {"2 mars 2025", "janvier à mars 2025", "du 3 mai 2019 au 3 janvier 2021"},
		"es": {"2 de marzo de 2025", "enero a marzo de 2025", "del 3 de mayo de 2019 al 3 de enero de 2021"},
		"ar": {"2 مارس 2025", "يناير إلى مارس 2025", "من 3 مايو 2019 إلى 3 يناير 2021"},
	} {
		l := named(t, code)
		got := [3]string{
			l.DayOf("2025-03-02T00:00:00Z"), l.Period("2025-01-01T00:00:00", "2025-03-31T23:59:59"),
			l.Between("2019-05-03/2021-01-03"),
		}
		testkit.Equal(t, got, want, "%s", code)
	}
	for interval, want := range map[string]string{
		"": "", "2020-02-03/..": "the time from 3 February 2020", "../2020-02-03": "the time up to 3 February 2020",
	} {
		testkit.Equal(t, (*Language)(nil).Between(interval), want, "%s", interval)
	}
}

// TestFromRightToLeft: what is written from left to right is isolated among Arabic words.
func TestFromRightToLeft(t *testing.T) {
	t.Parallel()
	l := named(t, "ar")
	for text, want := range map[string]string{
		l.T("%s to %s", "2024-05-01", "2024-05-31"): "\u20682024-05-01\u2069 إلى \u20682024-05-31\u2069",
		l.T("%s to %s", "2012", "2013"):             "2012 إلى 2013",
		l.List([]string{"Kabul", "كابول"}):          "\u2068Kabul\u2069، كابول",
		named(t, "fr").T("%s to %s", "a-1", "b"):    "a-1 à b",
	} {
		testkit.Equal(t, text, want, "")
	}
}

// TestCountry: names are those of CLDR or the UN by code, and the data's where none is known.
func TestCountry(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"en", "SDN", "Sudan", "Sudan"},
		{"fr", "SDN", "Sudan", "Soudan"},
		{"ar", "SDN", "Sudan", "السودان"},
		{"es", "PSE", "State of Palestine", "Estado de Palestina"},
		{"fr", "XKX", "Kosovo", "Kosovo"},
		{"fr", "QQQ", "Some land", "Some land"},
		{"fr", "", "Some land", "Some land"},
		{"ar", "001", "World", "World"},
	} {
		testkit.Equal(t, named(t, c[0]).Country(c[1], c[2]), c[3], "%s", c)
	}
}

// TestGroupNames: no country has the name of a group.
func TestGroupNames(t *testing.T) {
	t.Parallel()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, l := range All() {
		codes := map[string]string{}
		for i := range len(letters) * len(letters) * len(letters) {
			code := string([]byte{letters[i/676], letters[i/26%26], letters[i%26]})
			codes[l.Country(code, code)] = code
		}
		for slug, name := range l.own().groups {
			testkit.Equal(t, codes[name], "", "%s: %s are both %s", l.Code, slug, name)
		}
	}
}

// TestSay: texts of the interface are translated with the texts among their arguments, and only if
// all have a translation.
func TestSay(t *testing.T) {
	t.Parallel()
	l := named(t, "fr")
	for want, text := range map[string]say.Text{
		"aucun enregistrement de SDN à aucun niveau ; la liste idps n'a aucun enregistrement de ce type": say.Of(
			"no record of %s at any level; %s", "SDN", say.Of("the list %s has no such record at all", "idps")),
		"sum:x compte deux fois : des lignes de plusieurs valeurs de gender passent, dont all contient f et m. " +
			"Groupez par gender, ou gardez une seule valeur.": say.Join(
			say.Of("%s counts twice: rows of several values of %s pass, of which %s.", "sum:x", "gender",
				say.Of("%s contains %s", "all", say.And([]string{"f", "m"}))),
			say.Of("Group by %s, or keep one value.", "gender")),
	} {
		if got, ok := l.Say(text); got != want || !ok {
			t.Errorf("%q, %v, want %q", got, ok, want)
		}
	}
	unknown := say.Join(say.Of("Group by %s, or filter.", "gender"), say.Of("A new sentence without translation."))
	const english = "Group by gender, or filter. A new sentence without translation."
	if got, ok := l.Say(unknown); ok || got != english {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := (*Language)(nil).Say(unknown); !ok || got != english {
		t.Errorf("%q, %v", got, ok)
	}
}

// TestTemplate: texts of templates are put in once, and may have lines and actions.
func TestTemplate(t *testing.T) {
	t.Parallel()
	const source = "<h1>[[Countries]]</h1><p>[[Loaded\n on {{day .}}.]]</p>[[nobody knows this]]"
	for code, want := range map[string]string{
		"en": "<h1>Countries</h1><p>Loaded\n on {{day .}}.</p>nobody knows this",
		"fr": "<h1>Pays</h1><p>Chargé le {{day .}}.</p>nobody knows this",
	} {
		testkit.Equal(t, named(t, code).Template(source), want, "%s", code)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	var english *Language
	for text, want := range map[string]string{
		"24786370": "24.8 million", "7101895113": "7.1 billion", "17238": "17\u202f238", "999950000": "1 billion",
		"999949999": "999.9 million", "999999": "1 million", "949000": "949\u202f000", "0": "0", "-3.25": "\u22123.3",
		"52.328": "52.3", "8.0": "8", "14000000.0": "14 million", "": "", "1556235.0": "1.6 million", "0.04": "0",
		"-0.04": "0", "-0.05": "\u22120.1",
	} {
		testkit.Equal(t, english.Rounded(text), want, "%s", text)
	}
	for _, c := range [][3]string{
		{"2024-01-01T00:00:00", "2024-12-31T23:59:59", "2024"},
		{"2012-01-01T00:00:00", "2013-12-31T23:59:59", "2012 to 2013"},
		{"2025-01-01T00:00:00", "2025-01-31T23:59:59", "January 2025"},
		{"2025-01-01T00:00:00", "2025-03-31T23:59:59", "January to March 2025"},
		{"2024-02-01T00:00:00", "2025-01-31T23:59:59", "February 2024 to January 2025"},
		{"2024-01-05T00:00:00", "2024-12-24T23:59:59", "5 January to 24 December 2024"},
		{"2024-02-29T00:00:00", "2024-02-29T23:59:59", "29 February 2024"},
		{"2017-11-02T00:00:00", "2018-01-31T23:59:59", "2 November 2017 to 31 January 2018"},
		{"2024-02-29T00:00:00", "", "since 29 February 2024"},
		{"", "", ""},
	} {
		testkit.Equal(t, english.Period(c[0], c[1]), c[2], "%s to %s", c[0], c[1])
	}
}

// TestAge: a figure is old that is older than those of its kind are.
func TestAge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end     string
		monthly bool
		want    string
	}{
		{"2026-06-30T23:59:59", true, ""},
		{"2026-04-30T23:59:59", true, "7 months old"},
		{"2025-12-31", false, ""},
		{"2025-01-31", true, "22 months old"},
		{"2024-10-31", true, "2 years old"},
		{"2024-12-24", false, "2 years old"},
		{"2021-06-30", false, "5 years old"},
		{"2029-12-31", false, ""},
		{"", false, ""},
	} {
		testkit.Equal(t, Age(nil, c.end, "2026-11-28", c.monthly), c.want, "%s", c.end)
	}
}

// TestAgePlural: two years are a word of their own in Arabic.
func TestAgePlural(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]string{
		"2024-12-24": "عمره سنتان", "2021-06-30": "عمره 5 سنوات", "2014-12-31": "عمره 12 سنة",
	} {
		testkit.Equal(t, Age(named(t, "ar"), end, "2026-11-28", false), want, "%s", end)
	}
}

// TestRoundedPlural: one million is singular in the languages that say so.
func TestRoundedPlural(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		"en": {"1 million", "1.5 million", "2 million", "1 billion"},
		"fr": {"1 million", "1,5 million", "2 millions", "1 milliard"},
		"es": {"1 millón", "1,5 millones", "2 millones", "1 mil millones"},
		"ar": {"1 مليون", "1.5 مليون", "2 مليون", "1 مليار"},
	} {
		for i, text := range []string{"1000000", "1500000", "2000000", "999999999"} {
			testkit.Equal(t, named(t, code).Rounded(text), want[i], "%s: %s", code, text)
		}
	}
}

// TestPlaces: a country has a code, and names in all languages; what names several is none.
func TestPlaces(t *testing.T) {
	t.Parallel()
	var p Places
	for code, name := range map[string]string{
		"SDN": "Sudan", "SSD": "South Sudan", "TCD": "Chad", "CIV": "Côte d'Ivoire", "NER": "Niger",
		"NGA": "Nigeria",
		"SYR": "Syrian Arab Republic", "IRN": "Iran (Islamic Republic of)",
		"GNQ": "Equatorial Guinea", "X01": "Nowhere", "COD": "Democratic Republic of the Congo", "COG": "Congo",
		"PRK": "Democratic People's Republic of Korea", "KOR": "Republic of Korea", "SLV": "El Salvador", "MLI": "Mali",
	} {
		p.Add(code, name)
	}
	for text, want := range map[string]string{
		"sdn": "SDN", " Soudan ": "SDN", "السودان": "SDN", "Sudán": "SDN", "Tchad": "TCD", "cote divoire": "CIV",
		"NIGER": "NER", "Niger ": "NER", "Nigeri": "NGA", "Syria": "SYR", "iran": "IRN", "Guinée équatoriale": "GNQ",
		"Soudan du Sud": "SSD", "nowhere": "X01", "Nige": "", "Atlantis": "", "": "", "su": "",
		"sd": "SDN", "the Sudan": "SDN", "le Tchad": "TCD", "\u2067l’Iran\u2069": "IRN", "el salvador": "SLV",
		"سودان": "SDN", "السّودان": "SDN", "الســـودان": "SDN", "مالى": "MLI", "ایران": "IRN", "سورية": "SYR",
		"DRC": "COD", "congo": "COG", "Congo, Democratic Republic of the": "COD", "Korea": "",
		"Korea, Republic of": "KOR",
		"Ivory Coast":        "CIV", "MALİ": "MLI", "malı": "MLI", "Sudan, Chad": "",
	} {
		testkit.Equal(t, p.Find(text), want, "%q", text)
	}
}
