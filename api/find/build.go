package find

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/state"
)

// languages are those in which countries have names, besides those in the list of countries.
var languages = []language.Tag{language.English, language.French, language.Spanish, language.Arabic}

// maxNames is the most names of a kind: four times as many districts as there are. Further ones are
// left out.
const maxNames = 200_000

// builder makes an index of a snapshot.
type builder struct {
	*Index
	lists  *list.Lists
	served *state.Served
	coded  [kinds]map[string]int32 // entries by code
	twice  []int32                 // entries with the code of an earlier one: several organisations can have one
	texts  strings.Builder         // of names as they are compared; its texts stay when others are added
	inText grouping                // entries by word
	called grouping                // entries by name, see Index.names
	folds  []string                // of the entry that is added
	word   [64]byte                // of the text that is folded
}

func newBuilder(most int) *builder {
	b := &builder{inText: newGrouping(most + most/4), called: newGrouping(most / 4), Index: &Index{
		also: map[int32][]string{}, people: map[string][]int32{}, entries: make([]entry, 0, most),
	}}
	for kind := range b.coded {
		b.coded[kind] = map[string]int32{}
	}
	return b
}

// BuildIndex makes the index of a snapshot. A table that cannot be read gives no names.
func BuildIndex(s *list.Lists, v *state.Served) *Index {
	most := int64(0)
	for _, l := range v.Bound.Lists {
		most += FullBytes(l) / nameBytes
	}
	b := newBuilder(int(most))
	b.lists, b.served = s, v
	b.year = v.Bound.Snap.Manifest.SnapshotTime.UTC().Year()
	for kind := range kinds {
		switch kind {
		case FigureKind:
			b.addFigures()
		case Group:
			for i := range v.Bound.Groups.All {
				b.addGroup(&v.Bound.Groups.All[i])
			}
		case List:
			b.eachList(func(e *contract.Endpoint, own entry) {
				own.name, own.code = e.Summary, e.Name()
				b.add(own, vocabularies().others[e.Name()], nil, e.Texts().GroupTitle())
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
	for i := range v.Bound.Groups.All {
		b.listsOf(&v.Bound.Groups.All[i])
	}
	for _, id := range b.twice {
		e := &b.entries[id]
		e.lists = b.entries[b.entryOf(e.kind, e.code)].lists
	}
	return b.finish()
}

// addGroup adds a group of countries.
func (b *builder) addGroup(g *contract.CountryGroup) {
	e := entry{kind: Group, code: g.Slug, name: g.Name, country: none, parent: none}
	others := slices.Clone(vocabularies().others[groupWord+g.Slug])
	for _, l := range lang.All() {
		others = append(others, l.Group(g.Slug, g.Name))
	}
	b.add(e, others, nil)
}

// listsOf notes which lists have records of one of the countries of a group, and its filter.
func (b *builder) listsOf(g *contract.CountryGroup) {
	lists := uint32(0)
	for _, code := range g.Members {
		if id := b.entryOf(Country, code); id != none {
			lists |= b.entries[id].lists
		}
	}
	for i := range contract.Endpoints {
		if filterOf(&contract.Endpoints[i], Group) == nil {
			lists &^= 1 << i
		}
	}
	b.entries[b.entryOf(Group, g.Slug)].lists = lists
}

// finish sorts the words.
func (b *builder) finish() *Index {
	words := map[string]bool{}
	for id := range b.eachCountry {
		for _, name := range append(b.also[id], b.entries[id].folded) {
			for word := range strings.FieldsSeq(name) {
				words[word] = true
			}
		}
	}
	b.countryWords, b.peopleWords = slices.Sorted(maps.Keys(words)), slices.Sorted(maps.Keys(b.people))
	b.words, b.names = b.inText.sorted(), b.called.sorted()
	return b.Index
}

// textChunk is how many bytes of texts are allocated at once.
const textChunk = 64 << 10

// fold is a text as it is compared.
func (b *builder) fold(text string) string {
	if most := 2 * len(text); b.texts.Cap()-b.texts.Len() < most {
		b.texts = strings.Builder{}
		b.texts.Grow(max(textChunk, most))
	}
	from := b.texts.Len()
	eachWord(text, b.word[:0], func(word []byte, _ string) {
		if b.texts.Len() > from {
			b.texts.WriteByte(' ')
		}
		b.texts.Write(word)
	})
	return b.texts.String()[from:]
}

// add appends an entry, with the words of its name and code, other names, towns in it, and texts.
func (b *builder) add(e entry, others, towns []string, texts ...string) {
	id := int32(len(b.entries))
	if e.folded == "" {
		e.folded = b.fold(e.name)
	}
	b.entries = append(b.entries, e)
	if b.entryOf(e.kind, e.code) != none {
		b.twice = append(b.twice, id)
	} else {
		b.coded[e.kind][e.code] = id
	}
	code := b.fold(e.code)
	all := append(b.folds[:0], e.folded)
	for _, other := range others {
		all = append(all, b.fold(other))
	}
	b.nameAs(&e, id, code, all)
	for _, town := range towns {
		all = append(all, b.fold(town))
	}
	isOdd := e.kind < Dataset && !strings.EqualFold(code, e.code)
	if all = append(all, code); isOdd {
		b.also[id] = slices.Clone(all[1:])
	} else if len(all) > 2 {
		b.also[id] = slices.Clone(all[1 : len(all)-1])
	}
	for _, text := range texts {
		all = append(all, b.fold(text))
	}
	for _, text := range append(all, b.fold(e.of)) {
		for word := range strings.FieldsSeq(text) {
			b.inText.add(word, id)
		}
	}
	b.folds = all
}

// nameAs notes how a question names an entry: by its names, also without what is in parentheses
// after it, and where its codes are known to people, by its code. What is one word is not noted:
// the words of entries are anyway.
func (b *builder) nameAs(e *entry, id int32, code string, names []string) {
	if !e.kind.isNamed() {
		return
	}
	isWord := func(text string) bool { return strings.IndexByte(text, ' ') < 0 }
	asides := vocabularies().asides
	note := func(name string) {
		isAside := func(w string) bool { return asides[w] != "" }
		if words := strings.Fields(name); slices.ContainsFunc(words, isAside) {
			name = strings.Join(needed(asides, words), " ")
		}
		if name != "" {
			b.called.add(name, id)
		}
	}
	if !isWord(e.folded) {
		note(e.folded)
	}
	for _, other := range names[1:] {
		note(other)
	}
	plain, more, ok := strings.Cut(e.name, " (")
	if ok { // "Iran (Islamic Republic of)", "Bread (bakery)"
		note(b.fold(plain))
		first, _, _ := strings.Cut(more, ",") // "goat meat" of "Meat (goat, with bones)"
		note(b.fold(more + " " + plain))
		note(b.fold(first + " " + plain))
	}
	if e.kind == Commodity { // "egg", "tomato"
		note(b.fold(strings.TrimSuffix(plain, "s")))
		note(b.fold(strings.TrimSuffix(plain, "es")))
	}
	if e.hasKnownCode() && !isWord(code) {
		note(code)
	}
	if e.kind == Country {
		for _, name := range otherNames().people[e.code] {
			for _, key := range []string{folded(name), folded(name + "s")} { // "Iraqis"
				if !slices.Contains(b.people[key], id) {
					b.people[key] = append(b.people[key], id)
				}
			}
		}
	}
}

// entryOf is the entry with a code.
func (b *builder) entryOf(kind Kind, code string) int32 {
	if id, has := b.coded[kind][code]; has {
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
	b.coded[kind] = make(map[string]int32, b.served.Bound.Lists[contract.Endpoints[at].Path].Rows)
	fields := []string{source.code, source.name, source.of, source.parent}
	q := contract.Ask(&contract.Endpoints[at], contract.Rows).
		Select(slices.DeleteFunc(fields, func(name string) bool { return name == "" })...)
	m := b.lists.Routes.MountIn(contract.ContractNames)
	for from, more := 0, true; more && from < maxNames; from += contract.MaxLimit {
		more = false
		// An error is damage, which Query has noted.
		_ = b.lists.Query(b.served, m, q.Page(from, contract.MaxLimit), func(_ *list.Reply, rows list.Records) error {
			more = rows.Len() == contract.MaxLimit
			for _, r := range list.TextsOf(rows) {
				e := entry{kind: kind, country: none, parent: none}
				e.code, e.name = r.Value(source.code), r.Value(source.name)
				e.folded = b.fold(e.name)
				var others, towns []string
				switch kind {
				case Country:
					if c := b.served.Bound.Country(e.code); c != nil {
						others, e.urgency = countryNames(e.code, c.NameRU, c.NameZH), urgencyOf(c)
					}
				case Sector:
					others = vocabularies().others[e.code]
				case Commodity:
					others = commodityNames(e.name)
				case Organisation:
					others = organisationNames(e.name, e.folded+" "+b.fold(e.code))
				case Dataset, File:
					e.of, e.lists = r.Value(source.of), 1<<at
				default:
					e.country = b.entryOf(Country, r.Value(source.of))
					e.parent = b.entryOf(Province, r.Value(source.parent))
					if e.country != none && (kind == Province || kind == District) {
						others, towns = otherNames().of(b.entries[e.country].code, e.folded)
					}
				}
				if e.code != "" && e.name != "" {
					b.add(e, others, towns)
				}
			}
			return nil
		})
	}
}

// commodityNames are the other names of a commodity: those of its name without what is in
// parentheses, and of a kind of fuel, meat or livestock also what is there.
func commodityNames(name string) (all []string) {
	plain, more, _ := strings.Cut(name, " (")
	kind, _, _ := strings.Cut(strings.TrimSuffix(more, ")"), ",")
	if slices.Contains([]string{"Fuel", "Meat", "Livestock"}, plain) {
		all = append(append(all, kind), vocabularies().others[commodityWord+folded(kind)]...)
	}
	said := vocabularies().others[commodityWord+folded(plain)]
	all = append(all, said...)
	for _, word := range wordsOf(more) { // "riz local" is "Rice (local)"
		of := vocabularies().others[commodityWord+"("+word+")"]
		var longer []string
		for _, name := range said {
			for _, adjective := range of {
				longer = append(longer, name+" "+adjective)
			}
		}
		said = longer
	}
	return append(all, said...)
}

// organisationNames are other names of an organisation, by the acronyms among the words of its name
// and code, and the one in parentheses: "Danish Refugee Council (DRC)".
func organisationNames(name, words string) (all []string) {
	if _, acronym, has := strings.Cut(name, "("); has {
		acronym, _, _ = strings.Cut(acronym, ")")
		all = append(all, acronym)
	}
	for word := range strings.FieldsSeq(strings.ToUpper(words)) {
		all = append(all, vocabularies().others[organisationWord+word]...)
	}
	return all
}

// urgencyOf orders countries of one name: those with a response plan, then those of the overview.
func urgencyOf(c *state.Country) uint8 {
	switch {
	case c.HasHRP:
		return 2
	case c.InGHO:
		return 1
	}
	return 0
}

// countryNames are the other names of a country, with those that its list has.
func countryNames(code string, listed ...string) []string {
	names := slices.DeleteFunc(listed, func(name string) bool { return name == "" })
	names = append(names, otherNames().names[code]...)
	if region, err := language.ParseRegion(code); err == nil {
		for _, l := range languages {
			names = append(names, display.Regions(l).Name(region))
		}
	}
	return names
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
				b.add(own, vocabularies().others[h.Name], nil)
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
		b.add(own, nil, nil)
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

// nameBytes is the most memory that the name of a row takes.
const nameBytes = 400

// FullBytes is the most memory that an index takes for the names of a table.
func FullBytes(l *state.BoundList) int64 {
	for kind := range kinds {
		if l.Segment != nil && kindSources[kind].table == l.Segment.Name() {
			return int64(min(l.Rows, maxNames)) * nameBytes
		}
	}
	return 0
}
