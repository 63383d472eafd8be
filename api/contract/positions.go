package contract

import "math/bits"

// maxParams is how many parameters a plan may have.
const maxParams = 256

// positions is a set of positions in Plan.Params, for going through the few parameters of a request
// without looking at all of the plan's.
type positions [maxParams / 64]uint64

func (s *positions) add(position int) { s[position>>6] |= 1 << (position & 63) }

// next returns the least position from one on, -1 if there is none.
func (s *positions) next(from int) int {
	rest := ^uint64(0) << (from & 63)
	for word := from >> 6; word < len(s); word++ {
		if left := s[word] & rest; left != 0 {
			return word<<6 + bits.TrailingZeros64(left)
		}
		rest = ^uint64(0)
	}
	return -1
}
