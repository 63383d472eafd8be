package encode

import (
	"bytes"
	"encoding/binary"
)

// A body in dcz (RFC 9842, section 5) is the digest of a dictionary in a skippable frame, then a
// zstd frame that may refer to the dictionary as if it stood before the body:
//
//	magic 8 · SHA-256 of the dictionary 32 · magic 4 · descriptor 0xa0: content size of 4 bytes,
//	the window is the whole body · content size 4 · blocks · empty block 3
const (
	dczMagic       = "\x5e\x2a\x4d\x18\x20\x00\x00\x00"
	dczDescriptor  = 0xa0
	dczFrame       = len(dczMagic) + DigestLength // start of the zstd frame
	dczContentSize = dczFrame + 4 + 1

	// DigestLength is the length of a dictionary's digest.
	DigestLength = 32

	// maxFarDistance bounds the bytes of a dictionary and a body together.
	maxFarDistance = 1<<25 - 4

	// maxFarContent is the most text of a block, and so of a match, as the format has it. At most
	// maxFarLiterals of it are literals: sequences never take more bytes than the text that they
	// stand for, so the block is not longer either.
	maxFarContent  = 128 << 10
	maxFarLiterals = 96 << 10

	// Clients accept a window of leastWindow, or of 1.25 times the dictionary if that is more. The
	// dictionary is out of reach once the window is full.
	leastWindow = 8 << 20
)

// A match at the distance of the last one takes about two bytes, one at another distance five.
const (
	nearMatch = 4
	farMatch  = 10
)

// Delta writes a body in dcz whose dictionary is another body. The caller knows most of what both
// have in common, so nothing is searched for. Its memory is reused.
type Delta struct {
	zstdFrame
	known int // length of the dictionary
	at    int // length of the body so far

	// The current match, which ends at the end of the body.
	length, distance int
}

// Begin begins a body that is appended to dst. Its dictionary has this digest and length.
func (d *Delta) Begin(dst []byte, digest *[DigestLength]byte, length int) {
	d.began = len(dst)
	dst = append(append(append(dst, dczMagic...), digest[:]...), zstdMagic...)
	d.bits = bitWriter{out: append(dst, dczDescriptor, 0, 0, 0, 0)}
	d.tables.far = true
	d.known, d.at, d.length, d.distance = length, 0, 0, 0
	d.forget()
}

// Copy adds the n bytes of the dictionary from a position on.
func (d *Delta) Copy(n, from int) {
	if n == 0 {
		return
	}
	if distance := d.known + d.at - from; distance != d.distance {
		d.settle()
		d.distance = distance
	}
	d.length += n
	d.at += n
}

// Text adds a text that is new.
func (d *Delta) Text(text []byte) {
	d.settle()
	d.at += len(text)
	for len(text) > 0 {
		inBlock := len(d.literals)
		if n := len(d.blocks); n > 0 {
			inBlock -= d.blocks[n-1].literals
		}
		n := min(len(text), maxFarContent-d.content, maxLength-(len(d.literals)-d.matched), maxFarLiterals-inBlock)
		if n == 0 {
			d.nextBlock()
			continue
		}
		d.literals = append(d.literals, text[:n]...)
		d.content += n
		text = text[n:]
	}
}

// Similar is a text of the dictionary, with its position.
type Similar struct {
	Text []byte
	At   int
}

// Edit adds a text that is similar to one of some texts of the dictionary: lists of values
// separated by commas, in the same order. Each value is compared with the old one.
func (d *Delta) Edit(text []byte, olds ...Similar) {
	best, least := 0, len(text)+1
	for i := range olds {
		if len(olds) > 1 {
			if n := countNew(text, olds[i].Text); n < least {
				best, least = i, n
			}
		}
	}
	old, from := olds[best].Text, olds[best].At
	for len(text) > 0 {
		same, least := samePrefix(text, old), farMatch
		if d.known+d.at-from == d.distance {
			least = nearMatch
		}
		if same >= least {
			d.Copy(same, from)
			text, old, from = text[same:], old[same:], from+same
			continue
		}
		n, skip := nextSame(text, old, same)
		d.Text(text[:n])
		text, old, from = text[n:], old[skip:], from+skip
	}
}

// countNew returns about how many bytes of a text an edit of an old text would have to write.
func countNew(text, old []byte) (count int) {
	for len(text) > 0 {
		same := samePrefix(text, old)
		text, old = text[same:], old[same:]
		n, skip := nextSame(text, old, 0)
		text, old = text[n:], old[skip:]
		count += n
	}
	return count
}

// nextSame returns how many bytes of two texts are to be passed over until they may be the same
// again: those up to the end of the value that contains position at, where they differ, or to what
// both values end with.
func nextSame(text, old []byte, at int) (n, skip int) {
	n, skip = valueEnd(text, at), valueEnd(old, at)
	if same := sameSuffix(text[at:n], old[at:skip]); same >= nearMatch {
		n, skip = n-same, skip-same
	}
	if n == 0 && skip == 0 { // there is no more of the old text
		n = len(text)
	}
	return n, skip
}

// valueEnd returns where the value that contains position at of a text ends.
func valueEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], ','); n >= 0 {
		return at + n
	}
	return len(text)
}

// settle gathers the current match, in parts that fill blocks.
func (d *Delta) settle() {
	for d.length > 0 {
		n := min(d.length, maxFarContent-d.content)
		if rest := d.length - n; rest > 0 && rest < minMatch {
			n -= minMatch
		}
		if n < minMatch && n < d.length {
			d.nextBlock()
			continue
		}
		d.match(n, uint32(d.distance))
		d.length -= n
	}
}

// End completes the body. ok is false if clients could not decode it, or it is no shorter than its
// text; then it must not be sent.
func (d *Delta) End() (body []byte, ok bool) {
	d.settle()
	d.endBlock()
	d.write(true)
	out := append(d.bits.out, zstdEnd...)
	d.bits.out = nil
	binary.LittleEndian.PutUint32(out[d.began+dczContentSize:], uint32(d.at))
	ok = d.known+d.at <= maxFarDistance && d.at <= max(leastWindow, d.known/4*5) && len(out)-d.began < d.at
	return out, ok
}
