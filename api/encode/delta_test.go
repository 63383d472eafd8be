//go:build !race

package encode

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// decodeDelta decodes a body in dcz as clients do: the digest must be that of the dictionary.
func decodeDelta(t *testing.T, body, dictionary []byte) []byte {
	t.Helper()
	digest := sha256.Sum256(dictionary)
	frame, ok := bytes.CutPrefix(body, append([]byte(dczMagic), digest[:]...))
	if !ok {
		t.Fatalf("the body begins with %x", body[:min(len(body), dczFrame)])
	}
	var header zstd.Header
	if err := header.Decode(frame); err != nil || !header.SingleSegment || header.DictionaryID != 0 {
		t.Fatalf("header of the frame: %+v, %v", header, err)
	}
	// A decoder skips the digest, which is a frame of its own.
	for _, part := range [][]byte{frame, body} {
		r, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(0, dictionary), zstd.WithDecoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := r.DecodeAll(part, nil)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == len(body) {
			return plain
		}
	}
	return nil
}

// TestDeltaAgainstPlain encodes random texts as copies, edits and new text of random dictionaries,
// and decodes them.
func TestDeltaAgainstPlain(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	bodies, whole := 400, 0
	if testing.Short() {
		bodies = 100
	}
	var d Delta
	for range bodies {
		prefix := randomList(r, r.IntN(50))
		body, dictionary, want, ok := randomDelta(r, &d, prefix, 21)
		if !bytes.HasPrefix(body, prefix) {
			t.Fatal("what stood before the body is lost")
		}
		if !ok {
			if len(body)-len(prefix) < len(want) {
				t.Fatalf("%d bytes for %d are refused", len(body), len(want))
			}
			continue
		}
		whole++
		if got := decodeDelta(t, body[len(prefix):], dictionary); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes decoded, want %d", len(got), len(want))
		}
	}
	if whole < bodies/2 {
		t.Errorf("only %d of %d bodies are shorter than their text", whole, bodies)
	}
}

// randomDelta appends a random text as copies, edits and new text of a random dictionary of less
// than 1<<size bytes.
func randomDelta(r *rand.Rand, d *Delta, dst []byte, size int) (body, dictionary, want []byte, ok bool) {
	dictionary = randomList(r, 1+r.IntN(1<<r.IntN(size)))
	digest := sha256.Sum256(dictionary)
	d.Begin(dst, &digest, len(dictionary))
	for range r.IntN(1 + r.IntN(500)) {
		from := r.IntN(len(dictionary))
		old := dictionary[from:]
		switch r.IntN(8) {
		case 0:
			text := randomList(r, 1+r.IntN(1<<r.IntN(size-5)))
			d.Text(text)
			want = append(want, text...)
		case 1, 2, 3:
			old = old[:r.IntN(min(len(old), 500)+1)]
			text := edited(r, old)
			d.Edit(text, Similar{old, from}, Similar{dictionary[from/2:][:len(old)], from / 2})
			want = append(want, text...)
		default:
			if n := r.IntN(len(old) + 1); n >= farMatch {
				d.Copy(n, from)
				want = append(want, old[:n]...)
			}
		}
		if len(want) > 6<<20 {
			break
		}
	}
	body, ok = d.End()
	return body, dictionary, want, ok
}

// randomList returns text with values and commas, and now and then bytes of all kinds.
func randomList(r *rand.Rand, n int) []byte {
	var text []byte
	for len(text) < n {
		switch r.IntN(300) {
		case 0:
			text = append(text, byte(r.Uint32()))
		case 1:
			text = append(text, bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(1<<r.IntN(15)))...)
		default:
			text = fmt.Appendf(text, `"key%d":%d,`, r.IntN(5), r.IntN(1<<r.IntN(20)))
		}
	}
	return text[:n]
}

// edited returns a text in which some bytes were replaced, added or removed.
func edited(r *rand.Rand, text []byte) []byte {
	text = bytes.Clone(text)
	for range r.IntN(5) {
		if at := r.IntN(len(text) + 1); at < len(text) {
			text = append(text[:at:at], append(randomList(r, r.IntN(4)), text[at+r.IntN(2):]...)...)
		}
	}
	return text
}

// TestDeltaLimits checks that a body is refused if it or its distances are out of reach of
// decoders: a window of 8 MiB, or of 1.25 times the dictionary.
func TestDeltaLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dictionary, copies int
		ok                 bool
	}{
		{4 << 20, 2, true},
		{4<<20 + 1, 2, false},
		{12 << 20, 1, true},
		{8 << 20, 2, false},
		{16<<20 - 2, 1, true},
		{16<<20 - 1, 1, false},
	} {
		var d Delta
		dictionary := bytes.Repeat([]byte("0123456,"), c.dictionary/8+1)[:c.dictionary]
		digest := sha256.Sum256(dictionary)
		d.Begin(nil, &digest, len(dictionary))
		for range c.copies {
			d.Copy(len(dictionary), 0)
		}
		body, ok := d.End()
		if ok != c.ok {
			t.Errorf("%d copies of %d bytes: %v, want %v", c.copies, c.dictionary, ok, c.ok)
		}
		if ok && !bytes.Equal(decodeDelta(t, body, dictionary), bytes.Repeat(dictionary, c.copies)) {
			t.Errorf("%d copies of %d bytes are decoded as something else", c.copies, c.dictionary)
		}
	}
}
