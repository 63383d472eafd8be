package aggregate

import (
	"math/bits"
	"sync"

	"hdqs/index"
)

// Answer answers a question. The error is ErrQuestion, *TooManyGroups or *TooManyValues, or one of
// index.Passing.
func (t *Table) Answer(q *Question) (*Result, error) {
	p, err := t.plan(q)
	if err != nil {
		return nil, err
	}
	query := q.Query
	if query == nil {
		query = &index.Query{}
	}
	passing, err := t.x.Passing(query)
	if err != nil {
		return nil, err
	}
	w := &worker{p: p, passing: passing, memory: memories.Get().(*memory)}
	defer w.release()
	p.chooseDense(passing, &w.chunk)
	w.pause = q.Pause
	if err := w.addAll(); err != nil {
		return nil, err
	}
	return newResult(w)
}

// worker adds up the rows of a question.
type worker struct {
	p       *plan
	passing *index.Passing
	*memory
	keys    *keys
	rows    []uint32   // by group
	fast    []runState // the states that can add runs
	slow    []state    // and the others
	cursors []cursor   // of the inputs, if all have runs
	run     run        // rows to be added
	room    int        // groups that states have room for
	pause   func()
}

// memory is what a worker needs only while it adds, and the next one reuses.
type memory struct {
	chunk  index.ChunkRows
	ranges []index.Range
	block  *block
	at     []uint32 // rows that do not follow each other, for the next block
}

var memories = sync.Pool{New: func() any {
	return &memory{block: newBlock(), at: make([]uint32, 0, blockRows)}
}}

func (w *worker) rest() {
	if w.pause != nil {
		w.pause()
	}
}

// release gives the memory of a worker to the next one.
func (w *worker) release() {
	w.block.reset(nil)
	w.at = w.at[:0]
	memories.Put(w.memory)
	w.memory = nil
}

func (w *worker) start() {
	w.keys = newKeys(w.p)
	w.block.reset(w.p.spaces)
	for _, s := range w.p.states {
		if fast, is := s.(runState); is {
			w.fast = append(w.fast, fast)
		} else {
			w.slow = append(w.slow, s)
		}
	}
	if w.p.runs {
		for _, in := range w.p.inputs {
			w.cursors = append(w.cursors, cursor{runs: in.space.runs()})
		}
	}
	if w.p.dense || len(w.p.inputs) == 0 {
		w.grow(max(w.keys.len(), 1))
	}
}

func (w *worker) grow(groups int) {
	if groups <= w.room {
		return
	}
	if !w.p.dense && len(w.p.inputs) > 0 {
		groups = max(groups, 2*w.room, 256) // more will come
	}
	w.room = groups
	w.rows = grown(w.rows, groups)
	for _, s := range w.p.states {
		s.grow(groups)
	}
}

func (w *worker) addAll() error {
	w.start()
	for k := range w.passing.Chunks() {
		if err := w.add(k); err != nil {
			return err
		}
	}
	if err := w.addRun(); err != nil { // the rows that are left
		return err
	}
	return w.flush()
}

// minRange is the number of rows that follow each other from which on they are read in sequence.
const minRange = 16

func (w *worker) add(k int) error {
	n := w.passing.Read(k, &w.chunk)
	if n == 0 {
		return nil
	}
	if n > minScattered && !w.chunk.All() {
		if words := w.chunk.Words(); countRuns(words)*minRange > n {
			return w.addScattered(words, w.chunk.Base())
		}
	}
	w.ranges = w.chunk.Ranges(w.ranges[:0])
	for _, r := range w.ranges {
		var err error
		switch {
		case r.To-r.From < minRange:
			err = w.addRows(r)
		case w.p.runs:
			err = w.addRuns(r.From, r.To)
		default:
			err = w.addRange(r.From, r.To)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// minScattered is the number of rows in a chunk from which on it is worth while to find out whether
// they are scattered.
const minScattered = 1024

// countRuns counts the runs of ones.
func countRuns(words *[1024]uint64) int {
	n, last := 0, uint64(0)
	for _, w := range words {
		n += bits.OnesCount64(w &^ (w<<1 | last>>63))
		last = w
	}
	return n
}

// addScattered adds the rows of a chunk one by one.
func (w *worker) addScattered(words *[1024]uint64, base uint32) error {
	for i, word := range words {
		if len(w.at) > blockRows-64 {
			if err := w.flush(); err != nil {
				return err
			}
		}
		at := w.at
		for first := base + uint32(i)<<6; word != 0; word &= word - 1 {
			at = append(at, first+uint32(bits.TrailingZeros64(word)))
		}
		w.at = at
	}
	return nil
}

// addRows adds the rows of a short range.
func (w *worker) addRows(r index.Range) error {
	for row := r.From; row < r.To; row++ {
		w.at = append(w.at, row)
	}
	if len(w.at) <= blockRows-minRange {
		return nil
	}
	return w.flush()
}

// addRange adds the rows from from to to-1.
func (w *worker) addRange(from, to uint32) error {
	for from < to {
		n := min(to-from, blockRows)
		w.block.set(int(n), from, nil)
		if err := w.addBlock(); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// run is rows of one group that follow each other.
type run struct{ from, to, id uint32 }

// addRuns is addRange where the codes of all inputs have long runs: it adds the rows of one group
// together.
func (w *worker) addRuns(from, to uint32) error {
	for from < to {
		end, key := to, uint64(0)
		for i, in := range w.p.inputs {
			code, last := w.cursors[i].seek(from)
			end = min(end, last)
			key = key*in.radix + uint64(in.digits[code])
		}
		id, err := w.keys.of(key)
		if err != nil {
			return err
		}
		if id == w.run.id && from == w.run.to {
			w.run.to = end
		} else {
			if err := w.addRun(); err != nil {
				return err
			}
			w.run = run{from, end, id}
		}
		from = end
	}
	return nil
}

func (w *worker) addRun() error {
	r := w.run
	if r.from == r.to {
		return nil
	}
	w.run.from = r.to
	w.rest()
	w.grow(w.keys.len())
	w.rows[r.id] += r.to - r.from
	for _, s := range w.fast {
		s.addRun(r.from, r.to, r.id)
	}
	if len(w.slow) == 0 {
		return nil
	}
	return w.addSlow(r.from, r.to, r.id)
}

// addSlow adds rows of one group to the states that cannot add runs.
func (w *worker) addSlow(from, to, id uint32) error {
	b := w.block
	for from < to {
		n := min(to-from, blockRows)
		w.rest()
		b.set(int(n), from, nil)
		b.ids, b.id = nil, id
		for _, s := range w.slow {
			if err := s.add(b); err != nil {
				return err
			}
		}
		from += n
	}
	return nil
}

// flush adds the rows that do not follow each other.
func (w *worker) flush() error {
	if len(w.at) == 0 {
		return nil
	}
	w.block.set(len(w.at), 0, w.at)
	err := w.addBlock()
	w.at = w.at[:0]
	return err
}

func (w *worker) addBlock() error {
	w.rest()
	b := w.block
	if err := w.keys.add(b); err != nil {
		return err
	}
	w.grow(w.keys.len())
	if b.ids == nil {
		w.rows[b.id] += uint32(b.n)
	} else {
		countRows(w.rows, b.ids)
	}
	for _, s := range w.p.states {
		if err := s.add(b); err != nil {
			return err
		}
	}
	return nil
}

// countRows counts the rows of each group, in turns as addTable does.
func countRows(rows, ids []uint32) {
	n := len(ids) / 4
	for i := range n {
		rows[ids[i]]++
		rows[ids[i+n]]++
		rows[ids[i+2*n]]++
		rows[ids[i+3*n]]++
	}
	for _, id := range ids[4*n:] {
		rows[id]++
	}
}
