package encode

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"hdqs/internal/testkit"
)

// gunzip decodes one member with the standard library and fails if data follows it, which clients
// that read one member would lose.
func gunzip(t testing.TB, b []byte) []byte {
	t.Helper()
	in := bytes.NewReader(b)
	r, err := stdgzip.NewReader(in)
	testkit.Must(t, err)
	r.Multistream(false)
	plain, err := io.ReadAll(r)
	testkit.Must(t, err)
	if in.Len() != 0 {
		t.Fatalf("%d bytes after the first member", in.Len())
	}
	return plain
}

// unzstd decodes one frame and fails if data follows it.
func unzstd(t testing.TB, b []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderConcurrency(1))
	testkit.Must(t, err)
	defer d.Close()
	var h zstd.Header
	testkit.Must(t, h.Decode(b))
	if h.WindowSize > 8<<20 {
		t.Fatalf("window %d, want at most 8 MB", h.WindowSize)
	}
	plain, err := d.DecodeAll(b, nil)
	testkit.Must(t, err)
	if len(plain) >= 256 && (!h.HasFCS || h.FrameContentSize != uint64(len(plain))) {
		t.Fatalf("content size %d (known: %v), want %d", h.FrameContentSize, h.HasFCS, len(plain))
	}
	return plain
}

// records returns n records of JSON that repeat each other as rows do.
func records(r *rand.Rand, n int) []byte {
	b := []byte(`{"data":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"code":"C%03d","name":"Größe %d","count":%d,"flag":%v}`, i/97, i/97, r.IntN(5000),
			r.IntN(2) == 0)
	}
	return append(b, `]}`...)
}

func TestWholeRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	var all sync.WaitGroup
	bodies := [][]byte{nil, []byte("x"), records(r, 1), records(r, 300), noise}
	for range 4 { // the encoders are shared
		all.Go(func() {
			for _, body := range bodies {
				checkWhole(t, body)
			}
		})
	}
	all.Wait()
}

// checkWhole compares a body with what is decoded from it.
func checkWhole(t *testing.T, body []byte) {
	t.Helper()
	front := []byte("front")
	z := AppendGzip(front, body)
	if !bytes.HasPrefix(z, front) || !bytes.Equal(gunzip(t, z[len(front):]), body) {
		t.Errorf("gzip of %d bytes differs", len(body))
	}
	z = AppendZstd(front, body)
	if !bytes.HasPrefix(z, front) || !bytes.Equal(unzstd(t, z[len(front):]), body) {
		t.Errorf("zstd of %d bytes differs", len(body))
	}
}
