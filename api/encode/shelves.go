package encode

// shelves are the stored blocks of one table in one coding.
type shelves struct{ large, small shelf }

func newShelves(store *Store, rows Rows, block func(rows Rows, from, to uint32) *storedBlock) shelves {
	return shelves{
		large: shelf{store: store, rows: rows, make: block, size: storedRows},
		small: shelf{store: store, rows: rows, make: block, size: smallRows},
	}
}

// A body makes at most so many blocks: under a millisecond on top of a request, and a page of 10,000 rows is stored after ten.
const (
	largeFills = 8
	smallFills = 6
)

// mostlyStored makes what blocks of the runs a body may make, and tells whether more than half of the rows are stored. Small blocks are made when
// the large ones are there.
func (s *shelves) mostlyStored(runs []Run, least uint32) bool {
	rows, stored := uint32(0), uint32(0)
	large, small := largeFills, smallFills
	for i, run := range runs {
		rows += run.To - run.From
		p, ok := split(run, i == len(runs)-1, least)
		if !ok {
			continue
		}
		s.large.open()
		s.small.open()
		for at := p.large; at < p.behind; at += storedRows {
			if s.large.at(at/storedRows, &large) != nil {
				stored += storedRows
			} else {
				small = 0
			}
		}
		for at := p.small; at < p.end; at += smallRows {
			if at == p.large {
				at = p.behind
			}
			if at < p.end && s.small.at(at/smallRows, &small) != nil {
				stored += smallRows
			}
		}
	}
	return stored > rows/2
}

// walk goes over a run: it calls do for each block that is stored, with the rows in front of it that are not, and tells the rows behind the
// last. ok is false when the run is not for stored blocks.
func (s *shelves) walk(run Run, last bool, least uint32, do func(loose Run, b *storedBlock)) (rest Run, ok bool) {
	p, ok := split(run, last, least)
	if !ok {
		return run, false
	}
	loose, none := run.From, 0
	for at := p.small; at < p.end; {
		shelf := &s.small
		if p.large <= at && at < p.behind {
			shelf = &s.large
		}
		if b := shelf.at(at/shelf.size, &none); b != nil {
			do(Run{loose, at}, b)
			loose = at + shelf.size
		}
		at += shelf.size
	}
	return Run{loose, run.To}, true
}

// parts are where the blocks of a run start: small ones, large ones, small ones behind them, and the rows behind all.
type parts struct{ small, large, behind, end uint32 }

// split finds the blocks within a run: those that have in front of them the rows they refer to, and, in the last run of a body, the last row
// behind them, for that is written differently. With fewer than least large ones there are none: changing between stored and other rows has
// its price.
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
	p.behind = end / storedRows * storedRows
	p.end = end / smallRows * smallRows
	return p, p.behind >= p.large+least*storedRows
}
