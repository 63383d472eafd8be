package index

import (
	"math/bits"
	"slices"
	"unsafe"

	"hdqs/snapshot"
)

// Runs are the runs of rows with one code of a space, cut at chunks. To count or to add with them
// takes a few instructions a run, however many rows that has.
type Runs struct {
	first []uint32 // of each chunk its first run, then the number of all runs
	ends  []uint16 // the last row of a run, in its chunk
	codes []uint32
}

// fewRows is the least average length of runs that are worth their memory of six bytes each.
const fewRows = 16

// runBytes is how much memory the runs of a table may take. Rows are sorted by a few columns, and
// those have nearly all long runs.
func runBytes(rows int) int64 { return int64(rows / 2) }

// Runs returns the runs of the space, which are found at the first call. It returns nil if they are
// short, or if those of other spaces take all the memory that there is for runs.
func (s *Space) Runs() *Runs {
	found := s.runs.get(func() *Runs {
		runs := findRuns(s.codes)
		if size := runs.size(); runs.Len() > 0 && s.runsLeft.Add(-size) < 0 {
			s.runsLeft.Add(size)
			return new(Runs)
		}
		return runs
	})
	if found.Len() == 0 {
		return nil
	}
	return found
}

// Len is the number of runs.
func (t *Runs) Len() int { return len(t.codes) }

// Cursor finds the runs of ascending rows.
type Cursor struct {
	*Runs
	code, end uint32 // of the last run that was found
	next      uint32 // the run after it
}

// Seek finds the run of a row: its code, and the row after its last one.
func (c *Cursor) Seek(row uint32) (code, end uint32) {
	if row < c.end {
		return c.code, c.end
	}
	i, k := c.next, row>>chunkBits
	if row > c.end {
		i = max(i, c.first[k])
		ends, low := c.ends[i:c.first[k+1]], uint16(row)
		n := 0
		for n < min(len(ends), 8) && ends[n] < low {
			n++
		}
		if n == 8 {
			more, _ := slices.BinarySearch(ends[n:], low)
			n += more
		}
		i += uint32(n)
	}
	c.code, c.end, c.next = c.codes[i], k<<chunkBits+uint32(c.ends[i])+1, i+1
	return c.code, c.end
}

// fill sets codes to those of ascending rows, without reading any. It returns false if there are no
// runs, or too few rows in each.
func (t *Runs) fill(codes, rows []uint32) bool {
	if t == nil || len(rows) == 0 {
		return false
	}
	first, last := Cursor{Runs: t}, Cursor{Runs: t}
	first.Seek(rows[0])
	last.Seek(rows[len(rows)-1])
	if last.next-first.next > uint32(len(rows)/4) {
		return false
	}
	codes = codes[:len(rows)]
	for i := 0; i < len(rows); {
		code, end := first.Seek(rows[i])
		for ; i < len(rows) && rows[i] < end; i++ {
			codes[i] = code
		}
	}
	return true
}

// findRuns returns the runs of codes, none if they are too short.
func findRuns(codes snapshot.Packed) *Runs {
	rows := codes.Len()
	t := &Runs{first: make([]uint32, 1, chunkCount(rows)+1)}
	for k := range chunkCount(rows) {
		base := uint32(k) << chunkBits
		end := base + uint32(chunkSize(rows, k))
		for at := codes.Change(base+1, end); at < end; at = codes.Change(at+1, end) {
			t.add(at-1-base, codes.At(at-1))
			if len(t.codes) > rows/fewRows {
				return new(Runs)
			}
		}
		t.add(end-1-base, codes.At(end-1))
		t.first = append(t.first, uint32(len(t.codes)))
	}
	t.ends, t.codes = slices.Clip(slices.Clone(t.ends)), slices.Clip(slices.Clone(t.codes))
	return t
}

// add adds a run. Memory doubles: append would copy the runs four times as often.
func (t *Runs) add(end uint32, code uint64) {
	if n := len(t.codes); n == cap(t.codes) {
		t.ends, t.codes = slices.Grow(t.ends, max(n, 64)), slices.Grow(t.codes, max(n, 64))
	}
	t.ends, t.codes = append(t.ends, uint16(end)), append(t.codes, uint32(code))
}

// size is the memory in bytes.
func (t *Runs) size() int64 {
	return int64(unsafe.Sizeof(*t)) + int64(4*cap(t.first)+2*cap(t.ends)+4*cap(t.codes))
}

// countRuns adds up the rows that pass by the code of the run they are in. Where few rows of a
// chunk pass, it reads their codes.
func (t *countScratch) countRuns(codes snapshot.Packed, table *Runs) {
	for k := range t.rows.chunks {
		c := &t.rows.chunks[k]
		if c.rows == 0 {
			continue
		}
		from, to := table.first[k], table.first[k+1]
		if rowCountCost*float64(c.rows) < codeRunCost*float64(to-from) || c.shape == array {
			t.addChunk(codes, k)
			continue
		}
		ends, runCodes := table.ends[from:to], table.codes[from:to]
		switch c.shape {
		case full:
			at := uint32(0)
			for i, end := range ends {
				t.counts[runCodes[i]] += uint32(end) + 1 - at
				at = uint32(end) + 1
			}
		case runs:
			t.countRunsInRuns(ends, runCodes, t.rows.pairs(c))
		case bitmap:
			t.countRunsInWords(ends, runCodes, t.rows.words(c))
		}
	}
}

// countRunsInRuns counts the rows of runs of rows that pass.
func (t *countScratch) countRunsInRuns(ends []uint16, codes []uint32, pairs []uint16) {
	i := 0
	for ; len(pairs) > 1; pairs = pairs[2:] {
		from, last := uint32(pairs[0]), uint32(pairs[0])+uint32(pairs[1])
		if uint32(ends[i]) < from {
			n, _ := slices.BinarySearch(ends[i:], uint16(from))
			i += n
		}
		for ; uint32(ends[i]) < last; i++ {
			t.counts[codes[i]] += uint32(ends[i]) + 1 - from
			from = uint32(ends[i]) + 1
		}
		t.counts[codes[i]] += last + 1 - from
	}
}

// countRunsInWords counts the rows of a bitmap. before is the number of those in the words before
// that of a run's end.
func (t *countScratch) countRunsInWords(ends []uint16, codes []uint32, words *words) {
	counts := t.counts
	before, total, word := uint32(0), uint32(0), 0
	for i, end := range ends {
		for at := int(end >> 6); word < at; word++ {
			before += uint32(bits.OnesCount64(words[word&(chunkWords-1)]))
		}
		sum := before + uint32(bits.OnesCount64(words[end>>6]<<(63-end&63)))
		counts[codes[i]] += sum - total
		total = sum
	}
}
