package find

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/internal/testkit"
)

// smallIndex has a few names of most kinds.
func smallIndex() *Index {
	b := newBuilder(10)
	add := func(kind Kind, code, name, country string, others ...string) {
		e := entry{kind: kind, code: code, name: name, country: b.entryOf(Country, country), parent: none, lists: 1}
		if code == "COD" {
			e.urgency = 2
		}
		if kind == Organisation {
			e.lists = 2 // of no country: without a server nobody can say what is there
		}
		b.add(e, others, nil)
	}
	add(FigureKind, "people_in_need", "People in need", "", vocabularies().others["people_in_need"]...)
	add(FigureKind, "refugees_by_asylum", "Refugees by asylum", "", vocabularies().others["refugees_by_asylum"]...)
	add(FigureKind, "refugees_by_origin", "Refugees by origin", "", vocabularies().others["refugees_by_origin"]...)
	for code, name := range map[string]string{
		"AND": "Andorra", "CIV": "Côte d’Ivoire", "COD": "Democratic Republic of the Congo", "COG": "Congo",
		"GIN": "Guinea", "GNB": "Guinea-Bissau", "SDN": "Sudan", "SSD": "South Sudan", "SYR": "Syrian Arab Republic",
	} {
		russian := map[string]string{"SDN": "Судан", "SSD": "Южный Судан"}[code]
		add(Country, code, name, "", countryNames(code, russian)...)
	}
	add(Province, "SD11", "Kassala", "SDN")
	add(District, "SD11053", "Madeinat Kassala", "SDN")
	add(Market, "7", "Sheikh Sa'ad", "SYR")
	add(Organisation, "A/B-C", "Ångström & Œuvre", "")
	return b.finish()
}

// firstOf are the codes of the first names that a search finds, with the countries besides.
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
		"su\u00addan\u200f": "SDN, SSD",
		"sud":               "SSD, SDN", "suda": "SDN, SSD", "soudan du sud": "SSD, SDN", "Судан": "SDN, SSD",
		"DRC": "COD", "D.R.C.": "COD", "congo": "COD, COG", "cote d'ivoire": "CIV", "ivory coast": "CIV",
		"people and need": "people_in_need, refugees_by_asylum", "kassala": "SD11, SD11053",
		"kassala sudan": "SD11, SD11053",
		"kassala syria": "", "sheikh saad": "7", "angstrom oeuvre": "A/B-C", "": "",
	} {
		if got := firstOf(x, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{ // each country once
		"Sudan and Congo": "Sudan, Democratic Republic of the Congo, Congo",
		"sudan syria":     "Sudan, Syrian Arab Republic",
	} {
		a, s := new(Answer), &search{Index: x, language: lang.All()[0]}
		testkit.Value(s.nearHits(a, wordsOf(text), 8))(t)
		testkit.Equal(t, a.Instead, want, "found for %q", text)
	}
	for text, want := range map[string]string{
		"sudaan": "sudan", "Guinea Bisssau": "guinea bissau", "xyzzy": "", "kasala sudann": "kassala sudan",
	} {
		if got := strings.Join(x.near(wordsOf(text)), " "); got != want {
			t.Errorf("near %q: got %q, want %q", text, got, want)
		}
	}
}

// wordValues are the values of words before a colon that are no filters.
var wordValues = map[string]string{
	"who":   strings.Join(slices.Collect(maps.Keys(people)), " "),
	"by":    "place how where person compare " + strings.Join(slices.Collect(maps.Keys(byFields)), " "),
	"side":  strings.Join([]string{fromSide, fromOrOf, inSide, toSide, andSide, bySource, bySide}, " "),
	"month": "01 02 03 04 05 06 07 08 09 10 11 12", "year": "0 -1",
}

// TestWords: every line of the words of questions has figures and lists that there are, and words;
// no phrase is twice in its line; a phrase that asks for nothing is not one of a topic.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "fr", "es", "ar"} {
		for _, line := range linesOf("words/" + language + ".txt") {
			if of := termOf(line[0]); of != nil {
				for _, name := range of.topics {
					h, _ := contract.HeadlineOf(name, contract.ContractNames)
					is := func(e contract.Endpoint) bool { return e.Name() == name }
					if h == nil && !slices.ContainsFunc(contract.Endpoints, is) {
						t.Errorf("%s, %s: there is no %s", language, line[0], name)
					}
					if of.measure != "" && h != nil && !h.List(contract.ContractNames).HasField(of.measure) {
						t.Errorf("%s, %s: the list of %s has no such measure", language, line[0], name)
					}
				}
			}
			for word := range strings.FieldsSeq(line[0]) {
				field, value, _ := strings.Cut(word, "=")
				if known, is := wordValues[field]; is && !slices.Contains(strings.Fields(known), value) {
					t.Errorf("%s, %s: %s has no value %s", language, line[0], field, value)
				}
			}
			seen := map[string]bool{}
			for _, phrase := range listed(line[1]) {
				if text := folded(phrase); text == "" || seen[text] {
					t.Errorf("%s, %s: %q is empty or there already", language, line[0], phrase)
				} else {
					seen[text] = true
				}
			}
		}
	}
	v := vocabularies()
	for word := range v.real {
		if v.asides[word] != "" || v.terms[word] != nil || word != folded(word) {
			t.Errorf("%q means something, or is not as words are compared", word)
		}
	}
	for phrase, terms := range v.terms {
		if v.asides[phrase] != "" {
			t.Errorf("%q means something, and is an aside", phrase)
		}
		meanings := map[string]bool{}
		for _, of := range terms {
			isFigure := len(of.topics) > 0 && strings.Contains(of.topics[0], "_")
			if isFigure && !of.isWeak {
				meanings[fmt.Sprint(of.topics, of.pairs)] = true
			}
		}
		if len(meanings) > 1 {
			t.Errorf("%q means several figures: %v", phrase, slices.Sorted(maps.Keys(meanings)))
		}
	}
	for _, line := range lang.PlaceNames() {
		if names, towns, _ := strings.Cut(line[1], ";"); len(listed(names))+len(listed(towns)) == 0 {
			t.Errorf("%s has no other names", line[0])
		}
	}
}

// plainMatch is match, entry by entry.
func plainMatch(x *Index, words []string) (keys []uint64) {
	for id := range int32(len(x.entries)) {
		hasAll, isBegun := true, false
		for _, word := range needed(vocabularies().asides, words) {
			whole, from, to := x.span(word, word == words[len(words)-1])
			first := from
			for first < to && !slices.Contains(x.words.at(first), id) {
				first++
			}
			hasAll = hasAll && first < to
			isBegun = isBegun || first > from || !whole
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
		x.near(words)
		if len(words) > 0 {
			if got, want := x.match(words, true, nil), plainMatch(x, words); !slices.Equal(got, want) {
				t.Errorf("%q: keys %x, want %x", text, got, want)
			}
		}
		s := &search{Index: x}
		hits := testkit.Value(s.hits(words))(t)
		for _, h := range hits {
			if h.country != none {
				continue
			}
			e := &x.entries[h.id]
			has := strings.Fields(strings.Join(append(slices.Clone(x.also[h.id]), e.folded, folded(e.code)), " "))
			for _, word := range needed(vocabularies().asides, words) {
				begins := func(w string) bool { return strings.HasPrefix(w, word) }
				if !slices.ContainsFunc(has, begins) || !utf8.ValidString(word) {
					t.Errorf("%q: %q does not have %q", text, e.name, word)
				}
			}
		}
	})
}

// TestGrouping: texts are in order, and each has the entries that were added to it, once.
func TestGrouping(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, expected := range []int{0, 10, 5000} {
		g := newGrouping(expected)
		plain := map[string][]int32{}
		for id := range int32(2000) {
			for range 3 {
				text := strings.Repeat("same beginning ", random.IntN(2)) + strconv.Itoa(random.IntN(1500))
				if g.add(text, id); !slices.Contains(plain[text], id) {
					plain[text] = append(plain[text], id)
				}
			}
		}
		all := g.sorted()
		if want := slices.Sorted(maps.Keys(plain)); !slices.Equal(all.texts, want) {
			t.Fatalf("%d texts, want %d", len(all.texts), len(want))
		}
		for rank, text := range all.texts {
			if !slices.Equal(all.at(rank), plain[text]) || !slices.Equal(all.of(text), plain[text]) {
				t.Errorf("%q has %d and %d, want %d", text, all.at(rank), all.of(text), plain[text])
			}
		}
		if all.of("another") != nil {
			t.Error("a text that was not added has entries")
		}
	}
}

// Bytes is the memory of the index, with texts of names that are cut from pages.
func (x *Index) Bytes() int64 {
	n := cap(x.entries) * int(unsafe.Sizeof(entry{}))
	for _, g := range []grouped{x.words, x.names} {
		n += cap(g.texts)*int(unsafe.Sizeof("")) + 4*(cap(g.ends)+cap(g.ids))
	}
	for i := range x.entries {
		e := &x.entries[i]
		n += 2*len(e.folded) + len(e.name) + len(e.code) + len(e.of)
		for _, other := range x.also[int32(i)] {
			n += len(other) + int(unsafe.Sizeof(other))
		}
	}
	return int64(n)
}
