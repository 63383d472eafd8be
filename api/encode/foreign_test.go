//go:build !race

package encode

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"hdqs/internal/testkit"
)

// TestForeignDecoders gives random bodies of random tables, in each coding, to zlib and libzstd,
// which Python calls (testdata/decode.py).
func TestForeignDecoders(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	bodies := testkit.Trials(100_000, 500)
	var said, faults bytes.Buffer
	decoder := exec.CommandContext(t.Context(), testkit.Program(t, "python3", "python3"), "testdata/decode.py")
	decoder.Stdout, decoder.Stderr = &said, &faults
	pipe, err := decoder.StdinPipe()
	if err == nil {
		err = decoder.Start()
	}
	testkit.Must(t, err)
	in := bufio.NewWriterSize(pipe, 1<<20)
	send := func(coding byte, coded, plain []byte) { // an error of one write is that of the last flush
		head := binary.LittleEndian.AppendUint32([]byte{coding}, uint32(len(coded)))
		_, _ = in.Write(binary.LittleEndian.AppendUint32(head, uint32(len(plain))))
		_, _ = in.Write(coded)
		_, _ = in.Write(plain)
	}
	var plain, coded []byte
	for sent := 0; sent < bodies; {
		n := r.IntN(1 + r.IntN(1000))
		rows := newFakeRows(r, n, r.IntN(20) == 0)
		table := NewTable(rows, Options{Tier: Tier(r.IntN(2))}) // stored or pieces
		if r.IntN(2) == 0 {
			alwaysCopy(table)
		}
		for range min(100, bodies-sent) {
			runs := randomRuns(r, n)
			plain = appendBody(plain[:0], rows, Frame{rows.Head(), rows.Tail()}, runs)
			coded = table.AppendGzip(coded[:0], append([]Run(nil), runs...))
			send('g', coded, plain)
			coded = table.AppendZstd(coded[:0], runs)
			send('z', coded, plain)
			sent++
		}
	}
	err = errors.Join(in.Flush(), pipe.Close(), decoder.Wait())
	if decoder.ProcessState.ExitCode() == 3 {
		t.Skip("libzstd is not installed (Debian package libzstd1)")
	}
	if want := fmt.Sprintln(bodies, bodies); err != nil || said.String() != want {
		t.Errorf("decoded %s, want %s: %v %s", said.String(), want, err, faults.String())
	}
}
