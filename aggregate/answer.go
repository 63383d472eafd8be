package aggregate

import (
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
	rows    []uint32       // by group
	fast    []runState     // the states that can add runs
	slow    []state        // and the others
	cursors []index.Cursor // of the inputs, if all have runs
	run     run            // rows to be added
	room    int            // groups that states have room for
	pause   func()
}

// memory is what a worker needs only while it adds, and the next one reuses.
type memory struct {
	chunk  index.ChunkRows
	ranges []index.Range
	block  *block // rows that are not added yet
	ofRun  *block // rows of a run
}

var memories = sync.Pool{New: func() any { return &memory{block: newBlock(), ofRun: newBlock()} }}

func (w *worker) rest() {
	if w.pause != nil {
		w.pause()
	}
}

// release gives the memory of a worker to the next one.
func (w *worker) release() {
	w.block.Clear()
	w.ofRun.Clear()
	memories.Put(w.memory)
	w.memory = nil
}

func (w *worker) start() {
	w.keys = newKeys(w.p)
	for _, s := range w.p.states {
		if fast, is := s.(runState); is {
			w.fast = append(w.fast, fast)
		} else {
			w.slow = append(w.slow, s)
		}
	}
	if w.p.runs {
		for _, in := range w.p.inputs {
			w.cursors = append(w.cursors, index.Cursor{Runs: in.space.Runs()})
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

// minRange is the number of rows that follow each other from which on runs are looked for in them.
const minRange = 16

func (w *worker) add(k int) error {
	if w.passing.Read(k, &w.chunk) == 0 {
		return nil
	}
	if w.chunk.IsScattered() {
		words, from := w.chunk.Words()[:], w.chunk.Base()
		for len(words) > 0 {
			n := w.block.AddBits(from, words, blockRows)
			if words, from = words[n:], from+uint32(n)<<6; len(words) > 0 {
				if err := w.flush(); err != nil {
					return err
				}
			}
		}
		return nil
	}
	w.ranges = w.chunk.Ranges(w.ranges[:0])
	for _, r := range w.ranges {
		var err error
		if w.p.runs && r.To-r.From >= minRange {
			err = w.addRuns(r.From, r.To)
		} else {
			err = w.addRange(r.From, r.To)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addRange adds the rows from from to to-1, some of them later, with others.
func (w *worker) addRange(from, to uint32) error {
	for from < to {
		if from = w.block.Add(from, to, blockRows); w.block.Len() < blockRows {
			break
		}
		if err := w.flush(); err != nil {
			return err
		}
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
			code, last := w.cursors[i].Seek(from)
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
	b := w.ofRun
	b.ids, b.id = nil, id
	for from < to {
		w.rest()
		b.Clear()
		from = b.Add(from, to, blockRows)
		for _, s := range w.slow {
			if err := s.add(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush adds the rows of the block.
func (w *worker) flush() error {
	b := w.block
	if b.Len() == 0 {
		return nil
	}
	w.rest()
	if err := w.keys.add(b); err != nil {
		return err
	}
	w.grow(w.keys.len())
	if b.ids == nil {
		w.rows[b.id] += uint32(b.Len())
	} else {
		countRows(w.rows, b.ids)
	}
	for _, s := range w.p.states {
		if err := s.add(b); err != nil {
			return err
		}
	}
	b.Clear()
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
