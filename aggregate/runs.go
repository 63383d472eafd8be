package aggregate

import "sort"

// minRun is the number of rows that a code must have in a row, on average, for runs to be worth
// their memory of four bytes each.
const minRun = 32

// runs lists the first row of each run of equal codes, and last the number of rows. It is nil if
// runs are short. Rows are sorted by some of their columns, which have long ones.
func (s *space) runs() []uint32 {
	s.runsOnce.Do(func() {
		rows := s.codes.Len()
		if rows == 0 {
			return
		}
		most := rows/minRun + 1
		starts := make([]uint32, 0, min(most, s.size)+1)
		if s.starts != nil {
			for code := range uint32(s.size) {
				if from := s.starts.Start(code); from < s.starts.Start(code+1) {
					starts = append(starts, from)
				}
			}
		} else {
			last := ^uint32(0)
			var codes [blockRows]uint32
			for from := 0; from < rows && len(starts) <= most; from += blockRows {
				n := min(rows-from, blockRows)
				s.codes.Unpack(codes[:n], uint32(from))
				for i, code := range codes[:n] {
					if code != last {
						starts = append(starts, uint32(from+i))
						last = code
					}
				}
			}
		}
		if len(starts) <= most {
			s.firstRows = append(starts, uint32(rows))
		}
	})
	return s.firstRows
}

// cursor finds the runs of ascending rows.
type cursor struct {
	runs []uint32
	at   int // the run of the last row
}

// end is where the run of a row ends.
func (c *cursor) end(row uint32) uint32 {
	runs := c.runs
	for i := range 8 {
		if c.at+i+1 < len(runs) && runs[c.at+i+1] > row {
			c.at += i
			return runs[c.at+1]
		}
	}
	rest := runs[c.at+1:]
	c.at += sort.Search(len(rest)-1, func(i int) bool { return rest[i] > row })
	return runs[c.at+1]
}
