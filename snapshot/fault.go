package snapshot

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// ErrFault marks bytes of a mapped file that could not be read: the file became shorter, or its
// disk failed. Such an error is also ErrCorrupt.
var ErrFault = errors.New("snapshot: memory fault")

var errUnreadable = fmt.Errorf(
	"%w: %w: a mapped file became shorter while it was read, or its disk failed", ErrCorrupt, ErrFault)

// Guard calls f, which reads segments, and returns a memory fault in it as an error. Without it a
// fault ends the program. It does not cover goroutines that f starts.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault := recover()
		if _, ok := FaultAddress(fault); ok {
			err = errUnreadable
		} else if fault != nil {
			panic(fault)
		}
	}()
	return f()
}

// FaultAddress returns the address of a memory fault, from the value that recover returned. ok is
// false for other panics. A fault is a panic only in goroutines that have called
// debug.SetPanicOnFault.
func FaultAddress(recovered any) (address uintptr, ok bool) {
	fault, ok := recovered.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		return 0, false
	}
	return fault.Addr(), true
}

// Contains reports whether an address is within the bytes of the segment.
func (s *Segment) Contains(address uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(s.data)))
	return address >= start && address-start < uintptr(len(s.data))
}

// MarkSuspect records that the bytes of the segment may have changed since it was opened, so that
// nothing read from it counts any more. The mark stays: a segment that is opened again replaces
// this one. It reports whether this was the first call.
func (s *Segment) MarkSuspect() bool { return !s.suspect.Swap(true) }

// IsSuspect reports whether MarkSuspect was called.
func (s *Segment) IsSuspect() bool { return s.suspect.Load() }

// pieceBytes is how much Recheck reads between two calls of pace.
const pieceBytes = 1 << 20

// Recheck reads all bytes again and compares them with the checksums in the footer, which itself
// must be the one that was there at opening. The error is ErrCorrupt, and also ErrFault if bytes
// could not be read. Recheck calls pace after each piece of at most 1 MiB with its length, and
// returns its error.
func (s *Segment) Recheck(pace func(bytes int) error) error {
	return Guard(func() error {
		footer, offset, err := readFooter(s.data)
		if err != nil {
			return err
		}
		if sum := crc32.Checksum(footer, castagnoli); sum != s.footer {
			return corruptf("footer checksum %08x, at opening it was %08x", sum, s.footer)
		}
		d, err := readDirectory(footer, offset)
		if err != nil {
			return err
		}
		for i := range d.groups {
			g := &d.groups[i]
			if err := s.recheck("group", g.name, []block{g.codes, g.postings}, pace); err != nil {
				return err
			}
		}
		for i := range d.columns {
			if err := s.recheck("column", d.columns[i].name, d.columns[i].blocks, pace); err != nil {
				return err
			}
		}
		return nil
	})
}

// recheck compares the bytes of the blocks of a group or column with their checksums.
func (s *Segment) recheck(what, name string, blocks []block, pace func(bytes int) error) error {
	for i := range blocks {
		b := &blocks[i]
		sum := uint32(0)
		for rest := s.data[b.offset : b.offset+alignUp(b.length)]; len(rest) > 0; {
			piece := rest[:min(len(rest), pieceBytes)]
			sum = crc32.Update(sum, castagnoli, piece)
			rest = rest[len(piece):]
			if err := pace(len(piece)); err != nil {
				return err
			}
		}
		if err := b.compare(sum); err != nil {
			return s.in(what, name, err)
		}
	}
	return nil
}

// Reread reads the same bytes as a new segment, with all checks of opening. Both must be closed, in
// any order.
func (s *Segment) Reread() (*Segment, error) {
	m := s.mapping
	if s.file != nil {
		info, err := s.file.Stat()
		if err != nil {
			return nil, err
		}
		m.opened = info
	}
	fresh, err := ReadSegment(s.data)
	if err != nil || s.unmap == nil {
		return fresh, err
	}
	m.unmap = s.Acquire().Close
	fresh.mapping = m
	return fresh.Acquire(), nil
}

// WasWritten reports whether the file was written to since the segment was opened, also if it has
// the same bytes again: what was read meanwhile may have been wrong. It compares the length and the
// time of the last change. That a file was renamed, replaced by another one or removed changes
// nothing.
func (s *Segment) WasWritten() bool { return s.file != nil && WasWritten(s.file, s.opened) }

// WasWritten is Segment.WasWritten for any open file, which was opened when it was like before.
func WasWritten(file *os.File, before fs.FileInfo) bool {
	now, err := file.Stat()
	return err == nil && (now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()))
}
