package encode

import (
	"bytes"
	"math/rand/v2"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A block may name one of the last three distances by its rank instead of its value. At the start of a frame they are 1, 4 and 8, and an
// encoder that starts a frame may count on it, while a part of a body has whatever stands in front. klauspost's encoder looks for them
// only after three sequences, but nothing promises that, so each part is decoded behind a foreign block: one that leaves three
// distances behind which lead out of the part into random bytes.
type prover struct {
	mu       sync.Mutex
	foreigns [3]*foreign
	decoders sync.Pool
}

// foreign is the beginning of a frame.
type foreign struct {
	frame []byte
	text  []byte
}

// foreignSizes are the lengths that the distances exceed.
var foreignSizes = [3]int{48 << 10, 192 << 10, maxWindow / 2}

var provers prover

type proof struct {
	d     *zstd.Decoder
	frame []byte
	text  []byte
}

// prove tells whether blocks, behind dict and behind anything else, are text.
func (v *prover) prove(blocks, dict, text []byte) bool {
	f := v.foreign(len(dict) + len(text))
	if f == nil {
		return false
	}
	p, ok := v.decoders.Get().(*proof)
	if !ok {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			panic(err) // the options are constants
		}
		p = &proof{d: d}
	}
	p.frame = append(p.frame[:0], f.frame...)
	p.frame = appendRaw(p.frame, dict)
	p.frame = append(append(p.frame, blocks...), zstdEnd...)
	var err error
	p.text, err = p.d.DecodeAll(p.frame, p.text[:0])
	right := err == nil && len(p.text) == len(f.text)+len(dict)+len(text) && bytes.Equal(p.text[len(f.text)+len(dict):], text)
	v.decoders.Put(p)
	return right
}

// foreign is the smallest that parts of n bytes can be proved with, nil if there is none.
func (v *prover) foreign(n int) *foreign {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, size := range foreignSizes {
		if n <= size {
			if v.foreigns[i] == nil {
				v.foreigns[i] = newForeign(size)
			}
			return v.foreigns[i]
		}
	}
	return nil
}

// newForeign is random bytes, of which three stretches then come again, each from more than size bytes back.
func newForeign(size int) *foreign {
	const copied = 512
	r := rand.New(rand.NewPCG(uint64(size), 1))
	text := make([]byte, size+8*copied)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	var again []byte
	for i, between := range []int{2 * copied, copied, 0} {
		again = append(again, byte(i))
		again = append(again, text[between:between+copied]...)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(maxWindow), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderDictRaw(1, text))
	if err != nil {
		panic(err) // the options are constants
	}
	frame := appendZstdHeader(nil, 0)[:zstdHeader-4]
	frame[4] = 0 // no content size
	frame = appendRaw(frame, text)
	frame = appendBlocks(frame, e.EncodeAll(again, nil))
	return &foreign{frame: frame, text: append(text, again...)}
}
