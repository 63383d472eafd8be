package lang

import "testing"

func TestWords(t *testing.T) {
	t.Parallel()
	var english *Language
	for text, want := range map[string]string{
		"24786370": "24.8 million", "7101895113": "7.1 billion", "17238": "17\u202f238", "999950000": "1 billion",
		"999949999": "999.9 million", "999999": "1 million", "949000": "949\u202f000", "0": "0", "-3.25": "\u22123.3",
		"52.328": "52.3", "8.0": "8", "14000000.0": "14 million", "": "", "1556235.0": "1.6 million", "0.04": "0",
		"-0.04": "0", "-0.05": "\u22120.1",
	} {
		if got := english.Rounded(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
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
		if got := english.Period(c[0], c[1]); got != c[2] {
			t.Errorf("%s to %s is %q, want %q", c[0], c[1], got, c[2])
		}
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
		if got := Age(nil, c.end, "2026-11-28", c.monthly); got != c.want {
			t.Errorf("%s is %q, want %q", c.end, got, c.want)
		}
	}
}

// TestAgePlural: two years are a word of their own in Arabic.
func TestAgePlural(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]string{
		"2024-12-24": "عمره سنتان", "2021-06-30": "عمره 5 سنوات", "2014-12-31": "عمره 12 سنة",
	} {
		if got := Age(named(t, "ar"), end, "2026-11-28", false); got != want {
			t.Errorf("%s is %q, want %q", end, got, want)
		}
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
			if got := named(t, code).Rounded(text); got != want[i] {
				t.Errorf("%s: %s is %q, want %q", code, text, got, want[i])
			}
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
		"GNQ": "Equatorial Guinea", "X01": "Nowhere",
	} {
		p.Add(code, name)
	}
	for text, want := range map[string]string{
		"sdn": "SDN", " Soudan ": "SDN", "السودان": "SDN", "Sudán": "SDN", "Tchad": "TCD", "cote divoire": "CIV",
		"NIGER": "NER", "Niger ": "NER", "Nigeri": "NGA", "Syria": "SYR", "iran": "IRN", "Guinée équatoriale": "GNQ",
		"Soudan du Sud": "SSD", "nowhere": "X01", "Nige": "", "Atlantis": "", "": "", "su": "",
	} {
		if got := p.Find(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
