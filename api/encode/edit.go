package encode

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// edit is a step in turning one text into another: keep some bytes, then replace old bytes by plain
// ones.
type edit struct {
	code             editCode // of the plain bytes
	same, plain, old uint16   // numbers of bytes
}

// editCode holds the plain bytes of an edit in the code of a block, above six bits with their
// number of bits, or tooMany.
type editCode uint64

// edits turn the text of one fragment into that of another.
type edits struct {
	n     int
	plain int // number of plain bytes of all edits
	rest  int // number of bytes that are the same after the last edit
	list  [maxEdits]edit
}

// keptEdits is a cache entry: few edits that turn the text of fragment from into that of fragment
// to.
type keptEdits struct {
	from, to uint32
	code     uint32 // generation of the code in which the edits have their bits
	rest     uint16
	n        uint8
	cheap    uint8 // 1 if the edits are cheap, else 0
	list     [maxKept]edit
}

const (
	// maxEdits is the most edits of a text; the last one takes in what would be more. No record has
	// more fields.
	maxEdits = 16

	// maxKept is the most edits that are cached: periods differ at both ends, most other fragments
	// in one place.
	maxKept = 2

	// maxEdited is the longest text that is compared.
	maxEdited = math.MaxUint16

	// editorBits is the logarithm of the cache size: there are some thousand pairs of successive
	// periods.
	editorBits = 12
)

const (
	editCodeBits = 6
	maxEditCode  = maxBits
)

// editor caches the edits between pairs of fragments: mostly the same pairs follow each other
// throughout a body, and in other bodies. A pair evicts another one with the same hash.
type editor struct{ kept []keptEdits }

func (e *editor) init() {
	e.kept = make([]keptEdits, 1<<editorBits)
	for i := range e.kept {
		e.kept[i].from = noFragment
	}
}

// at returns the cache entry for the edits from one fragment to another.
func (e *editor) at(from, to uint32) *keptEdits {
	return &e.kept[(from*0x9e3779b1^to*0x85ebca6b)>>(32-editorBits)]
}

// keep caches edits if they are few, otherwise that they are not, as 0 edits.
func (k *keptEdits) keep(from, to uint32, e *edits) {
	if e.n > maxKept {
		*k = keptEdits{from: from, to: to}
		return
	}
	*k = keptEdits{
		from: from, to: to, rest: uint16(e.rest), n: uint8(e.n), cheap: bit(e.cheap()),
		list: [maxKept]edit(e.list[:]),
	}
}

// cheap reports whether the edits take no more bits than a reference to an earlier occurrence.
func (e *edits) cheap() bool { return e.n == 1 && e.plain <= shortMatch || e.n == 2 && e.plain <= 2 }

// compare sets e to the edits from old to text, whose fields start at oldCuts and cuts. Each field
// is compared from both ends, so that an insertion in one does not hide that the next is the same.
func (e *edits) compare(old, text []byte, oldCuts, cuts []uint32) {
	e.n, e.plain, e.list[1] = 0, 0, edit{}
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

// set sets an op to an edit that follows length matching bytes at distance back, and returns the
// distance after it. It sets each field on its own: the compiler would build a composite literal on
// the stack and read it back before its parts are written.
func (x *edit) set(o *op, length, back int) int {
	x.put(o, length+int(x.same), back)
	return back + int(x.plain) - int(x.old)
}

// put sets an op to a match and the edit's literals.
func (x *edit) put(o *op, length, distance int) {
	o.bits = uint64(x.code >> editCodeBits)
	o.size = uint32(x.code % (1 << editCodeBits))
	o.length = uint32(length)
	o.distance = uint32(distance)
	o.plain = uint32(x.plain)
}

// encodeEdits sets the bits of the plain bytes of edits, which produce text, in a code.
func encodeEdits(list []edit, text []byte, t *codeTable) {
	at := 0
	for i := range list {
		x := &list[i]
		at += int(x.same)
		bits, size := uint64(0), uint(0)
		for _, l := range text[at : at+int(x.plain)] {
			if size > maxEditCode {
				break
			}
			bits |= t.litLen[l].bits() << (size & 63)
			size += t.litLen[l].len()
		}
		x.code = tooMany
		if size <= maxEditCode {
			x.code = editCode(bits<<editCodeBits) | editCode(size)
		}
		at += int(x.plain)
	}
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

// samePrefixShort returns the length of the common prefix of two texts with Slack readable bytes
// after them.
func samePrefixShort(a, b []byte) int {
	most := min(len(a), len(b))
	for n := 0; n < most; n += 8 {
		x := binary.LittleEndian.Uint64(a[n:n+8:n+8]) ^ binary.LittleEndian.Uint64(b[n:n+8:n+8])
		if x != 0 {
			return min(n+bits.TrailingZeros64(x)>>3, most)
		}
	}
	return most
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
