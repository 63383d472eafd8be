package index

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
	if rows, has := x.cache.get(key).(*set); has {
		return rows, nil
	}
	// Unlike predicates, a large set is cached at its first use: to find it takes milliseconds, and
	// checks of a sum ask for it several times.
	found, err := find()
	if err != nil {
		return nil, err
	}
	x.cache.put(key, found, found.size())
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
