package testkit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"os/exec"
	"testing"
)

// ForeignDecoders is a Python program that decodes bodies with zlib and libzstd, and compares them
// with the plain ones.
type ForeignDecoders struct {
	t            *testing.T
	cmd          *exec.Cmd
	said, faults bytes.Buffer
	in           *bufio.Writer
	end          func() error // of the input
}

// StartForeignDecoders starts the program, which is api/encode/testdata/decode.py.
func StartForeignDecoders(t *testing.T, script string) *ForeignDecoders {
	t.Helper()
	d := &ForeignDecoders{t: t, cmd: exec.CommandContext(t.Context(), Program(t, "python3", "python3"), script)}
	d.cmd.Stdout, d.cmd.Stderr = &d.said, &d.faults
	pipe, err := d.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.in, d.end = bufio.NewWriterSize(pipe, 1<<20), pipe.Close
	return d
}

// Send sends a body in a coding: 'g' for gzip or 'z' for zstd.
func (d *ForeignDecoders) Send(coding byte, coded, plain []byte) {
	d.t.Helper()
	head := binary.LittleEndian.AppendUint32([]byte{coding}, uint32(len(coded)))
	for _, part := range [][]byte{binary.LittleEndian.AppendUint32(head, uint32(len(plain))), coded, plain} {
		if _, err := d.in.Write(part); err != nil {
			_ = d.cmd.Wait()
			d.t.Fatalf("%v; the decoders said: %s", err, d.faults.String())
		}
	}
}

// End returns what the program printed: how many bodies of each coding it decoded.
func (d *ForeignDecoders) End() string {
	d.t.Helper()
	if err := d.in.Flush(); err != nil {
		d.t.Fatal(err)
	}
	if err := d.end(); err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Wait(); d.cmd.ProcessState.ExitCode() == 3 {
		d.t.Skip("libzstd is not installed (Debian package libzstd1)")
	} else if err != nil {
		d.t.Fatalf("%v: %s", err, d.faults.String())
	}
	return d.said.String()
}
