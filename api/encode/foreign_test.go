//go:build !race

package encode

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"

	"hdqs/internal/testkit"
)

// TestForeignDecoders gives random bodies of random tables, in each coding, to zlib and libzstd,
// which Python calls (testdata/decode.py), and random bodies with dictionaries.
func TestForeignDecoders(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	bodies := testkit.Trials(100_000, 500)
	cmd := exec.CommandContext(t.Context(), testkit.Program(t, "python3", "python3"), "testdata/decode.py")
	var said, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &faults
	pipe, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewWriterSize(pipe, 1<<20)
	send := func(coding byte, coded, plain []byte) {
		head := binary.LittleEndian.AppendUint32([]byte{coding}, uint32(len(coded)))
		for _, part := range [][]byte{binary.LittleEndian.AppendUint32(head, uint32(len(plain))), coded, plain} {
			if _, err := in.Write(part); err != nil {
				_ = cmd.Wait()
				t.Fatalf("%v; the decoders said: %s", err, faults.String())
			}
		}
	}
	var plain, coded []byte
	var d Delta
	deltas := 0
	for sent := 0; sent < bodies; {
		n := r.IntN(1 + r.IntN(1000))
		rows := newFakeRows(r, n, r.IntN(20) == 0)
		table := NewTable(rows, Options{Tier: Tier(r.IntN(2))}) // stored or pieces
		for range min(100, bodies-sent) {
			runs := randomRuns(r, n)
			plain = appendBody(plain[:0], rows, runs)
			coded = table.AppendGzip(coded[:0], append([]Run(nil), runs...))
			send('g', coded, plain)
			coded = table.AppendZstd(coded[:0], runs)
			send('z', coded, plain)
			sent++
			if body, dictionary, want, ok := randomDelta(r, &d, coded[:0], 16); ok {
				send('D', dictionary, nil)
				send('d', body, want)
				deltas++
			}
		}
	}
	if err := in.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() == 3 {
		t.Skip("libzstd is not installed (Debian package libzstd1)")
	} else if err != nil {
		t.Fatalf("%v: %s", err, faults.String())
	}
	if got, want := said.String(), fmt.Sprintln(bodies, bodies, deltas); got != want {
		t.Errorf("decoded %s, want %s", got, want)
	}
}
