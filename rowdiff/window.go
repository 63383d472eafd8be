package rowdiff

import (
	"iter"
	"sort"

	"hdqs/index"
)

// windowRows is how many rows are read at a time.
const windowRows = 512

// chunkRows is the number of rows of a chunk of index.Passing.
const chunkRows = 1 << 16

// list has the passing rows of one state, of which it reads any.
type list struct {
	passing *index.Passing // nil without the table
	chunk   index.ChunkRows
	loaded  int           // position of chunk, -1 at first
	ranges  []index.Range // of its passing rows
}

func (l *list) start(p *index.Passing) { l.passing, l.loaded, l.ranges = p, -1, l.ranges[:0] }

// read sets b to the first passing rows from row from to before row to. They are fewer than
// windowRows only if there are no more.
func (l *list) read(b *index.Batch, from, to uint32) {
	b.Clear()
	for l.passing != nil && b.Len() < windowRows && from < to {
		k := int(from / chunkRows)
		if k >= l.passing.Chunks() {
			break
		}
		if l.loaded != k {
			l.passing.Read(k, &l.chunk)
			l.ranges, l.loaded = l.chunk.Ranges(l.ranges[:0]), k
		}
		first := sort.Search(len(l.ranges), func(i int) bool { return l.ranges[i].To > from })
		for _, r := range l.ranges[first:] {
			if r.From >= to || b.Len() == windowRows {
				return
			}
			b.Add(max(r.From, from), min(r.To, to), windowRows)
		}
		from = uint32(k+1) * chunkRows
	}
}

// batches yields the passing rows from row from to before row to.
func (l *list) batches(from, to uint32) iter.Seq[*index.Batch] {
	return func(yield func(*index.Batch) bool) {
		var b index.Batch
		for l.read(&b, from, to); b.Len() > 0; l.read(&b, from, to) {
			if !yield(&b) {
				return
			}
			from = b.IDs()[b.Len()-1] + 1
		}
	}
}

// window is the next rows of a block, with their words.
type window struct {
	list  *list
	side  int
	words []word
	next  uint32 // the row from which on rows are not yet in the window
	to    uint32 // the end of the block
	at    int    // position of the first row that is still needed
	batch index.Batch
	rows  []uint32             // of batch
	read  [][windowRows]uint64 // by position in words
}

func (w *window) open(l *list, side int, words []word, b *block) {
	w.list, w.side, w.words = l, side, words
	w.next, w.to, w.at, w.rows = b.from, b.to, 0, nil
	if len(w.read) < len(words) {
		w.read = make([][windowRows]uint64, len(words))
	}
}

// fill reads the next rows if none is left. It reports false at the end of the block.
func (w *window) fill() bool {
	if w.at < len(w.rows) {
		return true
	}
	w.list.read(&w.batch, w.next, w.to)
	if w.at, w.rows = 0, w.batch.IDs(); len(w.rows) == 0 {
		return false
	}
	w.next = w.rows[len(w.rows)-1] + 1
	for k := range w.words {
		w.words[k][w.side].read(w.read[k][:len(w.rows)], &w.batch)
	}
	return true
}

// equalRows is the number of next rows that are equal in two windows: all of those that both have,
// or those before the first that is not.
func equalRows(a, b *window) int {
	n, equal, step := min(len(a.rows)-a.at, len(b.rows)-b.at), 0, 8
	for equal < n {
		m := min(step, n-equal)
		for k := range a.words {
			x := a.read[k][a.at+equal:][:m]
			y := b.read[k][b.at+equal:][:len(x)]
			for i := range x {
				if x[i] != y[i] {
					m = i
					break
				}
			}
		}
		equal += m
		if m < min(step, n-equal+m) {
			break
		}
		step = min(4*step, windowRows)
	}
	return equal
}

// hashes sets dst to a hash of all words of each row in the window.
func (w *window) hashes(dst []uint64) []uint64 {
	dst = dst[:len(w.rows)]
	clear(dst)
	for k := range w.words {
		words := w.read[k][:len(dst)]
		for i, v := range words {
			dst[i] = mix(dst[i], v)
		}
	}
	return dst
}
