package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// printable is where commands print: control characters become \u escapes, but for line ends and
// tabs. Text of a catalog or store may be in everything that is printed, and a terminal must not
// act on it. In JSON such an escape is the same text.
type printable struct{ io.Writer }

// Write implements io.Writer.
func (p printable) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.Writer, escape(string(b), "\n\t")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escape returns a text with escapes in place of control characters that are not in keep, and of
// those that turn the direction of what follows.
func escape(text, keep string) string {
	var out strings.Builder
	for _, r := range text {
		turns := r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
		if (turns || unicode.IsControl(r)) && !strings.ContainsRune(keep, r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// exact returns what is behind a printable: data is printed byte for byte, and a terminal is one.
func exact(w io.Writer) io.Writer {
	if p, ok := w.(printable); ok {
		return p.Writer
	}
	return w
}
