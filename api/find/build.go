package find

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/api/textual"
)

// languages are those in which countries have names.
var languages = []language.Tag{
	language.English, language.French, language.Spanish, language.Arabic, language.Russian, language.Chinese,
}

// maxNames is the most names of a kind: four times as many districts as there are. Further ones are
// left out.
const maxNames = 200_000

// builder makes an index of a snapshot.
type builder struct {
	*Index
	lists  *list.Lists
	served *state.Served
	at     map[string]*[]int32 // entries by word
	coded  [kinds]map[string]int32
}

func newBuilder() *builder {
	b := &builder{at: map[string]*[]int32{}, Index: &Index{
		also: map[int32][]string{}, countries: map[string][]int32{}, names: map[string][]int32{},
		people: map[string][]int32{},
	}}
	for k := range b.coded {
		b.coded[k] = map[string]int32{}
	}
	return b
}

// BuildIndex makes the index of a snapshot. A table that cannot be read gives no names.
func BuildIndex(s *list.Lists, v *state.Served) *Index {
	b := newBuilder()
	b.lists, b.served = s, v
	for kind := range kinds {
		switch kind {
		case FigureKind:
			b.addFigures()
		case List:
			b.eachList(func(e *contract.Endpoint, own entry) {
				own.name, own.code = e.Summary, e.Name()
				b.add(own, vocabularies().others[e.Name()], e.Texts().GroupTitle())
			})
		case Field:
			b.eachList(b.addFields)
		default:
			b.addTable(kind)
		}
	}
	for i := range contract.Endpoints {
		b.addRecords(i)
	}
	for i := range b.entries { // several organisations can have one code
		e := &b.entries[i]
		e.lists = b.entries[b.coded[e.kind][e.code]].lists
	}
	return b.finish()
}

// finish sorts the words.
func (b *builder) finish() *Index {
	b.nameCountries()
	b.countryWords = wordsIn(b.countries)
	b.firstCountry = int32(slices.IndexFunc(b.entries, func(e entry) bool { return e.kind == Country }))
	b.words = slices.Sorted(maps.Keys(b.at))
	for _, w := range b.words {
		ids := *b.at[w]
		b.postings = append(b.postings, slices.Clip(ids))
		b.bytes += wordBytes + int64(len(w)) + postingBytes*int64(cap(ids))
	}
	for i := range b.entries {
		e := &b.entries[i]
		b.bytes += entryBytes + int64(len(e.name)+len(e.code)+len(e.of)+len(e.folded))
	}
	return b.Index
}

// add appends an entry, with the words of its name and code, other names, and texts.
func (b *builder) add(e entry, others []string, texts ...string) int32 {
	id, words := int32(len(b.entries)), wordsOf(e.name)
	e.folded = strings.Join(words, " ")
	b.entries = append(b.entries, e)
	if _, twice := b.coded[e.kind][e.code]; !twice {
		b.coded[e.kind][e.code] = id
	}
	for _, text := range slices.Concat([]string{e.code, e.of}, others, texts) {
		words = append(words, wordsOf(text)...)
	}
	for _, word := range words {
		ids := b.at[word]
		if ids == nil {
			ids = new([]int32)
			b.at[word] = ids
		}
		if n := len(*ids); n == 0 || (*ids)[n-1] != id {
			*ids = append(*ids, id)
		}
	}
	for _, other := range others {
		b.also[id] = append(b.also[id], folded(other))
	}
	if e.kind < Dataset {
		if code := folded(e.code); code != strings.ToLower(e.code) {
			b.also[id] = append(b.also[id], code)
		}
	}
	return id
}

// entryOf is the entry with a code.
func (b *builder) entryOf(kind Kind, code string) int32 {
	if id, ok := b.coded[kind][code]; ok {
		return id
	}
	return none
}

// listOf is the position of the list that a table is served as.
func listOf(table string) int {
	return slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Table == table })
}

// addTable adds the rows of a table as names of a kind.
func (b *builder) addTable(kind Kind) {
	source := &kindSources[kind]
	at := listOf(source.table)
	fields := []string{source.code, source.name, source.of, source.parent}
	if kind == Country {
		fields = append(fields, "has_hrp", "in_gho") // of urgencyOf
	}
	q := contract.Ask(&contract.Endpoints[at], contract.Rows).
		Select(slices.DeleteFunc(fields, func(name string) bool { return name == "" })...)
	m := b.lists.Routes.MountIn(contract.ContractNames)
	for from, more := 0, true; more && from < maxNames; from += contract.MaxLimit {
		more = false
		// An error is damage, which Query has noted.
		_ = b.lists.Query(b.served, m, q.Page(from, contract.MaxLimit), func(_ *list.Reply, rows list.Records) error {
			more = rows.Len() == contract.MaxLimit
			for _, r := range list.TextsOf(rows) {
				e := entry{kind: kind, country: none, parent: none} // which does not keep the page
				e.code, e.name = strings.Clone(r.Value(source.code)), strings.Clone(r.Value(source.name))
				var others []string
				towns := 0 // of others, the last
				switch kind {
				case Country:
					others, e.urgency = countryNames(e.code), urgencyOf(r)
				case Sector:
					others = vocabularies().others[e.code]
				case Dataset, File:
					e.of, e.lists = strings.Clone(r.Value(source.of)), 1<<at
				default:
					e.country = b.entryOf(Country, r.Value(source.of))
					e.parent = b.entryOf(Province, r.Value(source.parent))
					if e.country != none && (kind == Province || kind == District) {
						key := b.entries[e.country].code + " " + folded(e.name)
						others = slices.Concat(otherNames().names[key], otherNames().towns[key])
						towns = len(otherNames().towns[key])
					}
				}
				if e.code != "" && e.name != "" {
					b.nameAs(b.add(e, others), others[:len(others)-towns])
				}
			}
			return nil
		})
	}
}

// urgencyOf orders countries of one name: those with a response plan, then those of the overview.
func urgencyOf(r textual.Record) uint8 {
	switch {
	case r.Value("has_hrp") == "true":
		return 2
	case r.Value("in_gho") == "true":
		return 1
	}
	return 0
}

// nameAs notes how a question names an entry: by its name, also without what is in parentheses
// after it, by others, and where its codes are known to people, by its code.
func (b *builder) nameAs(id int32, others []string) {
	e := &b.entries[id]
	if e.kind >= Dataset {
		return
	}
	names := append([]string{e.name}, others...)
	if plain, more, ok := strings.Cut(e.name, " ("); ok { // "Iran (Islamic Republic of)", "Bread (bakery)"
		names = append(names, plain, more+" "+plain)
	}
	if e.kind != Commodity && e.kind != Market && !slices.Contains(wordCodes, e.code) {
		names = append(names, e.code)
	}
	for _, name := range names {
		if key := strings.Join(needed(vocabularies().asides, wordsOf(name)), " "); key != "" {
			b.nameOne(b.names, key, id)
		}
	}
	if e.kind == Country {
		for _, name := range otherNames().people[e.code] {
			b.nameOne(b.people, folded(name), id)
		}
	}
}

// wordCodes are codes of countries that are words of questions, too.
var wordCodes = []string{"EST", "MAR", "NOR", "PER", "SEN", "SUR", "TON"}

func (b *builder) nameOne(names map[string][]int32, key string, id int32) {
	ids := names[key]
	if n := len(ids); n > 0 && ids[n-1] == id {
		return
	}
	if ids == nil {
		b.bytes += nameKeyBytes + int64(len(key))
	}
	names[key] = append(ids, id)
	b.bytes += postingBytes
}

// countryNames are the other names of a country.
func countryNames(code string) []string {
	names := slices.Clone(otherNames().names[code])
	if region, err := language.ParseRegion(code); err == nil {
		for _, l := range languages {
			names = append(names, display.Regions(l).Name(region))
		}
	}
	return names
}

// nameCountries makes the table of the names of countries.
func (b *builder) nameCountries() {
	for _, code := range slices.Sorted(maps.Keys(b.coded[Country])) {
		id := b.coded[Country][code]
		plain, _, _ := strings.Cut(b.entries[id].name, " (") // "Iran (Islamic Republic of)"
		for _, name := range append([]string{b.entries[id].folded, folded(code), folded(plain)}, b.also[id]...) {
			if !slices.Contains(b.countries[name], id) {
				b.countries[name] = append(b.countries[name], id)
				b.longest = max(b.longest, strings.Count(name, " ")+1)
			}
		}
	}
}

// eachList calls do with the lists that have rows, and an entry of them.
func (b *builder) eachList(do func(e *contract.Endpoint, own entry)) {
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		if b.served.Bound.Lists[e.Path].Rows > 0 {
			do(e, entry{kind: List, lists: 1 << i, country: none, parent: none})
		}
	}
}

// addFigures adds the headline figures of lists that have rows.
func (b *builder) addFigures() {
	b.eachList(func(e *contract.Endpoint, own entry) {
		for _, h := range contract.Headlines {
			if own.kind = FigureKind; h.Path == e.Path {
				own.name, own.code = h.Title, h.Name
				b.add(own, vocabularies().others[h.Name])
			}
		}
	})
}

// addFields adds the fields of a list, unless an earlier list has them too.
func (b *builder) addFields(e *contract.Endpoint, own entry) {
	for _, f := range e.Fields {
		if id := b.entryOf(Field, f.Name); id != none {
			b.entries[id].lists |= own.lists
			continue
		}
		own.kind, own.code, own.of = Field, f.Name, e.Texts().Meaning(f.Name)
		own.name = strings.ReplaceAll(f.Name, "_", " ")
		b.add(own, nil)
	}
}

// isMetadata reports whether a list is about the data.
func isMetadata(e *contract.Endpoint) bool { return e.Group() == "metadata" }

// addRecords notes which names a data list has records of: those of codes in its dictionaries.
func (b *builder) addRecords(at int) {
	e := &contract.Endpoints[at]
	l := b.served.Bound.Lists[e.Path]
	if isMetadata(e) || l.Segment == nil {
		return
	}
	for kind := range kinds {
		p := filterOf(e, kind)
		if p == nil {
			continue
		}
		c, fault := l.Segment.Column(p.Columns[0])
		for code := 0; fault == nil && code < c.Cardinality(); code++ {
			if id := b.entryOf(kind, c.TextOf(uint32(code))); id != none {
				b.entries[id].lists |= 1 << at
			}
		}
	}
}

// Costs of the index in memory, in bytes. nameBytes is the most that the name of a row takes.
const (
	entryBytes   = 120
	wordBytes    = 56
	postingBytes = 4
	nameKeyBytes = 56
	nameBytes    = 400
)

// Bytes is the memory of the index.
func (x *Index) Bytes() int64 { return x.bytes }

// FullBytes is the most memory that an index takes for the names of a table.
func FullBytes(l *state.BoundList) int64 {
	for kind := range kinds {
		if l.Segment != nil && kindSources[kind].table == l.Segment.Name() {
			return int64(min(l.Rows, maxNames)) * nameBytes
		}
	}
	return 0
}
