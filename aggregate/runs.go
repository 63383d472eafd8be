package aggregate

import (
	"slices"
	"sort"
)

// minRun is the number of rows that a code must have in a row, on average, for runs to be worth
// their memory of eight bytes each.
const minRun = 32

// runs are the runs of equal codes of a space.
type runs struct {
	first []uint32 // the first row of each, and last the number of rows
	codes []uint32
}

// runBytes is how much memory the runs of a table may take. Rows are sorted by a few columns, and
// those have nearly all long runs.
func runBytes(rows int) int { return rows / 2 }

// runs returns the runs of a space, nil if they are short, or if those of other spaces take all the
// memory that there is for runs.
func (s *space) runs() *runs {
	s.runsOnce.Do(func() {
		rows := s.codes.Len()
		if rows == 0 {
			return
		}
		most := rows/minRun + 1
		all := &runs{}
		last := ^uint32(0)
		var codes [blockRows]uint32
		for from := 0; from < rows; from += blockRows {
			n := min(rows-from, blockRows)
			s.codes.Unpack(codes[:n], uint32(from))
			for i, code := range codes[:n] {
				if code != last {
					all.first = append(all.first, uint32(from+i))
					all.codes = append(all.codes, code)
					last = code
				}
			}
			if len(all.first) > most {
				return
			}
		}
		all.first = slices.Clip(append(all.first, uint32(rows)))
		all.codes = slices.Clip(all.codes)
		if size := int64(4 * (len(all.first) + len(all.codes))); s.runsLeft.Add(-size) < 0 {
			s.runsLeft.Add(size)
			return
		}
		s.long = all
	})
	return s.long
}

// fill sets codes to those of ascending rows. It returns false if there are no runs, or too few
// rows in each.
func (r *runs) fill(codes, at []uint32) bool {
	if r == nil {
		return false
	}
	ends := r.first[1:]
	last := at[len(at)-1]
	k := sort.Search(len(ends), func(i int) bool { return ends[i] > at[0] })
	if most := k + len(at)/4; most < len(ends) && ends[most] <= last {
		return false
	}
	codes = codes[:len(at)]
	for i := 0; i < len(at); k++ {
		end, code := ends[k], r.codes[k]
		for ; i < len(at) && at[i] < end; i++ {
			codes[i] = code
		}
	}
	return true
}

// cursor finds the runs of ascending rows.
type cursor struct {
	*runs
	at int // the run of the last row
}

// seek finds the run of a row: its code, and where it ends.
func (c *cursor) seek(row uint32) (code, end uint32) {
	first := c.first
	for i := range 8 {
		if c.at+i+1 < len(first) && first[c.at+i+1] > row {
			c.at += i
			return c.codes[c.at], first[c.at+1]
		}
	}
	rest := first[c.at+1:]
	c.at += sort.Search(len(rest)-1, func(i int) bool { return rest[i] > row })
	return c.codes[c.at], first[c.at+1]
}
