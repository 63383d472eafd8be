package render

import "golang.org/x/sys/cpu"

// hasAVX2 says whether copyRowsAVX2 can be called.
var hasAVX2 = cpu.X86.HasAVX2

// copyRowsAVX2 does what copyRows does, with n lanes of at least one row. It moves 64 bytes at a
// time, so it may write 64 bytes after the last text, and read as many after each.
//
//go:noescape
func copyRowsAVX2(to *byte, lanes *joinedLane, n, rows int) (end *byte)
