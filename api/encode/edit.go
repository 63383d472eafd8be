package encode

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// edit is a step in turning one text into another: keep some bytes, then replace old bytes by plain
// ones.
type edit struct {
	same, plain, old uint16 // numbers of bytes
}

// edits turn the text of one fragment into that of another.
type edits struct {
	n     int
	plain int // number of plain bytes of all edits
	rest  int // number of bytes that are the same after the last edit
	list  [maxEdits]edit
}

const (
	// maxEdits is the most edits of a text; the last one takes in what would be more. No record has
	// more fields.
	maxEdits = 16

	// maxEdited is the longest text that is compared.
	maxEdited = math.MaxUint16
)

// cheap reports whether the edits take no more bits than a reference to an earlier occurrence.
func (e *edits) cheap() bool { return e.n == 1 && e.plain <= shortMatch || e.n == 2 && e.plain <= 2 }

// compare sets e to the edits from old to text, whose fields start at oldCuts and cuts. Each field
// is compared from both ends, so that an insertion in one does not hide that the next is the same.
func (e *edits) compare(old, text []byte, oldCuts, cuts []uint32) {
	e.n, e.plain = 0, 0
	same, at, oldAt := 0, 0, 0
	for f := 0; f < len(cuts); f++ {
		p := samePrefix(text[at:], old[oldAt:])
		var end, oldEnd int
		for ; f < len(cuts); f++ {
			end, oldEnd = len(text), len(old)
			if f+1 < len(cuts) {
				end, oldEnd = int(cuts[f+1]), int(oldCuts[f+1])
			}
			if end-at > p || end-at != oldEnd-oldAt {
				break
			}
		}
		if f == len(cuts) {
			same += len(text) - at
			break
		}
		p = min(p, end-at, oldEnd-oldAt)
		suffix := sameSuffix(text[at+p:end], old[oldAt+p:oldEnd])
		e.add(same+p, end-at-p-suffix, oldEnd-oldAt-p-suffix)
		same, at, oldAt = suffix, end, oldEnd
	}
	e.rest = same
}

// add adds an edit, or extends the last one if too few bytes between them are the same.
func (e *edits) add(same, plain, old int) {
	if e.n > 0 && (same < shortMatch || e.n == maxEdits) {
		last := &e.list[e.n-1]
		last.plain += uint16(same + plain)
		last.old += uint16(same + old)
		e.plain += same + plain
		return
	}
	e.list[e.n] = edit{same: uint16(same), plain: uint16(plain), old: uint16(old)}
	e.n++
	e.plain += plain
}

func samePrefix(a, b []byte) int {
	b = b[:min(len(a), len(b))]
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func sameSuffix(a, b []byte) int {
	a, b = a[max(0, len(a)-len(b)):], b[max(0, len(b)-len(a)):]
	n := len(a)
	for ; n >= 8; n -= 8 {
		if x := binary.LittleEndian.Uint64(a[n-8:]) ^ binary.LittleEndian.Uint64(b[n-8:]); x != 0 {
			return len(a) - n + bits.LeadingZeros64(x)>>3
		}
	}
	for n > 0 && a[n-1] == b[n-1] {
		n--
	}
	return len(a) - n
}
