package index

// keptRows is a cached answer: of the rows that pass the filters of a query, those that it keeps.
// rows is nil in an entry that only says that they were asked for before.
type keptRows struct{ rows *set }

// Modes are bits in the keys of cached answers that say what a query keeps.
const (
	keepsLatest = 1 << iota
	keepsEdition
	keepsCoarsest
	wholeEdition // of an answer to the filters of the period alone
)

// reduces reports whether a query keeps only some of the rows that pass its filters.
func (x *Index) reduces(q *Query) bool {
	return q.Latest || q.Edition || q.Coarsest && x.places.nests()
}

// kept returns, of the rows that pass the filters of w, those that a query keeps. The error is that
// of Select.
func (x *Index) kept(w *scratch, q *Query) (*set, error) {
	mode := byte(0)
	if q.Latest {
		mode |= keepsLatest
	}
	if q.Edition {
		mode |= keepsEdition
	}
	if q.Coarsest {
		mode |= keepsCoarsest
	}
	return x.cachedRows(w, mode, func() (*set, error) { return x.findKept(w, q) })
}

// cachedRows returns the rows that find finds for the filters of w in a mode, from the cache where
// it has them.
func (x *Index) cachedRows(w *scratch, mode byte, find func() (*set, error)) (*set, error) {
	// No key of a filter, of a query or of merged filters starts with 254.
	key := append(append(w.keptKey[:0], 254, mode), w.key...)
	w.keptKey = key
	entry, asked := x.cache.get(key).(*keptRows)
	if asked && entry.rows != nil {
		return entry.rows, nil
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	// As with predicates, a large set is not cached at its first use, unless other queries need it.
	if size := found.size(); asked || mode == wholeEdition || size <= int(x.cache.limit.Load())/largeShare {
		x.cache.put(key, &keptRows{found}, size)
	} else {
		x.cache.put(key, &keptRows{}, 0)
	}
	return found, nil
}

// findKept finds the rows to keep: first those of the coarsest places, then the newest of them.
func (x *Index) findKept(w *scratch, q *Query) (found *set, err error) {
	if q.Edition && x.edition.whole {
		err = x.bindWhole(w, q)
	} else {
		err = x.predicates(w)
	}
	if err != nil {
		return nil, err
	}
	if q.Coarsest && x.places.nests() {
		found = x.findCoarsest(w)
		w.predicates = append(w.predicates[:0], &predicate{set: found})
	}
	switch {
	case q.Latest:
		found = x.findNewest(w)
	case q.Edition && x.edition.whole:
		x.addAll(w)
		found = w.builder.build()
	case q.Edition:
		found = x.findEdition(w, q.Coarsest)
	}
	return found, nil
}

// addAll sets w.builder to the rows that pass w.predicates.
func (x *Index) addAll(w *scratch) {
	b := &w.builder
	b.reset(x.rows)
	for k := range b.bitmaps {
		if x.chunk(&w.rows, w.predicates, k, false) > 0 {
			*b.bitmap(k) = *w.rows.bitmap()
		}
	}
}
