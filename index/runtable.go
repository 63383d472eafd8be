package index

import (
	"math/bits"
	"slices"

	"hdqs/snapshot"
)

// runTable is the runs of rows with one code, cut at chunks. Counting with it takes a few
// instructions a run, however many rows that has.
type runTable struct {
	first []uint32 // of each chunk its first run, then the number of all runs
	ends  []uint16 // the last row of a run, in its chunk
	codes []uint32
}

// fewRows is the least average length of runs that are worth a table.
const fewRows = 16

// findRuns returns the runs of codes, nil if they are too short. It compares each code with the one
// before, as many at once as a load has.
func findRuns(codes snapshot.Packed, rows int) *runTable {
	t := &runTable{first: make([]uint32, 1, chunkCount(rows)+1)}
	width, each := codes.Width(), chunkRows
	if width > 0 {
		each = snapshot.LoadBits / width
	}
	whole := uint64(1)<<(each*width) - 1
	for k := range chunkCount(rows) {
		base := uint32(k) << chunkBits
		end := base + uint32(chunkSize(rows, k))
		for at := base + 1; at < end; {
			changed := (codes.Load(at) ^ codes.Load(at-1)) & whole
			if changed == 0 {
				at += uint32(each)
				continue
			}
			if at += uint32(bits.TrailingZeros64(changed) / width); at >= end {
				break
			}
			t.add(at-1-base, codes.At(at-1))
			if len(t.codes) > rows/fewRows {
				return nil
			}
			at++
		}
		t.add(end-1-base, codes.At(end-1))
		t.first = append(t.first, uint32(len(t.codes)))
	}
	t.ends, t.codes = slices.Clip(slices.Clone(t.ends)), slices.Clip(slices.Clone(t.codes))
	return t
}

// add adds a run.
func (t *runTable) add(end uint32, code uint64) {
	t.ends, t.codes = append(t.ends, uint16(end)), append(t.codes, uint32(code))
}

// size is the memory in bytes.
func (t *runTable) size() int { return 80 + 4*cap(t.first) + 2*cap(t.ends) + 4*cap(t.codes) }

// countRuns adds up the rows that pass by the code of the run they are in. Where few rows of a
// chunk pass, it reads their codes.
func (t *countScratch) countRuns(codes snapshot.Packed, table *runTable) {
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
