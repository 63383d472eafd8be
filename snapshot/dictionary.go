package snapshot

import (
	"cmp"
	"encoding/binary"
	"math/big"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// texts is a list of texts read in place: offsets, then the bytes they point into.
type texts struct {
	n       int
	offsets []byte
	bytes   []byte
}

func (t *texts) at(i uint32) string {
	from := binary.LittleEndian.Uint32(t.offsets[4*uint64(i):])
	to := binary.LittleEndian.Uint32(t.offsets[4*uint64(i)+4:])
	b := t.bytes[from:to]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func openTexts(b *block, data []byte) (t texts, err error) {
	head := 4 * (uint64(b.count) + 1)
	if uint64(len(data)) < head {
		return t, corruptf("%d texts need %d bytes of offsets, the block has %d", b.count, head, len(data))
	}
	t = texts{n: int(b.count), offsets: data[:head:head], bytes: data[head:]}
	last := uint32(0)
	for i := 0; i <= t.n; i++ {
		at := binary.LittleEndian.Uint32(t.offsets[4*uint64(i):])
		if at < last || uint64(at) > uint64(len(t.bytes)) || i == 0 && at != 0 {
			return texts{}, corruptf("offset %d of texts is %d, the one before %d, the end %d", i, at, last,
				len(t.bytes))
		}
		last = at
	}
	if int(last) != len(t.bytes) {
		return texts{}, corruptf("texts end at %d, their bytes at %d", last, len(t.bytes))
	}
	if t.valid() {
		return t, nil
	}
	for i := range uint32(t.n) {
		if !utf8.ValidString(t.at(i)) {
			return texts{}, corruptf("text %d is not UTF-8: %.40q", i, t.at(i))
		}
	}
	return t, nil
}

// valid reports whether every text is UTF-8: together they are, and none begins within a character.
func (t *texts) valid() bool {
	if !utf8.Valid(t.bytes) {
		return false
	}
	for i := range t.n {
		at := int(binary.LittleEndian.Uint32(t.offsets[4*uint64(i):]))
		if at < len(t.bytes) && !utf8.RuneStart(t.bytes[at]) {
			return false
		}
	}
	return true
}

// ascending reports whether every text is above the one before, by bytes; if not, at is the first
// that is not.
func (t *texts) ascending() (at uint32, ok bool) {
	before := ""
	for i := range uint32(t.n) {
		this := t.at(i)
		if i > 0 && before >= this {
			return i, false
		}
		before = this
	}
	return 0, true
}

// distinct is ascending for texts in any order.
func (t *texts) distinct() (at uint32, ok bool) {
	seen := make(map[string]bool, t.n)
	for i := range uint32(t.n) {
		if seen[t.at(i)] {
			return i, false
		}
		seen[t.at(i)] = true
	}
	return 0, true
}

// dictionary is the distinct values of a coded column by code: texts, or numbers, with scales if
// they are decimals.
type dictionary struct {
	n       int
	texts   texts
	numbers []byte // i64
	scales  []byte
}

func (d *dictionary) len() int { return d.n }

func (d *dictionary) text(code uint32) string { return d.texts.at(code) }

func (d *dictionary) int(code uint32) int64 {
	return int64(binary.LittleEndian.Uint64(d.numbers[8*uint64(code):]))
}

func (d *dictionary) dec(code uint32) Dec {
	return Dec{Mantissa: d.int(code), Scale: d.scales[code]}
}

func openTextDictionary(b *block, data []byte, kind Kind) (d dictionary, err error) {
	if d.texts, err = openTexts(b, data); err != nil {
		return dictionary{}, err
	}
	d.n = d.texts.n
	at, ok := uint32(0), true
	if kind == Enum {
		at, ok = d.texts.distinct()
	} else {
		at, ok = d.texts.ascending()
	}
	if !ok {
		return dictionary{}, corruptf("text %d of %d is out of order or a duplicate: %.40q", at, d.n, d.texts.at(at))
	}
	return d, nil
}

func openIntDictionary(b *block, data []byte, kind Kind) (dictionary, error) {
	if uint64(len(data)) != 8*uint64(b.count) {
		return dictionary{}, corruptf("%d ints take %d bytes, the block has %d", b.count, 8*uint64(b.count), len(data))
	}
	d := dictionary{n: int(b.count), numbers: data}
	for i := range uint32(d.n) {
		v := d.int(i)
		switch {
		case v == NullInt:
			return dictionary{}, corruptf("int %d of %d is the value reserved for null", i, d.n)
		case kind == Bool && v != 0 && v != 1:
			return dictionary{}, corruptf("bool %d of %d is %d", i, d.n, v)
		case i > 0 && d.int(i-1) >= v:
			return dictionary{}, corruptf("int %d of %d is %d after %d", i, d.n, v, d.int(i-1))
		}
	}
	return d, nil
}

func openDecDictionary(b *block, data []byte, exact *exactTexts) (dictionary, error) {
	if uint64(len(data)) != 9*uint64(b.count) {
		return dictionary{}, corruptf("%d decimals take %d bytes, the block has %d", b.count, 9*uint64(b.count),
			len(data))
	}
	split := 8 * int(b.count)
	d := dictionary{n: int(b.count), numbers: data[:split:split], scales: data[split:]}
	for i := range uint32(d.n) {
		v := d.dec(i)
		if err := exact.check(v); err != nil {
			return dictionary{}, corruptf("decimal %d of %d: %v", i, d.n, err)
		}
		if i > 0 && exact.compare(d.dec(i-1), v) >= 0 {
			return dictionary{}, corruptf("decimal %d of %d is %s after %s", i, d.n, exact.string(v),
				exact.string(d.dec(i-1)))
		}
	}
	return d, nil
}

// exactTexts are the decimals of a column that do not fit a Dec.
type exactTexts struct{ texts }

func openExactTexts(b *block, data []byte) (e exactTexts, err error) {
	if e.texts, err = openTexts(b, data); err != nil {
		return e, err
	}
	for i := range uint32(e.n) {
		if err := checkExact(e.at(i)); err != nil {
			return exactTexts{}, corruptf("exact text %d of %d: %v", i, e.n, err)
		}
		if i > 0 && ratOf(e.at(i-1)).Cmp(ratOf(e.at(i))) >= 0 {
			return exactTexts{}, corruptf("exact text %d of %d is %.40q after %.40q", i, e.n, e.at(i), e.at(i-1))
		}
	}
	return e, nil
}

// checkExact accepts only the plain form of a decimal that does not fit a Dec.
func checkExact(text string) error {
	if _, fits := ParseDec(text); fits {
		return corruptf("%.40q needs no exact text", text)
	}
	if plain, ok := PlainDecimal(text); !ok || plain != text {
		return corruptf("%.40q is not a decimal in plain digits", text)
	}
	return nil
}

// check returns an error if d is not a value that a column with these exact texts can have.
func (e *exactTexts) check(d Dec) error {
	switch {
	case d.Scale == DecText && (d.Mantissa < 0 || d.Mantissa >= int64(e.n)):
		return corruptf("exact text %d of %d", d.Mantissa, e.n)
	case d.Scale == DecText, d.canonical():
		return nil
	}
	return corruptf("mantissa %d with scale %d", d.Mantissa, d.Scale)
}

func (e *exactTexts) string(d Dec) string {
	if d.Scale == DecText {
		return e.at(uint32(d.Mantissa))
	}
	return d.String()
}

// compare orders two values that check accepts.
func (e *exactTexts) compare(a, b Dec) int { return compareDecs(a, b, e.rat) }

// compareDecs orders two values of a column whose exact texts ascend by value.
func compareDecs(a, b Dec, rat func(Dec) *big.Rat) int {
	switch {
	case a.Scale == DecText && b.Scale == DecText:
		return cmp.Compare(a.Mantissa, b.Mantissa)
	case a.Scale == DecText || b.Scale == DecText:
		return rat(a).Cmp(rat(b))
	}
	return a.Compare(b)
}

func (e *exactTexts) rat(d Dec) *big.Rat {
	if d.Scale == DecText {
		return ratOf(e.at(uint32(d.Mantissa)))
	}
	return d.Rat()
}

// ratOf is the value of a text that checkExact accepts.
func ratOf(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(strings.Clone(text))
	if !ok {
		panic("snapshot: exact text is not a number: " + text)
	}
	return r
}
