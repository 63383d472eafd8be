package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// ErrNoDelta marks segments between which there is no delta, or none that is smaller than the
// second one.
var ErrNoDelta = errors.New("snapshot: no delta")

// WriteDelta writes the delta that makes segment b from segment a.
func WriteDelta(w io.Writer, a, b *Segment) error {
	content, err := deltaContent(a.data, b.data)
	if err != nil {
		return err
	}
	if len(content) >= len(b.data) { // as readers require
		return ErrNoDelta
	}
	z, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	head := binary.LittleEndian.AppendUint32([]byte(deltaMagic), deltaVersion)
	_, err = w.Write(z.EncodeAll(content, head))
	return err
}

func deltaContent(a, b []byte) (content []byte, err error) {
	m := &making{seed: maphash.MakeSeed()}
	if m.a, err = readRaw(a); err != nil {
		return nil, err
	}
	if m.b, err = readRaw(b); err != nil {
		return nil, err
	}
	footer, _, err := readFooter(b)
	if err != nil {
		return nil, err
	}
	m.list(footer)
	tuplesA, rowsA, err := m.hashes(m.a, m.b)
	if err != nil {
		return nil, err
	}
	tuplesB, rowsB, err := m.hashes(m.b, m.a)
	if err != nil {
		return nil, err
	}
	m.rows = align(rowsA, rowsB)
	m.list(m.rows)
	for i := range m.b.pieces {
		p := &m.b.pieces[i]
		c := change{a: m.a.like(m.b, p), b: p, positions: m.rows}
		switch {
		case p.kind == 0:
			c.entries = align(tuplesA[p.name], tuplesB[p.name])
			m.list(c.entries)
			m.tuples = append(m.tuples, c.entries)
		case p.group > 0:
			c.positions = m.tuples[p.group-1]
		}
		for _, which := range order {
			if p.blocks[which] != nil {
				m.part(&c, which)
			}
		}
	}
	return m.content, nil
}

// making describes b as made from a.
type making struct {
	a, b    *raw
	seed    maphash.Seed
	sorter  postingsMaker
	content []byte
	rows    []byte   // alignment
	tuples  [][]byte // alignment of each group
}

func (m *making) list(b []byte) {
	m.content = append(binary.AppendUvarint(m.content, uint64(len(b))), b...)
}

func (m *making) form(form uint64) { m.content = binary.AppendUvarint(m.content, form) }

// part adds a part in its shortest form.
func (m *making) part(c *change, which int) {
	a, b := c.a.blocks[which], c.b.blocks[which]
	payload := m.b.bytes(b)
	begin := len(m.content)
	switch {
	case a != nil && bytes.Equal(m.a.bytes(a), payload):
		m.form(formSame)
		return
	case which == partPostings:
		made, err := postingsOf(&m.sorter, nil, c.b, m.b.bytes(c.b.blocks[partNumbers]))
		if err == nil && bytes.Equal(made, payload) {
			m.form(formPostings)
			return
		}
	case a == nil || a.encoding != b.encoding:
	case which == partNumbers && m.numbers(c), which != partNumbers && m.entries(c, which):
		if len(m.content)-begin < len(payload) {
			return
		}
	}
	m.content = m.content[:begin]
	if which == partDictionary {
		c.entries = nil
	}
	m.form(formBytes)
	m.content = append(m.content, payload...)
}

// numbers adds how numbers differ from their prediction.
func (m *making) numbers(c *change) bool {
	a, b := m.a.bytes(c.a.blocks[partNumbers]), m.b.bytes(c.b.blocks[partNumbers])
	from, head, err := packedOf(c.a.blocks[partNumbers], a, c.a.n)
	if err != nil {
		return false
	}
	to, _, err := packedOf(c.b.blocks[partNumbers], b, c.b.n)
	if err != nil {
		return false
	}
	translate, err := c.translate(a[:head], b[:head])
	if err != nil {
		return false
	}
	var e exceptions
	var values []byte
	var space [256]uint64
	guess := prediction{from: from, alignment: c.positions, translate: translate}
	err = guess.each(c.b.n, func(at int, some []uint64) error {
		right := space[:len(some)]
		to.Unpack64(right, uint32(at))
		for k, v := range right {
			if some[k] != v {
				e.add(at + k)
				values = binary.AppendUvarint(values, zigzag(int64(v-some[k])))
			}
		}
		copy(some, right)
		if len(values) > len(b) {
			return ErrNoDelta
		}
		return nil
	})
	if err != nil {
		return false
	}
	m.form(formNumbers)
	m.content = append(m.content, b[:head]...)
	m.exceptions(&e)
	m.content = append(m.content, values...)
	return true
}

// exceptions are positions, as distances.
type exceptions struct {
	gaps []byte
	n    uint64
	next int
}

func (e *exceptions) add(at int) {
	e.gaps = binary.AppendUvarint(e.gaps, uint64(at-e.next))
	e.n++
	e.next = at + 1
}

func (m *making) exceptions(e *exceptions) {
	m.content = binary.AppendUvarint(m.content, e.n)
	m.list(e.gaps)
}

// entries adds how a dictionary, or exact texts, differ.
func (m *making) entries(c *change, which int) bool {
	a, b := c.a.blocks[which], c.b.blocks[which]
	from, hashesA, errA := m.entryHashes(m.a, a)
	to, hashesB, errB := m.entryHashes(m.b, b)
	if errA != nil || errB != nil {
		return false
	}
	alignment := align(hashesA, hashesB)
	var e exceptions
	var lengths, added, space []byte
	err := eachRun(alignment, from.n, to.n, func(first, at, count int) error {
		for i := at; i < at+count; i++ {
			entry := to.appendEntry(space[:0], i)
			if n := len(entry); first < 0 || !bytes.Equal(from.appendEntry(entry, first+i-at)[n:], entry) {
				e.add(i)
				lengths = binary.AppendUvarint(lengths, uint64(n))
				added = append(added, entry...)
			}
			space = entry
		}
		return nil
	})
	if err != nil {
		return false
	}
	if which == partDictionary {
		c.entries = alignment
	}
	m.form(formEntries)
	m.list(alignment)
	m.exceptions(&e)
	if to.size == 0 {
		m.list(lengths)
	}
	m.content = append(m.content, added...)
	return true
}

func (m *making) entryHashes(r *raw, b *block) (entries, []uint64, error) {
	e, err := openEntries(b, r.bytes(b))
	if err != nil {
		return e, nil, err
	}
	hashes := make([]uint64, e.n)
	var space []byte
	for i := range hashes {
		space = e.appendEntry(space[:0], i)
		hashes[i] = maphash.Bytes(m.seed, space)
	}
	return e, hashes, nil
}

// nullHash is the hash of null.
const nullHash = 1

// hashes are hashes of the values of all rows, and of all tuples of each group, in the pieces that
// another segment has too.
func (m *making) hashes(r, other *raw) (tuples map[string][]uint64, rows []uint64, err error) {
	tuples = map[string][]uint64{}
	for i := range r.groups {
		tuples[r.groups[i].name] = make([]uint64, r.groups[i].tuples)
	}
	rows = make([]uint64, r.rows)
	add := func(p *piece, to []uint64) error {
		if other.like(r, p).blocks[partNumbers] == nil {
			return nil
		}
		return m.addHashes(r, p, tuples[p.name], to)
	}
	for i := range r.pieces {
		if p := &r.pieces[i]; p.group > 0 {
			err = errors.Join(err, add(p, tuples[r.groups[p.group-1].name]))
		}
	}
	for i := range r.pieces {
		if p := &r.pieces[i]; p.group == 0 {
			err = errors.Join(err, add(p, rows))
		}
	}
	return tuples, rows, err
}

// addHashes mixes the hashes of a piece's values into those of its positions. tuples are those of
// the tuples of a group.
func (m *making) addHashes(r *raw, p *piece, tuples, to []uint64) error {
	b := p.blocks[partNumbers]
	data := r.bytes(b)
	head := 0
	if b.encoding == encScaled {
		head = scaledHead
	}
	packed, err := openPacked(b, data[head:], p.n)
	if err != nil {
		return err
	}
	hashes := tuples
	if p.kind != 0 && p.coded() {
		if _, hashes, err = m.entryHashes(r, p.blocks[partDictionary]); err != nil {
			return err
		}
		hashes = append(hashes, nullHash)
	}
	numbers := numbersOf(p, data[:head])
	var space [256]uint64
	for at := 0; at < p.n; at += len(space) {
		some := space[:min(p.n-at, len(space))]
		packed.Unpack64(some, uint32(at))
		for k, v := range some {
			switch {
			case p.coded():
				v = hashes[v]
			case numbers.IsNull(v):
				v = nullHash
			default:
				d := numbers.Dec(v)
				v = uint64(d.Mantissa)<<8 ^ uint64(d.Scale)
			}
			to[at+k] = (bits.RotateLeft64(to[at+k], 23) ^ v) * 0x9e3779b97f4a7c15
		}
	}
	return nil
}

// align finds where the positions of b come from, by the hashes of what is there: from the same
// in a, nearest after the last one; else from the next position of a, if that is nowhere in b: it
// may have changed.
func align(a, b []uint64) []byte {
	inA, inB := newFinder(a), newFinder(b)
	var runs runWriter
	next := 0
	for _, hash := range b {
		from := -1
		if next < len(a) && a[next] == hash {
			from = next
		} else if from = inA.find(hash, next); from < 0 && next < len(a) && inB.find(a[next], 0) < 0 {
			from = next
		}
		runs.add(from)
		if from >= 0 {
			next = from + 1
		}
	}
	return runs.end()
}

// runWriter writes an alignment.
type runWriter struct {
	out         []byte
	from, count int
	expected    int
}

func (w *runWriter) add(from int) {
	if w.count > 0 && (from < 0 && w.from < 0 || w.from >= 0 && from == w.from+w.count) {
		w.count++
		return
	}
	w.end()
	w.from, w.count = from, 1
}

func (w *runWriter) end() []byte {
	switch {
	case w.count == 0:
	case w.from < 0:
		w.out = binary.AppendUvarint(w.out, uint64(w.count)<<1|1)
	default:
		w.out = binary.AppendUvarint(w.out, uint64(w.count)<<1)
		w.out = binary.AppendUvarint(w.out, zigzag(int64(w.from-w.expected)))
		w.expected = w.from + w.count
	}
	return w.out
}

// finder finds positions by their hashes. It is made at its first use.
type finder struct {
	hashes      []uint64
	first, next []uint32 // position + 1, by the highest bits of hashes; the next such position
	shift       int
}

// maxSteps bounds the search among positions whose hashes begin alike: they may all be equal.
const maxSteps = 64

func newFinder(hashes []uint64) *finder { return &finder{hashes: hashes} }

func (f *finder) prepare() {
	size := bits.Len(uint(len(f.hashes)))
	f.shift = 64 - size
	f.first, f.next = make([]uint32, 1<<size), make([]uint32, len(f.hashes))
	for i := len(f.hashes) - 1; i >= 0; i-- {
		slot := &f.first[f.slot(f.hashes[i])]
		f.next[i], *slot = *slot, uint32(i+1)
	}
}

func (f *finder) slot(hash uint64) uint64 { return hash >> (f.shift & 63) }

// find returns the first position of a hash from a position on, else one before, else a negative
// number.
func (f *finder) find(hash uint64, from int) int {
	if len(f.hashes) == 0 {
		return -1
	}
	if f.first == nil {
		f.prepare()
	}
	found := -1
	for at, steps := f.first[f.slot(hash)], 0; at > 0 && steps < maxSteps; at, steps = f.next[at-1], steps+1 {
		if f.hashes[at-1] != hash {
			continue
		}
		if found = int(at - 1); found >= from {
			break
		}
	}
	return found
}
