package render

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// fragments are the rendered texts of one piece, one for each code: of a tuple of a group, or of a
// value of a coded column, with the key names and separators around the values. They are built when
// first used, 128 at a time: opening a snapshot does not wait for them, and tuples that nobody
// requests take no memory.
type fragments struct {
	n      int
	fields int
	chunks []atomic.Pointer[chunk]

	// same is set if many codes may have the same text. The encoder then sees the first of them.
	same *sameTexts

	// appendFragment appends the text of a code, and the positions within the text at which its
	// fields start.
	appendFragment func(dst []byte, cuts []uint32, code uint32) ([]byte, []uint32)
}

const (
	chunkBits = 7
	chunkSize = 1 << chunkBits
)

// chunk is the text of up to 128 codes.
type chunk struct {
	text   []byte   // with overshoot bytes of memory after it
	cuts   []uint32 // starts of the fields of each code
	first  []uint32 // of each code, the first code with the same text; nil unless fragments.same is set
	starts [chunkSize + 1]uint32
}

// sameTexts finds codes that have the same text.
type sameTexts struct {
	mu    sync.Mutex
	first map[string]uint32 // code by text
}

// maxSameTexts bounds the texts that are remembered. Codes of other texts are their own first
// codes.
const maxSameTexts = 1 << 12

// of returns the first code that came with a text.
func (a *sameTexts) of(text []byte, code uint32) uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok := a.first[string(text)]; ok {
		return first
	}
	if len(a.first) < maxSameTexts {
		a.first[string(text)] = code
	}
	return code
}

func newFragments(n, fields int,
	appendFragment func(dst []byte, cuts []uint32, code uint32) ([]byte, []uint32),
) *fragments {
	return &fragments{
		n: n, fields: fields, appendFragment: appendFragment,
		chunks: make([]atomic.Pointer[chunk], (n+chunkSize-1)>>chunkBits),
	}
}

// bytes is the memory of the chunks that have been made.
func (f *fragments) bytes() int64 {
	var n int64
	if f != nil {
		for i := range f.chunks {
			if c := f.chunks[i].Load(); c != nil {
				n += int64(unsafe.Sizeof(*c)) + int64(cap(c.text)) + 4*int64(cap(c.cuts)+cap(c.first))
			}
		}
	}
	return n
}

// at returns the text of a code. The text never changes.
func (f *fragments) at(code uint32) []byte {
	c := f.chunks[code>>chunkBits].Load()
	if c == nil {
		c = f.fill(code >> chunkBits)
	}
	i := code & (chunkSize - 1)
	return c.text[c.starts[i]:c.starts[i+1]]
}

// lookUp sets a lane to the texts of codes and returns their total length.
func (f *fragments) lookUp(l *lane, codes []uint32) int {
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

// cuts returns the starts of a code's fields within its text.
func (f *fragments) cuts(code uint32) []uint32 {
	c := f.chunks[code>>chunkBits].Load()
	if c == nil {
		c = f.fill(code >> chunkBits)
	}
	i := int(code & (chunkSize - 1))
	return c.cuts[i*f.fields : (i+1)*f.fields]
}

// firstSame sets dst to the first codes with the same texts as codes, whose texts must have been
// looked up.
func (f *fragments) firstSame(dst, codes []uint32) []uint32 {
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
	c := f.chunks[code>>chunkBits].Load()
	if c == nil { // given up since the text was looked up
		c = f.fill(code >> chunkBits)
	}
	return c.first[code&(chunkSize-1)]
}

// forget gives up all chunks. They are made again when they are needed, with the same contents.
func (f *fragments) forget() {
	for i := range f.chunks {
		f.chunks[i].Store(nil)
	}
}

// fillBuffers are where the texts of chunks are made, before their lengths are known.
var fillBuffers = sync.Pool{New: func() any { return new([]byte) }}

// fill builds a chunk. If several goroutines build the same chunk, the first one's is kept.
func (f *fragments) fill(number uint32) *chunk {
	c := &chunk{}
	first := number << chunkBits
	last := min(first+chunkSize, uint32(f.n))
	c.cuts = make([]uint32, 0, int(last-first)*f.fields)
	buffer := fillBuffers.Get().(*[]byte)
	text := (*buffer)[:0]
	for code := first; code < last; code++ {
		text, c.cuts = f.appendFragment(text, c.cuts, code)
		c.starts[code-first+1] = uint32(len(text))
	}
	for i := last - first; i < chunkSize; i++ {
		c.starts[i+1] = c.starts[i]
	}
	c.text = append(make([]byte, 0, len(text)+overshoot), text...)
	*buffer = text
	fillBuffers.Put(buffer)
	if f.same != nil {
		c.first = make([]uint32, chunkSize)
		for code := first; code < last; code++ {
			i := code - first
			c.first[i] = f.same.of(c.text[c.starts[i]:c.starts[i+1]], code)
		}
	}
	if !f.chunks[number].CompareAndSwap(nil, c) {
		if other := f.chunks[number].Load(); other != nil {
			return other
		}
	}
	return c
}
