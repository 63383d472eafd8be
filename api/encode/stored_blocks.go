package encode

import "hdqs/internal/cache"

type storedBlocks struct{ large, small sizedBlocks }

func newStoredBlocks(
	in *cache.Clock, rows Rows, block func(rows Rows, from, to uint32) *storedBlock,
) storedBlocks {
	return storedBlocks{
		large: sizedBlocks{cache: in, rows: rows, encode: block, size: storedRows},
		small: sizedBlocks{cache: in, rows: rows, encode: block, size: smallRows},
	}
}

// A request makes at most this many blocks, in less than a millisecond. After ten requests, all
// large blocks of a page of 10,000 rows exist.
const (
	largeBudget = 8
	smallBudget = 6
)

// mostlyStored makes missing blocks within the budget of a request, small ones only when all large
// ones exist, and reports whether more than half of the rows are in stored blocks.
func (s *storedBlocks) mostlyStored(runs []Run, least uint32) bool {
	rows, stored := uint32(0), uint32(0)
	large, small := largeBudget, smallBudget
	for i, run := range runs {
		rows += run.To - run.From
		p, ok := split(run, i == len(runs)-1, least)
		if !ok {
			continue
		}
		s.large.open()
		s.small.open()
		for at := p.large; at < p.largeEnd; at += storedRows {
			if s.large.at(at/storedRows, &large) != nil {
				stored += storedRows
			} else {
				small = 0
			}
		}
		for at := p.small; at < p.end; at += smallRows {
			if at == p.large {
				at = p.largeEnd
			}
			if at < p.end && s.small.at(at/smallRows, &small) != nil {
				stored += smallRows
			}
		}
	}
	return stored > rows/2
}

// walk calls do for each existing block of a run, with the rows before it that are in no block. It
// returns the rows after the last block. ok is false if the run is too short for stored blocks.
func (s *storedBlocks) walk(run Run, last bool, least uint32, do func(loose Run, b *storedBlock)) (rest Run, ok bool) {
	p, ok := split(run, last, least)
	if !ok {
		return run, false
	}
	loose, budget := run.From, 0
	for at := p.small; at < p.end; {
		blocks := &s.small
		if p.large <= at && at < p.largeEnd {
			blocks = &s.large
		}
		if b := blocks.at(at/blocks.size, &budget); b != nil {
			do(Run{loose, at}, b)
			loose = at + blocks.size
		}
		at += blocks.size
	}
	return Run{loose, run.To}, true
}

// parts divides a run: small blocks from small on, large ones from large on, small ones again from
// largeEnd to end.
type parts struct{ small, large, largeEnd, end uint32 }

// split returns the blocks within a run. The rows that a block refers to must precede it, and the
// last row of a body must follow it, as that row is written differently. ok is false if there are
// fewer than least large blocks, which would not make up for the cost of switching between blocks
// and other rows.
func split(run Run, last bool, least uint32) (p parts, ok bool) {
	if run.To-run.From < least*storedRows {
		return parts{}, false
	}
	start, end := run.From, run.To
	if start > 0 {
		start += reach
	}
	if last {
		end--
	}
	p.small = (start + smallRows - 1) / smallRows * smallRows
	p.large = (start + storedRows - 1) / storedRows * storedRows
	p.largeEnd = end / storedRows * storedRows
	p.end = end / smallRows * smallRows
	return p, p.largeEnd >= p.large+least*storedRows
}
