package find

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// smallIndex has a few names of most kinds.
func smallIndex() *Index {
	b := newBuilder()
	add := func(kind Kind, code, name, country string, others ...string) {
		e := entry{kind: kind, code: code, name: name, country: b.entryOf(Country, country), parent: none, lists: 1}
		if kind == Organisation {
			e.lists = 2 // of no country: without a server nobody can say what is there
		}
		b.add(e, others)
	}
	add(FigureKind, "people_in_need", "People in need", "", phrases()["figures"]["people_in_need"]...)
	add(FigureKind, "refugees_by_asylum", "Refugees by asylum", "", phrases()["figures"]["refugees_by_asylum"]...)
	add(FigureKind, "refugees_by_origin", "Refugees by origin", "", phrases()["figures"]["refugees_by_origin"]...)
	for code, name := range map[string]string{
		"AND": "Andorra", "CIV": "Côte d’Ivoire", "COD": "Democratic Republic of the Congo", "COG": "Congo",
		"GIN": "Guinea", "GNB": "Guinea-Bissau", "SDN": "Sudan", "SSD": "South Sudan", "SYR": "Syrian Arab Republic",
	} {
		add(Country, code, name, "", countryNames(code)...)
	}
	add(Province, "SD11", "Kassala", "SDN")
	add(District, "SD11053", "Madeinat Kassala", "SDN")
	add(Market, "7", "Sheikh Sa'ad", "SYR")
	add(Organisation, "A/B-C", "Ångström & Œuvre", "")
	return b.finish()
}

// firstOf are the codes of the first results of a search, with the countries that it names.
func firstOf(x *Index, text string) string {
	s := &search{Index: x}
	var all []string
	hits, _ := s.hits(wordsOf(text))
	for _, h := range hits {
		code := x.entries[h.id].code
		if h.country != none && x.entries[h.id].country == none {
			code += " " + x.entries[h.country].code
		}
		all = append(all, code)
	}
	return strings.Join(all[:min(len(all), 2)], ", ")
}

func TestHits(t *testing.T) {
	t.Parallel()
	x := smallIndex()
	for text, want := range map[string]string{
		"sudan": "SDN, SSD", "SUDÁN": "SDN, SSD", "soudan": "SDN, SSD", "السودان": "SDN, SSD", "sdn": "SDN",
		"sud": "SSD, SDN", "suda": "SDN, SSD", "soudan du sud": "SSD, SDN",
		"people in need sudan":                      "people_in_need SDN",
		"in south sudan who are the people in need": "people_in_need SSD", "besoins soudan": "people_in_need SDN",
		"محتاجون السودان": "people_in_need SDN", "PIN SDN": "people_in_need SDN",
		"المحتاجين السودان": "people_in_need SDN", "people in need congo": "people_in_need COD, people_in_need COG",
		"refugees syria":      "refugees_by_asylum SYR, refugees_by_origin SYR",
		"refugees from syria": "refugees_by_origin SYR, refugees_by_asylum SYR",
		"refugees in syria":   "refugees_by_asylum SYR, refugees_by_origin SYR",
		"DRC":                 "COD", "D.R.C.": "COD", "congo": "COG, COD",
		"cote d'ivoire": "CIV", "ivory coast": "CIV",
		"guinea bissau people in need": "people_in_need GNB", "people and need": "people_in_need",
		"kassala": "SD11, SD11053", "kassala sudan": "SD11, SD11053", "kassala syria": "", "sheikh saad": "7",
		"angstrom oeuvre":                    "A/B-C",
		"how many people need help in sudan": "people_in_need SDN", "": "", "the": "COG, COD",
	} {
		if got := firstOf(x, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"sudaan": "sudan", "Guinea Bisssau": "guinea bissau", "xyzzy": "", "kasala sudann": "kassala sudan",
	} {
		if got := strings.Join(x.near(wordsOf(text)), " "); got != want {
			t.Errorf("near %q: got %q, want %q", text, got, want)
		}
	}
}

// TestPhrases: every line of words.txt has words, and none is twice in its line.
func TestPhrases(t *testing.T) {
	t.Parallel()
	for section, lines := range phrases() {
		for code, all := range lines {
			seen := map[string]bool{}
			for _, phrase := range all {
				if text := folded(phrase); text == "" || seen[text] {
					t.Errorf("[%s] %s: %q is empty or there already", section, code, phrase)
				} else {
					seen[text] = true
				}
			}
		}
	}
}

// plainMatch is match, entry by entry.
func plainMatch(x *Index, words []string) (keys []uint64) {
	for id := range int32(len(x.entries)) {
		hasAll, isBegun := true, false
		for _, word := range needed(words) {
			whole, from, to := x.span(word, word == words[len(words)-1])
			first := slices.IndexFunc(x.postings[from:to], func(ids []int32) bool { return slices.Contains(ids, id) })
			hasAll = hasAll && first >= 0
			isBegun = isBegun || first > 0 || !whole
		}
		if hasAll {
			keys = append(keys, x.key(id, strings.Join(words, " "), isBegun))
		}
	}
	slices.Sort(keys)
	return keys
}

// FuzzHits searches for any text: whatever is found has each needed word, or its beginning, and the
// words of a text are those of its words.
func FuzzHits(f *testing.F) {
	for _, text := range []string{
		"people in need sudan", "السودان", "côte d’ivoire", "a b c d e f g h", "\xff\x00",
		"İı ẞ K", "الالالالب", "’’", "the of",
	} {
		f.Add(text)
	}
	x := smallIndex()
	f.Fuzz(func(t *testing.T, text string) {
		words := wordsOf(text[:min(len(text), MaxBytes)])
		if again := wordsOf(strings.Join(words, " ")); !slices.Equal(words, again) {
			t.Errorf("%q: words %q, and of these %q", text, words, again)
		}
		words = words[:min(len(words), maxWords)]
		x.near(words)
		if len(words) > 0 {
			if got, want := x.match(words, true, nil), plainMatch(x, words); !slices.Equal(got, want) {
				t.Errorf("%q: keys %x, want %x", text, got, want)
			}
		}
		s := &search{Index: x}
		hits, err := s.hits(words)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if h.country != none {
				continue
			}
			e := &x.entries[h.id]
			has := strings.Fields(strings.Join(append(slices.Clone(x.also[h.id]), e.folded, folded(e.code)), " "))
			for _, word := range needed(words) {
				begins := func(w string) bool { return strings.HasPrefix(w, word) }
				if !slices.ContainsFunc(has, begins) || !utf8.ValidString(word) {
					t.Errorf("%q: %q does not have %q", text, e.name, word)
				}
			}
		}
	})
}
