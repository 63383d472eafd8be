package find

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
)

// Kind is what a name is of.
type Kind uint8

// The kinds, in the order in which results that match alike come.
const (
	FigureKind Kind = iota
	Country
	Group
	List
	Sector
	Province
	Commodity
	Organisation
	Market
	District
	Dataset
	Field
	File
	kinds
)

// String is the name of a kind.
func (k Kind) String() string { return kindSources[k].kind }

// IsKind reports whether a text is the name of a kind.
func IsKind(text string) (is bool) {
	for k := range kinds {
		is = is || k.String() == text
	}
	return is
}

// kindSources say where the names of each kind are: the table, its fields with the code and the
// name, with the country or the provider, and with the province; and the filter of data lists.
var kindSources = [kinds]struct{ kind, table, code, name, of, parent, filter string }{
	FigureKind:   {kind: "figure"},
	Country:      {"country", "location", "code", "name", "", "", contract.CountryParam},
	Group:        {kind: "group", filter: contract.GroupParam},
	List:         {kind: "list"},
	Sector:       {"sector", "sector", "code", "name", "", "", "sector_code"},
	Province:     {"province", "admin1", "code", "name", contract.CountryParam, "", "admin1_code"},
	Commodity:    {"commodity", "commodity", "code", "name", "", "", "commodity_code"},
	Organisation: {"organisation", "org", "acronym", "name", "", "", "org_acronym"},
	Market:       {"market", "market", "code", "name", contract.CountryParam, "", "market_code"},
	District:     {"district", "admin2", "code", "name", contract.CountryParam, "admin1_code", "admin2_code"},
	Dataset: {
		"dataset", "dataset", "dataset_catalog_id", "dataset_catalog_title", "catalog_provider_name", "",
		"dataset_catalog_id",
	},
	Field: {kind: "field"},
	File: {
		"file", "resource", "resource_catalog_id", "name", "dataset_catalog_provider_name", "", "resource_catalog_id",
	},
}

// filterOf is the filter of a list that chooses the records of a kind of names, nil without one.
func filterOf(e *contract.Endpoint, kind Kind) *contract.Param {
	for _, some := range [][]contract.Param{e.Place, e.Params} { // Filters copies them all
		for i := range some {
			name := some[i].Name
			if name == kindSources[kind].filter || kind == Country && name == asylumField {
				return &some[i]
			}
		}
	}
	return nil
}

// entry is a name in the index.
type entry struct {
	kind    Kind
	urgency uint8  // of a country, see urgencyOf
	lists   uint32 // with records of it, a bit for each position in contract.Endpoints
	country int32  // entry of its country, none without one
	parent  int32  // of a district: its province
	name    string
	code    string
	of      string // who provides a dataset, what a field means
	folded  string // the name as it is compared
}

const none = -1

// Index is the names of a snapshot. Its names never change and do not use the snapshot's memory, so
// any number of goroutines may share it.
type Index struct {
	entries      []entry
	also         map[int32][]string // folded: other names of an entry
	words        grouped            // entries by word
	names        grouped            // entries by what questions call them, other than by one word or a code
	people       map[string][]int32 // countries by what those who come from them are called
	peopleWords  []string           // these names, sorted
	countryWords []string           // of names of countries, sorted
	levels       sync.Pool          // of *levels, all zero
	year         int                // of the snapshot
}

// wordCodes are codes of countries that are words of questions, too.
var wordCodes = []string{"EST", "MAR", "NOR", "PER", "SEN", "SUR", "TON"}

// isNamed reports whether questions name entries of a kind.
func (k Kind) isNamed() bool { return k < Dataset && kindSources[k].filter != "" }

// hasKnownCode reports whether people know the code of an entry.
func (e *entry) hasKnownCode() bool {
	return e.kind != Commodity && e.kind != Market && !slices.Contains(wordCodes, e.code)
}

// idsOf are the entries that a question names with a phrase, ascending.
func (x *Index) idsOf(phrase string) (ids []int32) {
	ids = slices.Clone(x.names.of(phrase))
	for _, id := range x.words.of(phrase) {
		e := &x.entries[id]
		if e.kind.isNamed() && (e.folded == phrase || e.hasKnownCode() && strings.EqualFold(e.code, phrase)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// levels are how many words of a search each entry has, while it is matched.
type levels struct {
	of  []uint8
	ids []int32 // with any
}

// Lengths from which a word may be a beginning: the last one, and others. Thousands of names have
// a word with a given first letter.
const (
	lastFrom   = 2
	prefixFrom = 3
)

// span is the range of indexed words that a word of a search matches. whole reports whether the
// first of them is the word itself; the others begin with it.
func (x *Index) span(word string, isOpen bool) (whole bool, from, to int) {
	from, whole = slices.BinarySearch(x.words.texts, word)
	to = from
	if whole {
		to++
	}
	least := prefixFrom
	if isOpen {
		least = lastFrom
	}
	if utf8.RuneCountInString(word) < least {
		return whole, from, to
	}
	for to < len(x.words.texts) && strings.HasPrefix(x.words.texts[to], word) {
		to++
	}
	return whole, from, to
}

// begun marks an entry of which only the beginning of a word was found.
const begun = 1 << 7

// match finds the entries that have all needed words, as keys in order. isOpen is set if the last
// word may go on.
func (x *Index) match(words []string, isOpen bool, keep func(*entry) bool) (keys []uint64) {
	must, last := needed(vocabularies().asides, words), words[len(words)-1]
	found, _ := x.levels.Get().(*levels)
	if found == nil {
		found = &levels{of: make([]uint8, len(x.entries))}
	}
	for k, word := range must {
		whole, from, to := x.span(word, isOpen && word == last)
		for i := from; i < to; i++ {
			for _, id := range x.words.at(i) {
				if found.of[id]&^begun != uint8(k) {
					continue
				}
				if k == 0 {
					found.ids = append(found.ids, id)
				}
				if found.of[id]++; i > from || !whole {
					found.of[id] |= begun
				}
			}
		}
	}
	whole := strings.Join(words, " ")
	for _, id := range found.ids {
		level := found.of[id]
		found.of[id] = 0
		if int(level&^begun) == len(must) && (keep == nil || keep(&x.entries[id])) {
			keys = append(keys, x.key(id, whole, level&begun != 0))
		}
	}
	found.ids = found.ids[:0]
	x.levels.Put(found)
	slices.Sort(keys)
	return keys
}

// How well an entry matches, the best first: it is the whole search; it begins with it; it has all
// words; it has the beginnings of all words. Between them are entries without records, and names
// of files and the like, which have words of many others.
const (
	isWhole       = 0
	beginsWith    = 2
	hasWords      = 4
	hasBeginnings = 6
	later         = 3 // is added
)

// isNamed reports whether the search of a key is the whole name of its entry.
func isNamed(key uint64) bool { return key>>rankBit == isWhole || key>>rankBit == isWhole+later }

// The bits of a key: how well the entry matches, its kind, the length of its name, and the entry.
const (
	rankBit   = 52
	kindBit   = 44
	lengthBit = 36
	idMask    = 1<<32 - 1
)

// key orders the entries that match a search.
func (x *Index) key(id int32, whole string, isBegun bool) uint64 {
	e := &x.entries[id]
	rank := tier(x, id, whole)
	if rank < 0 {
		if rank = hasWords; isBegun {
			rank = hasBeginnings
		}
	}
	if e.lists == 0 || e.kind >= Dataset {
		rank += later
	}
	kind, length := e.kind, uint64(min(len(e.folded), 255))
	if rank == isWhole { // of places with one name those with a response plan come first
		length = 2 - uint64(x.countryOf(id).urgency)
		isOwn := e.folded == whole || strings.EqualFold(e.code, whole)
		if kind == Province && !isOwn && !slices.Contains(x.names.of(whole), id) {
			kind, length = District, length+3 // it is a town in it, after the districts of that name
		}
	}
	return uint64(rank)<<rankBit | uint64(kind)<<kindBit | length<<lengthBit | uint64(id)
}

// countryOf is the country of an entry, or the entry.
func (x *Index) countryOf(id int32) *entry {
	if e := &x.entries[id]; e.country != none {
		return &x.entries[e.country]
	}
	return &x.entries[id]
}

// tier is isWhole or beginsWith, negative if an entry is neither.
func tier(x *Index, id int32, whole string) int {
	best := none
	for _, name := range x.also[id] {
		switch {
		case name == whole:
			return isWhole
		case begins(name, whole):
			best = beginsWith
		}
	}
	switch e := &x.entries[id]; {
	case e.folded == whole || e.code != "" && strings.EqualFold(e.code, whole):
		return isWhole
	case begins(e.folded, whole):
		return beginsWith
	}
	return best
}

// begins reports whether a text begins with whole words.
func begins(text, with string) bool {
	rest, ok := strings.CutPrefix(text, with)
	return ok && strings.HasPrefix(rest, " ")
}

// mention is a country that a search names, with the words besides it.
type mention struct {
	country int32
	rest    []string
}

// mentions are the ways in which words name a country, the longest name first. The words besides
// must be some.
func (x *Index) mentions(words []string) (all []mention) {
	asides := vocabularies().asides
	for n := len(words) - 1; n > 0 && all == nil; n-- {
		for from := 0; from+n <= len(words); from++ {
			name := words[from : from+n]
			if asides[name[0]] != "" || asides[name[n-1]] != "" {
				continue
			}
			named := &part{ids: x.idsOf(strings.Join(needed(asides, name), " "))}
			for _, id := range x.placesOf(named) {
				all = append(all, mention{id, slices.Concat(words[:from], words[from+n:])})
			}
		}
	}
	return all
}

// eachCountry calls do with all countries, in their order.
func (x *Index) eachCountry(do func(id int32) bool) {
	first := slices.IndexFunc(x.entries, func(e entry) bool { return e.kind == Country })
	for id := int32(max(first, 0)); int(id) < len(x.entries) && x.entries[id].kind == Country && do(id); id++ {
	}
}

// near returns the words with those that nothing has replaced by the nearest ones with the same
// first letter, nil if there are none. All words would take 10 ms.
func (x *Index) near(words []string) (other []string) {
	for i, word := range words {
		_, from, to := x.span(word, i == len(words)-1)
		if from < to || vocabularies().asides[word] != "" || len(word) <= prefixFrom ||
			strings.ContainsAny(word, "0123456789") { // 2023 is not 2003
			continue
		}
		all := nearest.All(word, withFirst(word, x.words.texts), utf8.RuneCountInString(word)/4)
		if len(all) > 0 {
			other = slices.Concat(words[:i], all[:1], words[i+1:])
			words = other
		}
	}
	return other
}

// withFirst are the sorted words with the first letter of a word. "Youth" is not "south".
func withFirst(word string, words []string) []string {
	_, size := utf8.DecodeRuneInString(word)
	first, _ := slices.BinarySearch(words, word[:size])
	last, _ := slices.BinarySearch(words, word[:size]+"\U0010ffff")
	return words[first:last]
}
