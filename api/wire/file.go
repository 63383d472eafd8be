package wire

import (
	"errors"
	"io"
	"os"
)

// filePart is how much of a file is sent at a time.
const filePart = 1 << 20

// FileBody is a body that is a part of a file. Any number of bodies may share one open file. On
// Linux the kernel sends the bytes from its cache of files: they are never in the memory of the
// process.
type FileBody struct {
	File     *os.File
	From, To int64
	Pace     Pace
	Changed  func() bool // may be nil; asked before each part, and true cuts the body off
}

var errChanged = errors.New("wire: the file was written to while it was sent")

// WrittenBody is embedded in bodies that fasthttp only ever writes, with their WriteTo.
type WrittenBody struct{}

// SupportsBodyWriteTo implements fasthttp.BodyWriterTo.
func (WrittenBody) SupportsBodyWriteTo() bool { return true }

// Read implements io.Reader, which bodies must be.
func (WrittenBody) Read([]byte) (int, error) { return 0, errOnlyWritten }

var errOnlyWritten = errors.New("wire: the body of an answer can only be written")

// WriteTo sends what is left of the body.
func (b *FileBody) WriteTo(w io.Writer) (total int64, err error) {
	for b.From < b.To {
		if b.Changed != nil && b.Changed() {
			return total, errChanged
		}
		part := min(b.To-b.From, filePart)
		n, err := b.Pace.Write(func() (int64, error) {
			return io.Copy(w, &io.LimitedReader{R: &fileReader{b.File, b.From}, N: part})
		})
		b.From += n
		total += n
		if err == nil && n < part {
			err = io.ErrUnexpectedEOF // the file was cut
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Close implements io.Closer: the file belongs to others.
func (b *FileBody) Close() error { return nil }

// fileReader reads a file from a separate offset. A file that is opened again has one too, but
// takes a descriptor, and slow clients could then take all that the process may have.
type fileReader struct {
	file *os.File
	at   int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.file.ReadAt(p, r.at)
	r.at += int64(n)
	return n, err
}

// ReadFrom sends what a reader has: a part of a file without copying it, if the system can.
// fasthttp passes a reader on to the connection unchanged only through this.
func (c *conn) ReadFrom(r io.Reader) (n int64, err error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if file, ok := limited.R.(*fileReader); ok {
			n, err = sendFile(c.Conn, file, limited.N)
			if limited.N -= n; err != nil || limited.N == 0 {
				return n, err
			}
		}
	}
	copied, err := io.Copy(c.Conn, r)
	return n + copied, err
}
