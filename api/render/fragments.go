package render

import (
	"sync"
	"sync/atomic"
)

// fragments are the ready-made texts of one piece, one a code: of a tuple of a group, or of a value of a coded column, with the key
// names and separators that stand around the values. They are built when first used, 128 at a time: a snapshot opens without paying
// for them, and tuples nobody asks for take no memory.
type fragments struct {
	n      int
	fields int
	chunks []atomic.Pointer[chunk]

	// alike is set where many codes may have the same text, so that the encoder takes them for one.
	alike *alike

	// appendFragment appends the text of a code and the positions, counted from its start, at which each of its fields starts.
	appendFragment func(dst []byte, cuts []uint32, code uint32) ([]byte, []uint32)
}

const (
	chunkBits = 7
	chunkSize = 1 << chunkBits
)

// chunk is the text of up to 128 codes.
type chunk struct {
	starts [chunkSize + 1]uint32
	text   []byte   // with overshoot bytes of memory behind it
	cuts   []uint32 // fields of each code, one code after the other
	first  []uint32 // of each code, the first one seen that has its text; none unless fragments are alike
}

// alike finds the codes that have the same text.
type alike struct {
	mu    sync.Mutex
	first map[string]uint32
}

// maxAlike bounds the texts that are told apart; codes of others stand for themselves.
const maxAlike = 1 << 12

// of is the first code that came with a text.
func (a *alike) of(text []byte, code uint32) uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok := a.first[string(text)]; ok {
		return first
	}
	if len(a.first) < maxAlike {
		a.first[string(text)] = code
	}
	return code
}

func newFragments(n, fields int, appendFragment func(dst []byte, cuts []uint32, code uint32) ([]byte, []uint32)) *fragments {
	return &fragments{
		n: n, fields: fields, appendFragment: appendFragment,
		chunks: make([]atomic.Pointer[chunk], (n+chunkSize-1)>>chunkBits),
	}
}

// at is the text of a code. It stays as it is for ever.
func (f *fragments) at(code uint32) []byte {
	c := f.chunks[code>>chunkBits].Load()
	if c == nil {
		c = f.fill(code >> chunkBits)
	}
	i := code & (chunkSize - 1)
	return c.text[c.starts[i]:c.starts[i+1]]
}

// resolve sets a lane to the texts of codes, and tells their length together.
func (f *fragments) resolve(l *lane, codes []uint32) int {
	last, k := codes[0], 1
	for k < len(codes) && codes[k] == last {
		k++
	}
	text := f.at(last)
	if k == len(codes) {
		l.same = text
		return k * len(text)
	}
	texts := l.texts[:len(codes)]
	for i := range k {
		texts[i] = text
	}
	size := k * len(text)
	for ; k < len(codes); k++ {
		if code := codes[k]; code != last {
			last = code
			c := f.chunks[code>>chunkBits].Load()
			if c == nil {
				c = f.fill(code >> chunkBits)
			}
			i := code & (chunkSize - 1)
			text = c.text[c.starts[i]:c.starts[i+1]]
		}
		texts[k] = text
		size += len(text)
	}
	return size
}

// cuts are the starts of a code's fields within its text.
func (f *fragments) cuts(code uint32) []uint32 {
	c := f.chunks[code>>chunkBits].Load()
	if c == nil {
		c = f.fill(code >> chunkBits)
	}
	i := int(code & (chunkSize - 1))
	return c.cuts[i*f.fields : (i+1)*f.fields]
}

// firstAlike sets codes to the first ones with the same texts, of codes whose texts were resolved.
func (f *fragments) firstAlike(dst, codes []uint32) []uint32 {
	dst = dst[:len(codes)]
	last, first := codes[0], f.firstOf(codes[0])
	for k, code := range codes {
		if code != last {
			last, first = code, f.firstOf(code)
		}
		dst[k] = first
	}
	return dst
}

func (f *fragments) firstOf(code uint32) uint32 {
	return f.chunks[code>>chunkBits].Load().first[code&(chunkSize-1)]
}

// fill builds a chunk. Goroutines that meet here build the same, and the first one's stays.
func (f *fragments) fill(number uint32) *chunk {
	c := &chunk{}
	first := number << chunkBits
	last := min(first+chunkSize, uint32(f.n))
	c.cuts = make([]uint32, 0, int(last-first)*f.fields)
	for code := first; code < last; code++ {
		c.text, c.cuts = f.appendFragment(c.text, c.cuts, code)
		c.starts[code-first+1] = uint32(len(c.text))
	}
	for i := last - first; i < chunkSize; i++ {
		c.starts[i+1] = c.starts[i]
	}
	c.text = append(make([]byte, 0, len(c.text)+overshoot), c.text...)
	if f.alike != nil {
		c.first = make([]uint32, chunkSize)
		for code := first; code < last; code++ {
			i := code - first
			c.first[i] = f.alike.of(c.text[c.starts[i]:c.starts[i+1]], code)
		}
	}
	if !f.chunks[number].CompareAndSwap(nil, c) {
		c = f.chunks[number].Load()
	}
	return c
}
