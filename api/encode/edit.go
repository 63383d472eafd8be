package encode

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// edit is how a text goes on after one that takes the same place: same bytes are alike, then plain bytes stand for old ones.
type edit struct {
	code             editCode // of the plain bytes
	same, plain, old uint16
}

// editCode is the bits of the plain bytes of an edit in a block's code, above five bits that count them, or longEdit.
type editCode uint32

// edits make the text of one fragment from that of another.
type edits struct {
	n     int
	plain int // of all edits
	rest  int // how many bytes are alike behind the last edit
	list  [maxEdits]edit
}

// keptEdits are the few edits that make the text of one fragment from that of another.
type keptEdits struct {
	from, to uint32
	code     uint32 // generation of the code whose bits the edits have
	rest     uint16
	n        uint8
	cheap    bool
	list     [maxKept]edit
}

const (
	// maxEdits is the most edits that are told apart; more are made one. A record has no more fields.
	maxEdits = 16

	// maxKept is the most edits that are kept: periods differ at both ends, most others in one place.
	maxKept = 2

	// maxEdited is the longest text that is compared.
	maxEdited = math.MaxUint16

	// editorBits is the number of edits that are kept, as a logarithm: periods follow on each other in some thousand ways.
	editorBits = 12
)

const (
	editCodeBits = 5
	maxEditCode  = 32 - editCodeBits
	longEdit     = 1<<editCodeBits - 1
)

// editor keeps edits: what follows on what is mostly the same over a body, and between bodies. One pair of fragments takes another's place when
// their hashes are the same.
type editor struct{ kept []keptEdits }

func (e *editor) init() {
	e.kept = make([]keptEdits, 1<<editorBits)
	for i := range e.kept {
		e.kept[i].from = noFragment
	}
}

// at is the place for the edits from one fragment to another.
func (e *editor) at(from, to uint32) *keptEdits {
	return &e.kept[(from*0x9e3779b1^to*0x85ebca6b)>>(32-editorBits)]
}

// keep keeps edits, if they are few.
func (k *keptEdits) keep(from, to uint32, e *edits) {
	if e.n <= maxKept {
		*k = keptEdits{from: from, to: to, rest: uint16(e.rest), n: uint8(e.n), cheap: e.cheap(), list: [maxKept]edit(e.list[:])}
	}
}

// cheap tells whether the edits take no more than a reference to the text.
func (e *edits) cheap() bool { return e.n == 1 && e.plain <= shortMatch || e.n == 2 && e.plain <= 2 }

// compare sets e to the way from old to text. The fields of both start at cuts: each is compared at both ends, so that what is inserted in one does
// not hide that the next is the same.
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

// add adds an edit, or makes the last one longer when too few bytes are alike between them.
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

// set sets an op to what the edit does, behind length bytes of the row before's that are back bytes away, and tells how far away they are then. Field by field, for
// a whole op would be put together elsewhere and read back before its parts are written.
func (x *edit) set(o *op, length, back int) int {
	size := uint32(x.code % (1 << editCodeBits))
	o.bits = uint64(x.code >> editCodeBits)
	o.size = size + (size+1)&(tooMany-longEdit)
	o.length = uint32(length) + uint32(x.same)
	o.distance = uint32(back)
	o.plain = uint32(x.plain)
	return back + int(x.plain) - int(x.old)
}

// encodeEdits sets the bits of edits, which make text, in a code.
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
		x.code = longEdit
		if size <= maxEditCode {
			x.code = editCode(bits<<editCodeBits) | editCode(size)
		}
		at += int(x.plain)
	}
}

// samePrefix is how many bytes a and b start with in common.
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

// sameSuffix is how many bytes a and b end with in common.
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
