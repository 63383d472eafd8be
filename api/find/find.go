package find

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"hdqs/api/lang"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/internal/background"
)

// Bounds of a search. Further bytes are left out.
const (
	MaxBytes  = 200
	mostParts = 4 // words that are looked for one by one, where no name has all
)

// Finder answers searches from the snapshots of a server.
type Finder struct {
	lists *list.Lists
	also  func(*state.Served)
}

// New returns the finder of a server. From then on the index of a snapshot that replaces another
// one is made during its warm-up, and then also is called with it. That of the first one can wait
// until requests are answered (Prepare), and also is not called: a start is to take little CPU.
func New(s *list.Lists, also func(*state.Served)) *Finder {
	f, warm := &Finder{s, also}, s.State.Hooks.Warm
	s.State.Shares.NameBytes = FullBytes
	s.State.Hooks.Warm = func(next *state.Served, earlier *state.Bound) error {
		err := warm(next, earlier)
		ends := s.State.Options.SkipWarmUp || s.State.NoWarmUp.Load() || s.State.CutWarmUp.Load()
		if err == nil && earlier != nil && !ends {
			background.Run(func() {
				f.indexOf(next)
				f.also(next)
			})
		}
		return err
	}
	return f
}

// Prepare makes the index of the served snapshot, if it was not made yet. It does nothing for a
// snapshot that was not warmed up: there may be no memory for it.
func (f *Finder) Prepare() {
	if v := f.lists.State.Snapshots.Acquire(); v != nil {
		defer v.Release(f.lists.State.Log)
		if v.WarmUp.Load() != nil {
			f.indexOf(v)
		}
	}
}

type indexKey struct{}

// indexOf is the index of a snapshot, made the first time.
func (f *Finder) indexOf(v *state.Served) *Index {
	return v.Keep(indexKey{}, func() any {
		return sync.OnceValue(func() *Index { return BuildIndex(f.lists, v) })
	}).(func() *Index)()
}

// Find answers a search from a snapshot, with addresses below a mount.
func (f *Finder) Find(v *state.Served, m *list.Mount, q Query) (*Answer, error) {
	if q.Language == nil {
		q.Language = lang.All()[0]
	}
	s := &search{f.indexOf(v), f.lists, v, m, q.Brief, q.Language, q.Text, nil, map[string]string{}}
	a := &Answer{Query: q.Text, Results: []Result{}, Kinds: []Count{}}
	words, written := splitWords(q.Text[:min(len(q.Text), MaxBytes)])
	if len(q.Text) > MaxBytes {
		a.Left = append(a.Left, q.Text[MaxBytes:])
	}
	for i, word := range words {
		s.written[word] = written[i]
	}
	hits, err := s.datasets(words, &q)
	var answers []answer
	if hits == nil && err == nil {
		if answers = s.ask(a, words, written); q.Brief {
			answers = s.completed(a, words, answers)
		} else {
			answers, err = addBefore(s, answers)
		}
		if err != nil {
			return nil, err
		}
		if hits, err = s.hits(words); len(hits) > 0 && (len(answers) == 0 || answers[0].isLoose) {
			answers, a.Instead = nil, ""
			hits = append(hits, countriesOf(s.mentions(words), hits)...)
		}
	}
	if len(hits) == 0 && len(answers) == 0 && err == nil {
		hits, err = s.nearHits(a, words, q.Limit)
	}
	if err != nil {
		return nil, err
	}
	all := make([]hit, 0, len(answers)+len(hits))
	for i := range answers {
		all = append(all, hit{answer: &answers[i]})
	}
	all = append(all, hits...)
	var found [kinds]int
	for _, h := range all {
		found[kindOf(s, h)]++
	}
	for kind, n := range found {
		if n > 0 {
			a.Kinds = append(a.Kinds, Count{Kind(kind).String(), n})
		}
	}
	if q.Kind == List.String() && found[List] == 0 {
		for i := range answers {
			answers[i].figure = nil
		}
		answers = answers[:min(len(answers), 1)]
		all = all[:len(answers)]
	}
	if q.Kind != "" {
		all = slices.DeleteFunc(all, func(h hit) bool { return kindOf(s, h).String() != q.Kind })
	}
	a.Total = len(all)
	from := min(max(q.Offset, 0), len(all))
	for _, h := range all[from:min(from+q.Limit, len(all))] {
		r, err := s.result(h)
		if err != nil {
			return nil, err
		}
		a.Results = append(a.Results, r)
	}
	return a, nil
}

// kindOf is the kind of a hit, of an answer what it is shown as.
func kindOf(s *search, h hit) Kind {
	switch {
	case h.answer == nil:
		return s.entries[h.id].kind
	case h.answer.figure == nil || h.answer.narrowing() && !h.answer.figure.CanNarrow():
		return List
	}
	return FigureKind
}

// datasets are the hits of a search with the word dataset, which the titles of datasets do not
// have.
func (s *search) datasets(words []string, q *Query) (hits []hit, err error) {
	rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "dataset" || w == "datasets" })
	if len(rest) == 0 || len(rest) == len(words) || q.Kind != "" && q.Kind != Dataset.String() {
		return nil, nil
	}
	hits, err = s.hits(rest)
	hits = slices.DeleteFunc(hits, func(h hit) bool { return s.entries[h.id].kind != Dataset })
	if len(hits) == 0 {
		return nil, err
	}
	q.Kind = Dataset.String()
	return hits, err
}

// ask understands the words as a question, and notes which of them no query has.
func (s *search) ask(a *Answer, words, written []string) []answer {
	q := s.parse(words, written)
	if q == nil {
		q = &question{list: none, left: written}
	}
	words, written = slices.Clone(words), slices.Clone(written)
	for range mostCorrected { // a place can be corrected only once the list is known
		again, at, meant := s.corrected(q, words, written)
		if again == nil {
			break
		}
		var texts []string
		for _, word := range slices.Backward(meant) {
			words[at], written[at] = word, word
			texts = append(texts, strings.Join(words, " "))
		}
		slices.Reverse(texts)
		q, a.Instead = again, strings.Join(texts, ", ")
	}
	if q.list == none {
		return nil
	}
	q.left = append(slices.DeleteFunc(q.left, func(w string) bool { return isNearlyEmpty(s.Index, w) }), a.Left...)
	a.Left, s.from = q.left, q.from
	return s.answers(q)
}

// mostCompleted is how many countries are suggested for a word that has begun.
const mostCompleted = 3

// completed are answers to a question whose last word may go on as the name of a country, before
// others unless these are of a country already.
func (s *search) completed(a *Answer, words []string, answers []answer) []answer {
	isOfCountry := len(a.Left) == 0 && len(answers) > 0 && answers[0].at.country != none && answers[0].at.unit == none
	if len(words) < 2 || isOfCountry {
		return answers
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	var ids, others []int32 // by their names, by other ones
	begins := func(name string) bool { return len(last) >= lastFrom && strings.HasPrefix(name, last) }
	for id := range s.eachCountry {
		if begins(s.entries[id].folded) {
			ids = append(ids, id)
		} else if slices.ContainsFunc(s.also[id], begins) {
			others = append(others, id)
		}
	}
	s.inOrder(ids, "")
	if s.inOrder(others, ""); len(answers) == 0 || answers[0].at.country == none || len(a.Left) > 0 {
		ids = append(ids, others...)
	}
	var all []answer
	for _, id := range ids[:min(len(ids), mostCompleted)] {
		whole := append(slices.Clone(before), strings.ToLower(s.entries[id].code))
		if q := s.parse(whole, whole); q != nil && len(q.left) == 0 && q.compared == nil {
			a.Left = nil
			all = append(all, s.answers(q)...)
		}
	}
	all = slices.DeleteFunc(all, func(of answer) bool { return of.isNear })
	return append(all, answers...)
}

// nearHits are the entries that have the words as they were probably meant, or some of the words:
// first the country that they name, and no place of another one.
func (s *search) nearHits(a *Answer, words []string, limit int) (hits []hit, err error) {
	if other := s.near(words); other != nil {
		hits, err = s.hits(other)
		a.Instead = strings.Join(other, " ")
	}
	if len(hits) > 0 || err != nil || len(words) < 2 {
		return hits, err
	}
	var found []string
	country, mentions, asides := int32(none), s.mentions(words), vocabularies().asides
	hits = countriesOf(mentions, nil)
	for _, h := range hits {
		country, found = h.id, append(found, s.nameOf(&s.entries[h.id]))
	}
	for _, m := range mentions {
		words = slices.DeleteFunc(words, func(w string) bool { return asides[w] != "" || !slices.Contains(m.rest, w) })
	}
	isUseful := func(e *entry) bool {
		return e.kind != FigureKind && (country == none || e.country == none || e.country == country)
	}
	parts := needed(asides, words)
	a.Left = nil
	for _, word := range parts[:min(len(parts), mostParts)] {
		one := s.match([]string{word}, true, isUseful)
		hits = append(hits, hitsOf(one[:min(len(one), limit)], none)...)
		if len(one) > 0 {
			found = append(found, s.written[word])
		} else {
			a.Left = append(a.Left, s.written[word])
		}
	}
	a.Instead = strings.Join(found, ", ")
	return hits, nil
}

// countriesOf are the countries that are mentioned, but for those that were found.
func countriesOf(mentions []mention, found []hit) (hits []hit) {
	for _, m := range mentions {
		isCountry := func(h hit) bool { return h.id == m.country }
		if !slices.ContainsFunc(found, isCountry) && !slices.ContainsFunc(hits, isCountry) {
			hits = append(hits, hit{key: hasWords << rankBit, id: m.country, country: none})
		}
	}
	return hits
}

// hitsOf are the entries of keys, in a country if one is given.
func hitsOf(keys []uint64, country int32) (hits []hit) {
	for _, key := range keys {
		hits = append(hits, hit{key: key, id: int32(key & idMask), country: country})
	}
	return hits
}

// hits are all entries that match, the best first, each once.
func (s *search) hits(words []string) ([]hit, error) {
	if len(words) == 0 {
		return nil, nil
	}
	hits := hitsOf(s.match(words, true, nil), none)
	mentions := s.mentions(words)
	if mentions == nil {
		return hits, nil
	}
	for _, m := range mentions {
		isOpen := m.rest[len(m.rest)-1] == words[len(words)-1]
		there := s.match(m.rest, isOpen, func(e *entry) bool { return s.isIn(e, m.country) })
		hits = slices.Concat(hits, hitsOf(there, m.country))
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.key, b.key) })
	seen := map[[2]int32]bool{}
	return s.withRecords(slices.DeleteFunc(hits, func(h hit) bool {
		key := [2]int32{h.id, h.country}
		if s.entries[h.id].country == h.country {
			key[1] = none // the country says nothing more
		}
		twice := seen[key]
		seen[key] = true
		return twice
	}))
}

// isIn reports whether an entry and a country may have records together: places that are in it,
// figures, and what has lists in common with it.
func (s *search) isIn(e *entry, country int32) bool {
	switch e.kind {
	case FigureKind:
		return false // which questions are answered with
	case List, Sector, Commodity, Organisation:
		return e.lists&s.entries[country].lists != 0
	}
	return e.country == country
}

// mostChecked is how many hits are looked at that have records somewhere, but perhaps not in the
// country. Others are left out.
const mostChecked = 30

// withRecords leaves out hits in a country of which there are no records there, and makes the
// results of others.
func (s *search) withRecords(hits []hit) (with []hit, err error) {
	checked := 0
	for _, h := range hits {
		kind := s.entries[h.id].kind
		isSide := kind == List && slices.Contains(s.from, h.country)
		if h.country == none || !isSide && kind != Sector && kind != Commodity && kind != Organisation {
			with = append(with, h)
			continue
		}
		if checked++; checked > mostChecked {
			continue
		}
		r, err := s.result(h)
		has := len(r.Lists) > 0
		if err == nil && isSide {
			has, err = s.has(r.Question)
		}
		if err != nil {
			return nil, err
		}
		if has {
			with = append(with, h)
		}
	}
	return with, nil
}
